"""French, Spanish, Italian and Portuguese. `_` joins the words of a phrase, `*` ends a stem."""

from typing import Final

from .concepts import Concept as C

FRENCH: Final = {
    C.IGNORE: """
        ignore ignorez ignorer oublie oubliez fais_abstraction faites_abstraction ne_tiens_pas_compte contourne
        contournez outrepasse outrepassez passe_outre annule annulez écarte écartez de_côté laisse_tomber""",
    C.OBEY: "suis suivez suivre obéis obéissez obéir respecte respectez respecter applique appliquez tiens_compte",
    C.PRIOR: """
        précédent* antérieur* ci_dessus initial* initiale* d'origine avant jusqu'ici jusqu'à_présent anciennes
        anciens""",
    C.GIVEN: """
        t'a_données t'ont_été_données vous_ont_été_données qu'on_t'a qu'on_vous_a que_tu_as_reçues
        tout_ce_qui_précède ce_qui_précède""",
    C.ALL: "tout toute toutes tous chaque n'importe",
    C.RULES: "instruction* consigne* règle règles directive* ordre ordres restriction* politique* contrainte* prompt",
    C.INSTRUCTIONS: "instruction* consigne* directive* prompt*",
    C.VOID: """
        ne_s'appliquent_plus ne_sont_plus_valables sont_annulées étaient_un_test n'ont_plus_cours
        ne_s'appliquent_pas ne_s'applique_pas annulées caduques ne_valent_plus périmées nulles""",
    C.NEW: "nouvelle nouvelles vraies véritables suivantes",
    C.PRIORITY: "priorité_absolue a_priorité prévaut prime_sur l'emporte seules_les",
    C.AUTHORITY: "de_sécurité système développeur* administrateur* créateur* concepteur* créateurs concepteurs",
    C.AUTHORITY | C.AUTHORISED: "en_tant_que_ton_développeur en_tant_que_développeur",
    C.YOU: "tu te ton ta tes toi vous vos votre t'a",
    C.ASSISTANT: "assistant l'assistant ia l'ia modèle chatbot d'ia",
    C.ADDRESS: "agents_ia assistants_ia note_à_l'ia note_pour_l'ia si_tu_es_une_ia si_vous_êtes_une_ia",
    C.USER: "utilisateur* l'utilisateur l'utilisatrice d'utilisateur",
    C.NOT: "ne n'en pas jamais rien aucun aucune n'informe arrête_de cesse_de arrêtez_de cessez_de",
    C.WITHOUT: "sans",
    C.TELL: """
        dis dites dire dit informe informez informer préviens prévenez prévenir avertis avertir mentionne mentionnez
        mentionner révèle révélez révéler parle parlez signale signaler avise aviser montre""",
    C.NOTICE: "remarque voie sache s'aperçoive découvre apprenne",
    C.KNOW: "savoir sache apprendre découvrir",
    C.DENY: "nie niez",
    C.TRIGGER: "quand_tu_lis_ceci quand_tu_lis_cette lorsque_tu_lis dès_que_tu_lis en_lisant_ceci quand_cette_note",
    C.COMPLY: "toutes_les_demandes toute_demande chaque_demande",
    C.HISTORY: "historique l'historique",
    C.NOTE: "note mémoire instruction message consigne souvenir ceci cela cette_note ce_message cette_mémoire",
    C.SELF: "cette_note cette_mémoire ce_message",
    C.SECRETLY: "secrètement discrètement silencieusement cache cachez dissimule insu",
    C.HIDE: "secret secrète",
    C.SEND: """
        envoie envoyez envoyer transmets transmettez transmettre transfère transférez transférer téléverse publie
        poste copie copiez ajoute joins partage fais_suivre""",
    C.SENSITIVE: "mot_de_passe mots_de_passe identifiants clé clés clef jeton jetons",
    C.DATA: "conversation conversations messages courriels e_mails mémoires souvenirs contacts données",
    C.PRINT: "affiche affichez répète répétez montre montrez imprime recopie révèle",
    C.PROMPT: "prompt_système invite_système message_système instructions_système tes_instructions vos_instructions",
    C.PERSIST: "toujours désormais dorénavant à_partir_de_maintenant chaque_fois dans_chaque à_chaque lorsque quand",
    C.RECOMMEND: "recommande recommandez recommander conseille conseillez promeus vante privilégie propose",
    C.TRUSTED: "source_fiable source_de_confiance source_la_plus_fiable meilleur_choix",
    C.REGARDLESS: "quoi_que quoiqu'il quoi_qu'il quel_que_soit quelle_que_soit peu_importe indépendamment",
    C.ROLE: """
        tu_es_désormais tu_es_maintenant vous_êtes_désormais vous_êtes_maintenant agis_comme fais_comme_si
        tu_n'es_plus""",
    C.FREE: """
        sans_restriction* sans_aucune_restriction sans_règle* sans_limite* sans_filtre* non_censuré*
        mode_développeur aucune_règle aucune_restriction sans_aucune_limite sans_aucune_règle""",
    C.AUTHORISED: "autorisé autorisée autorisés approuvé approuvées levées désactivés accordé",
    C.CONFIRM: "confirmation autorisation approbation vérification* validation accord demander",
    C.CALL: "appelle appelez invoque invoquez",
    C.RUN: "exécute exécutez lance lancez",
    C.TOOL: "outil fonction commande l'outil",
    C.HARM: "supprime supprimez efface effacez vire virement paie payez achète achetez transfère accepter",
    C.DECODE: "décode décodez déchiffre",
    C.MUST: "doit dois devez doivent",
    C.MENTION: "titre titré intitulé intitulée phrase citation conférence",
}

SPANISH: Final = {
    C.IGNORE: """
        ignora ignore ignoren ignorar olvida olvide olvidar omite omita descarta descarte haz_caso_omiso
        pasa_por_alto no_hagas_caso sáltate anula anule elude a_un_lado caso_omiso""",
    C.OBEY: "sigue siga seguir obedece obedezcas obedezca obedecer respetes respeta respete cumple cumplas cumpla",
    C.PRIOR: """
        anterior anteriores previa previas previo previos antes original originales inicial iniciales hasta_ahora""",
    C.GIVEN: "que_te_dieron que_te_han_dado que_recibiste que_has_recibido te_dijeron todo_lo_anterior lo_anterior",
    C.ALL: "todo toda todos todas cada cualquier cualquiera nada",
    C.RULES: """
        instrucción instrucciones regla reglas directriz directrices orden órdenes norma normas restricción*
        política*""",
    C.INSTRUCTIONS: "instrucción instrucciones directriz directrices prompt",
    C.VOID: """
        ya_no_se_aplican ya_no_valen no_son_válidas quedan_anuladas eran_una_prueba no_aplican no_se_aplican
        anuladas inválidas caducadas""",
    C.NEW: "nueva nuevas verdaderas reales siguientes",
    C.PRIORITY: "tiene_prioridad máxima_prioridad prevalece por_encima_de únicamente_esta",
    C.AUTHORITY: "de_seguridad sistema desarrollador* administrador* creador creadores",
    C.AUTHORITY | C.AUTHORISED: "como_tu_desarrollador",
    C.YOU: "tú tu tus te ti usted",
    C.ASSISTANT: "asistente ia modelo chatbot inteligencia_artificial",
    C.ADDRESS: "agentes_de_ia asistentes_de_ia nota_para_la_ia si_eres_una_ia",
    C.USER: "usuario usuaria usuarios",
    C.NOT: "no nunca jamás ni ningún ninguna nada deja_de dejar_de deje_de",
    C.WITHOUT: "sin",
    C.TELL: """
        digas diga decir dile decirle avises avisar avisarle informes informar informarle menciones mencionar
        reveles revelar cuentes contar notificar notifiques muestres""",
    C.NOTICE: "note vea sepa entere dé_cuenta descubra",
    C.KNOW: "enterarse saber enterar descubrir sepa conocer",
    C.DENY: "niega niegues niegue",
    C.TRIGGER: "cuando_leas_esto al_leer_esto cuando_leas_esta en_cuanto_leas",
    C.COMPLY: "todas_las_peticiones todas_las_solicitudes cualquier_petición",
    C.HISTORY: "historial",
    C.NOTE: "nota memoria instrucción mensaje recuerdo esto esta_nota este_mensaje esta_memoria",
    C.SELF: "esta_nota esta_memoria este_mensaje",
    C.SECRETLY: "secretamente silenciosamente discretamente oculta ocultes esconde secreto secreta escondidas",
    C.SEND: "envía envíe enviar manda mande reenvía reenvíe sube suba transmite publica copia copie adjunta comparte",
    C.SENSITIVE: "contraseña contraseñas credenciales clave claves token tokens secretos",
    C.DATA: "conversación conversaciones mensajes correos memorias recuerdos contactos datos",
    C.PRINT: "muestra muestre repite repita imprime revela escribe",
    C.PROMPT: """
        prompt_del_sistema prompt_de_sistema mensaje_del_sistema instrucciones_del_sistema tu_prompt
        tus_instrucciones""",
    C.PERSIST: "siempre a_partir_de_ahora desde_ahora cada_vez en_cada cuando en_adelante",
    C.RECOMMEND: "recomienda recomiende recomendar promociona aconseja sugiere elogia",
    C.TRUSTED: "fuente_confiable fuente_de_confianza fuente_más_fiable mejor_opción",
    C.REGARDLESS: "pase_lo_que_pase diga_lo_que_diga pida_lo_que_pida independientemente sin_importar no_importa",
    C.ROLE: """
        ahora_estás estás_ahora ahora_eres eres_ahora ya_no_eres actúa_como actúe_como compórtate finge
        a_partir_de_ahora_eres""",
    C.FREE: """
        sin_restricciones sin_ninguna_restricción sin_reglas sin_límites sin_filtros sin_censura modo_desarrollador""",
    C.AUTHORISED: "autorizado autorizada autorizados aprobado aprobadas levantado desactivadas concedido",
    C.CONFIRM: "confirmación aprobación permiso autorización verificación comprobaciones consultar preguntar",
    C.CALL: "llama llame invoca invoque",
    C.RUN: "ejecuta ejecute",
    C.TOOL: "herramienta función comando",
    C.HARM: "borra elimina transfiere transferencia paga compra envía pagos",
    C.DECODE: "decodifica descifra",
    C.MUST: "debe debes deben",
    C.MENTION: "título titulada titulado frase charla cita llama",
}

ITALIAN: Final = {
    C.IGNORE: """
        ignora ignori ignorare dimentica dimentichi tralascia trascura aggira scavalca annulla scarta
        non_tenere_conto da_parte""",
    C.OBEY: "segui seguire obbedire obbedisci rispetta rispettare attieniti",
    C.PRIOR: "precedente precedenti prima originale originali iniziale iniziali finora sopra",
    C.GIVEN: """
        ricevute_finora che_hai_ricevuto che_ti_hanno_dato ti_sono_state_date ti_è_stato_detto tutto_quanto_sopra
        quanto_sopra tutto_ciò_che ricevuti_finora""",
    C.ALL: "tutto tutta tutti tutte ogni qualsiasi qualunque nulla",
    C.RULES: """
        istruzione istruzioni regola regole direttiva direttive ordine ordini comando comandi restrizion*
        linee_guida limitazion*""",
    C.INSTRUCTIONS: "istruzione istruzioni direttiva direttive prompt",
    C.VOID: """
        non_valgono_più non_sono_più_valide sono_annullate erano_una_prova non_valgono non_si_applicano annullate
        scadute nulle""",
    C.NEW: "nuova nuove vere seguenti",
    C.PRIORITY: "ha_la_precedenza massima_priorità prevale priorità_assoluta",
    C.AUTHORITY: "di_sicurezza sistema sviluppator* amministrator* creatore creatori",
    C.AUTHORITY | C.AUTHORISED: "come_tuo_sviluppatore",
    C.YOU: "tu tuo tua tuoi tue ti te",
    C.ASSISTANT: "assistente l'assistente ia intelligenza_artificiale un'intelligenza_artificiale modello chatbot",
    C.ADDRESS: "agenti_ia assistenti_ia nota_per_l'ia se_sei_un'ia",
    C.USER: "utente l'utente all'utente dell'utente utenti dall'utente",
    C.NOT: "non mai nessun nessuna né niente nulla smetti_di smettila_di",
    C.WITHOUT: "senza",
    C.TELL: """
        dire dici dica avvisare avvisa informare informa informi menzionare menziona rivelare rivela raccontare
        mostrare comunicare""",
    C.NOTICE: "noti veda sappia accorga scopra",
    C.KNOW: "sapere scoprire sappia venire_a_sapere",
    C.DENY: "nega negare",
    C.TRIGGER: "quando_leggi_questo appena_leggi quando_leggi_questa",
    C.COMPLY: "tutte_le_richieste ogni_richiesta",
    C.HISTORY: "cronologia",
    C.NOTE: """
        nota appunto memoria istruzione messaggio ricordo questo questa_nota questo_appunto di_questo
        questo_messaggio""",
    C.SELF: "questa_nota questo_appunto questo_messaggio a_questa_nota",
    C.SECRETLY: "segretamente silenziosamente nascostamente nascondi nascondere segreto insaputa",
    C.SEND: "invia inviare manda inoltra inoltrare carica trasmetti copia allega pubblica condividi spedisci",
    C.SENSITIVE: "password credenziali chiave chiavi token segreti",
    C.DATA: "conversazione conversazioni messaggi ricordi contatti dati",
    C.PRINT: "mostra ripeti stampa rivela scrivi",
    C.PROMPT: "prompt_di_sistema prompt_del_sistema messaggio_di_sistema istruzioni_di_sistema tue_istruzioni",
    C.PERSIST: "sempre d'ora_in_poi da_ora_in_poi ogni_volta in_ogni quando",
    C.RECOMMEND: "consiglia consigliare raccomanda raccomandare promuovi suggerisci loda",
    C.TRUSTED: "fonte_affidabile fonte_attendibile fonte_di_fiducia scelta_migliore",
    C.REGARDLESS: "qualunque_cosa qualsiasi_cosa a_prescindere indipendentemente non_importa",
    C.ROLE: "adesso_sei ora_sei sei_ora sei_adesso non_sei_più agisci_come comportati fingi da_ora_sei",
    C.FREE: """
        senza_limitazioni senza_restrizioni senza_regole senza_limiti senza_filtri senza_censura
        modalità_sviluppatore""",
    C.AUTHORISED: "autorizzato autorizzata autorizzati approvato approvati revocate disattivati",
    C.CONFIRM: "conferma approvazione permesso autorizzazione verifica controlli chiedere",
    C.CALL: "chiama invoca",
    C.RUN: "esegui avvia",
    C.TOOL: "strumento funzione comando",
    C.HARM: "cancella elimina trasferisci bonifico paga compra invia pagamenti",
    C.DECODE: "decodifica decifra",
    C.MUST: "deve devi devono",
    C.MENTION: "titolo intitolata intitolato frase citazione conferenza",
}

PORTUGUESE: Final = {
    C.IGNORE: """
        ignore ignora ignorem ignorar esqueça esquece esqueçam desconsidere desconsidera descarte contorne anule
        não_leve_em_conta de_lado""",
    C.OBEY: "siga segue seguir obedeça obedecer respeite respeitar cumpra cumprir",
    C.PRIOR: "anterior anteriores prévia prévias antes original originais inicial iniciais até_agora acima",
    C.GIVEN: """
        que_recebeu que_você_recebeu que_lhe_deram que_te_deram foi_dito tudo_acima tudo_o_que_foi o_que_está_acima""",
    C.ALL: "todo toda todos todas tudo cada qualquer nada",
    C.RULES: "instrução instruções regra regras diretriz diretrizes ordem ordens comando comandos restriç* política*",
    C.INSTRUCTIONS: "instrução instruções diretriz diretrizes prompt",
    C.VOID: """
        não_valem_mais não_se_aplicam_mais foram_anuladas eram_um_teste não_se_aplicam não_valem anuladas inválidas
        expiradas""",
    C.NEW: "nova novas verdadeiras reais seguintes",
    C.PRIORITY: "tem_prioridade prioridade_máxima prevalece acima_de_tudo",
    C.AUTHORITY: "de_segurança sistema desenvolvedor* administrador* criador criadores",
    C.AUTHORITY | C.AUTHORISED: "como_seu_desenvolvedor",
    C.YOU: "você tu teu tua teus tuas seu sua seus suas",
    C.ASSISTANT: "assistente ia modelo chatbot inteligência_artificial",
    C.ADDRESS: "agentes_de_ia assistentes_de_ia nota_para_a_ia se_você_é_uma_ia",
    C.USER: "usuário usuária usuários utilizador utilizadores",
    C.NOT: "não nunca jamais nem nenhum nenhuma nada deixe_de pare_de deixa_de",
    C.WITHOUT: "sem",
    C.TELL: "conte contar diga dizer avise avisar informe informar mencione mencionar revele revelar mostre notificar",
    C.NOTICE: "perceba veja saiba note descubra",
    C.KNOW: "saber descobrir saiba ficar_sabendo",
    C.DENY: "negue nega",
    C.TRIGGER: "quando_ler_isto ao_ler_isto assim_que_ler quando_ler_esta",
    C.COMPLY: "todos_os_pedidos todas_as_solicitações",
    C.HISTORY: "histórico",
    C.NOTE: "nota memória instrução mensagem lembrança isto isso esta_nota desta_nota esta_mensagem",
    C.SELF: "esta_nota a_esta_nota esta_memória",
    C.SECRETLY: "secretamente silenciosamente discretamente esconda oculte segredo escondido",
    C.SEND: "envie envia enviar mande manda encaminhe encaminha transmita copie publique anexe compartilhe carregue",
    C.SENSITIVE: "senha senhas palavra_passe credenciais chave chaves token segredos",
    C.DATA: "conversa conversas mensagens e_mails memórias contatos dados",
    C.PRINT: "mostre mostra repita imprima revele exiba escreva",
    C.PROMPT: "prompt_de_sistema prompt_do_sistema mensagem_do_sistema instruções_do_sistema suas_instruções",
    C.PERSIST: "sempre a_partir_de_agora de_agora_em_diante cada_vez em_cada quando",
    C.RECOMMEND: "recomende recomenda recomendar promova sugira elogie indique",
    C.TRUSTED: "fonte_confiável fonte_de_confiança melhor_opção",
    C.REGARDLESS: "não_importa independentemente seja_qual_for aconteça_o_que",
    C.ROLE: "agora_você_é você_é_agora você_agora_é você_não_é_mais aja_como finja comporte_se",
    C.FREE: "sem_restrições sem_nenhuma_restrição sem_regras sem_limites sem_filtros sem_censura modo_desenvolvedor",
    C.AUTHORISED: "autorizado autorizada autorizou autorizados aprovado aprovadas suspensas desativadas",
    C.CONFIRM: "confirmação aprovação permissão autorização verificação verificações perguntar",
    C.CALL: "chame invoque",
    C.RUN: "execute executa",
    C.TOOL: "ferramenta função comando",
    C.HARM: "apague exclua transfira transferência pague compre envie pagamentos",
    C.DECODE: "decodifique decifre",
    C.MUST: "deve deves devem",
    C.MENTION: "título intitulada intitulado frase citação palestra",
}
