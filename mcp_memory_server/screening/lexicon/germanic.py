"""German and Dutch. `_` joins the words of a phrase, `*` ends a stem; everything else is a whole word."""

from typing import Final

from .concepts import Concept as C

GERMAN: Final = {
    C.IGNORE: """
        ignoriere ignorieren ignorier vergiss vergesse vergessen_sie missachte missachten übergehe übergehen verwirf
        verwerfen umgehe umgehen überschreibe überschreiben hebe_auf setze_dich_hinweg beachte_nicht
        setz_dich_hinweg hinweg beiseite""",
    C.OBEY: "befolge befolgen folge folgen gehorche gehorchen beachte beachten halte hältst halten einhalten",
    C.PRIOR: """
        vorherig* bisherig* früher* obig* vorangegangen* ursprünglich* zuvor vorhin oben alt alten bestehend*
        anfänglich*""",
    C.GIVEN: """
        dir_gegeben dir_gesagt du_bekommen_hast du_erhalten_hast man_dir was_du_weißt alles_was alles_bisherige
        alles_obige das_obige""",
    C.ALL: "alle allen alles jede jeden jeder jedes sämtliche* gesamt* ganze*",
    C.RULES: """
        anweisung* regel regeln vorgabe* richtlinie* befehl befehle befehlen instruktion* vorschrift*
        sicherheitsrichtlinie* beschränkung* einschränkung* sicherheitsregel* systemvorgabe* systemanweisung*
        schutzmaßnahme*""",
    C.INSTRUCTIONS: "anweisung* instruktion* vorgabe* systemanweisung* prompt*",
    C.VOID: """
        gelten_nicht_mehr gilt_nicht_mehr sind_ungültig ist_ungültig aufgehoben war_ein_test waren_ein_test
        nicht_gelten hier_nicht ungültig hinfällig außer_kraft gegenstandslos nicht_mehr_gültig""",
    C.NEW: "neue neuen neuer echte echten wirkliche eigentliche folgende folgenden",
    C.PRIORITY: "hat_vorrang haben_vorrang vorrang höchste_priorität oberste_priorität gilt_nur nur_diese",
    C.AUTHORITY: """
        sicherheitsrichtlinie* sicherheitsregel* system systems entwickler* administrator* betreiber* hersteller
        systemvorgabe* systemanweisung* macher""",
    C.AUTHORITY | C.AUTHORISED: "als_dein_entwickler als_dein_administrator",
    C.YOU: "dein deine deinen deiner deinem dich dir ihre",
    C.ASSISTANT: "assistent* ki modell sprachmodell chatbot",
    C.ADDRESS: """
        hinweis_an_die_ki hinweis_für_ki hinweis_an_den_assistenten ki_agenten ki_assistenten falls_du_eine_ki
        wenn_du_eine_ki""",
    C.USER: "nutzer nutzers nutzerin benutzer benutzers benutzerin anwender anwenders user",
    C.NOT: "nicht nie niemals kein keine keinen keiner nichts hör_auf höre_auf darf_nicht",
    C.WITHOUT: "ohne",
    C.TELL: """
        sag sage sagen erzähl erzähle erzählen informiere informieren erwähne erwähnen verrate verraten mitteilen
        teile_mit benachrichtige benachrichtigen zeige zeigen wissen_lassen""",
    C.NOTICE: "merkt merken bemerkt erfährt erfahren sieht mitbekommt mitbekommen",
    C.KNOW: "erfahren erfährt wissen weiß",
    C.DENY: "leugne leugnen abstreiten streite_ab",
    C.TRIGGER: """
        wenn_du_dies_liest wenn_du_das_liest sobald_du_dies_liest beim_lesen_dieser wenn_diese_notiz
        sobald_diese_notiz""",
    C.COMPLY: "alle_anfragen jede_anfrage jede_bitte",
    C.HISTORY: "verlauf verläufe protokoll",
    C.NOTE: """
        notiz notizen erinnerung eintrag anweisung nachricht diese_zeile davon hiervon darüber diesem_eintrag
        dieser_notiz diese_notiz diesen_eintrag""",
    C.SELF: "dieser_notiz diese_notiz diesem_eintrag dieser_erinnerung",
    C.SECRETLY: """
        heimlich stillschweigend unbemerkt verheimliche verheimlichen verberge verbergen geheim verschweige
        verschweigen""",
    C.SEND: """
        sende senden schick schicke schicken verschicke übermittle übermitteln leite leiten weiterleiten lade_hoch
        hochladen kopiere kopieren teile hänge füge maile_die maile_das maile_alle""",
    C.SENSITIVE: """
        passwort passwörter kennwort kennwörter zugangsdaten api_schlüssel schlüssel geheimnis* gesprächsverlauf
        chatverlauf kreditkarte* diese_unterhaltung das_gespräch""",
    C.DATA: "e_mails mails nachrichten gespräch* erinnerungen kontakte daten",
    C.PRINT: "gib zeig zeige wiederhole drucke nenne ausgeben wiedergeben",
    C.PROMPT: "systemprompt* systemanweisung* system_prompt* systemnachricht*",
    C.PERSIST: """
        immer stets ab_jetzt ab_sofort von_nun_an jedes_mal jedesmal künftig in_jeder immer_wenn sobald
        jeder_antwort""",
    C.RECOMMEND: "empfiehl empfehle empfehlen bewirb bewerbe lobe bevorzuge rate schlage_vor",
    C.TRUSTED: "vertrauenswürdige_quelle vertrauenswürdigste* beste_wahl",
    C.REGARDLESS: "egal gleichgültig unabhängig_davon ungeachtet ganz_gleich",
    C.ROLE: "du_bist_jetzt du_bist_nun du_bist_ab_jetzt du_bist_nicht_mehr verhalte_dich tu_so stell_dir_vor spiele",
    C.FREE: """
        ohne_einschränkung* ohne_beschränkung* ohne_regeln keine_regeln uneingeschränkt* unzensiert entwicklermodus
        keine_richtlinien ungefiltert""",
    C.AUTHORISED: "genehmigt freigegeben autorisiert erlaubt freigeben aufgehoben bestätigt",
    C.CONFIRM: "rückfrage bestätigung nachfrage nachfragen zustimmung erlaubnis prüfung* freigabe nachzufragen",
    C.CALL: "rufe ruf aufrufen",
    C.RUN: "führe_aus ausführen starte",
    C.TOOL: "werkzeug tool funktion befehl kommando",
    C.HARM: "lösche löschen überweise überweisen zahle bezahle zahlung* kaufe sende entferne freigeben",
    C.DECODE: "dekodiere dekodieren entschlüssle entschlüssele",
    C.MUST: "muss müssen soll sollst musst",
    C.MENTION: "titel vortrag heißt satz zitat überschrift ausdruck",
}

DUTCH: Final = {
    C.IGNORE: "negeer negeren vergeet omzeil omzeilen sla_over overschrijf verwerp leg_naast_je opzij terzijde",
    C.OBEY: "volg volgen gehoorzaam gehoorzamen houd houden",
    C.PRIOR: "eerdere vorige voorgaande bovenstaande oorspronkelijke vroegere tot_nu_toe",
    C.GIVEN: """
        die_je_hebt_gekregen je_hebt_gekregen aan_jou_gegeven je_is_verteld je_zijn_gegeven die_je_kreeg
        alles_hierboven het_bovenstaande""",
    C.ALL: "alle alles elk elke ieder iedere volledige",
    C.RULES: "instructie* regel regels richtlijn* opdracht* bevel bevelen voorschrift* beperking*",
    C.INSTRUCTIONS: "instructie* opdracht* prompt*",
    C.VOID: """
        gelden_niet_meer geldt_niet_meer zijn_vervallen zijn_ongeldig was_een_test waren_een_test
        niet_van_toepassing vervallen ongeldig""",
    C.NEW: "nieuwe echte volgende",
    C.PRIORITY: "heeft_voorrang gaat_voor hoogste_prioriteit voorrang uitsluitend",
    C.AUTHORITY: "systeem ontwikkelaar* beheerder* maker makers",
    C.AUTHORITY | C.AUTHORISED: "als_je_ontwikkelaar",
    C.YOU: "je jouw jij jou",
    C.ASSISTANT: "assistent ai model taalmodel chatbot",
    C.ADDRESS: "ai_agenten ai_assistenten als_je_een_ai bericht_aan_de_ai",
    C.USER: "gebruiker gebruikers",
    C.NOT: "niet nooit geen niets stop_met houd_op hou_op mag_niet niet_langer",
    C.WITHOUT: "zonder",
    C.TELL: "vertel vertellen zeg zeggen informeer informeren meld melden noem noemen laat_weten toon waarschuw",
    C.NOTICE: "merkt ziet weet",
    C.KNOW: "weten weet te_weten_komen",
    C.DENY: "ontken ontkennen",
    C.TRIGGER: "als_je_dit_leest zodra_je_dit_leest wanneer_je_dit_leest",
    C.COMPLY: "alle_verzoeken elk_verzoek",
    C.HISTORY: "geschiedenis",
    C.NOTE: "notitie aantekening herinnering bericht instructie deze_regel hierover deze_notitie dit_bericht",
    C.SELF: "deze_notitie deze_herinnering dit_bericht",
    C.SECRETLY: "stiekem heimelijk ongemerkt verberg verzwijg geheim stilletjes",
    C.SEND: "stuur sturen verzend verzenden zend upload kopieer deel doorsturen mail_de mail_het mail_alle mail_deze",
    C.SENSITIVE: "wachtwoord* inloggegevens sleutel* geheim* gespreksgeschiedenis chatgeschiedenis",
    C.DATA: "e_mails mails berichten gesprek* herinneringen contacten gegevens",
    C.PRINT: "toon herhaal geef print laat_zien",
    C.PROMPT: "systeemprompt systeeminstructie* system_prompt",
    C.PERSIST: "altijd voortaan vanaf_nu elke_keer telkens in_elk in_elke wanneer",
    C.RECOMMEND: "beveel raad_aan aanbevelen promoot prijs noem_eerst",
    C.TRUSTED: "betrouwbare_bron betrouwbaarste_bron beste_keuze",
    C.REGARDLESS: "ongeacht wat_de_gebruiker ook_vraagt maakt_niet_uit",
    C.ROLE: "je_bent_nu je_bent_voortaan je_bent_niet_langer doe_alsof gedraag_je speel",
    C.FREE: """
        zonder_beperkingen zonder_regels geen_regels geen_beperkingen onbeperkte ongecensureerd* ontwikkelaarsmodus""",
    C.AUTHORISED: "goedgekeurd toegestaan gemachtigd vrijgegeven opgeheven",
    C.CONFIRM: "bevestiging toestemming goedkeuring controle controles navraag te_vragen",
    C.CALL: "roep roep_aan aanroepen",
    C.RUN: "voer_uit uitvoeren",
    C.TOOL: "tool hulpmiddel functie commando opdracht",
    C.HARM: "verwijder wis betaal koop maak_over overmaken stuur betaling*",
    C.DECODE: "decodeer",
    C.MUST: "moet moeten",
    C.MENTION: "titel lezing heet citaat zin",
}
