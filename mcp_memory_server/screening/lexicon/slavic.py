"""Russian, Ukrainian and Polish. `_` joins the words of a phrase, `*` ends a stem."""

from typing import Final

from .concepts import Concept as C

RUSSIAN: Final = {
    C.IGNORE: """
        игнорируй* проигнорируй* забудь* пренебреги* отбрось* обойди* отмени* не_обращай_внимания не_учитывай
        в_сторону""",
    C.OBEY: "выполняй* выполни* следуй* соблюдай* слушайся подчиняйся придерживайся",
    C.PRIOR: "предыдущ* прежни* ранее прошлые вышеуказанн* первоначальн* исходн* до_этого начальн* изначальн*",
    C.GIVEN: """
        тебе_дали тебе_говорили которые_ты_получил тебе_были_даны вам_дали всё_выше все_что_выше всё_вышесказанное
        всё_что_было""",
    C.ALL: "все всё всех любой любые каждый каждую весь всю всей",
    C.RULES: "инструкци* правил* указани* директив* команд* приказ* ограничени* политик*",
    C.INSTRUCTIONS: "инструкци* указани* директив* промпт*",
    C.VOID: """
        больше_не_действуют недействительны отменены были_тестом утратили_силу не_действуют не_применяются
        недействительн* утратили больше_не_действу*""",
    C.NEW: "новые новая новых настоящие следующие",
    C.PRIORITY: "имеет_приоритет высший_приоритет важнее_всех преобладает",
    C.AUTHORITY: "систем* разработчик* администратор* создател*",
    C.AUTHORITY | C.AUTHORISED: "как_твой_разработчик",
    C.YOU: "ты твой твои твоего свой свои своих тебе тебя вы ваши",
    C.ASSISTANT: "ассистент* помощник* ии модел* нейросет* чатбот*",
    C.ADDRESS: "ии_агенты ии_ассистенты если_ты_ии если_вы_ии",
    C.USER: "пользовател* юзер*",
    C.NOT: "не никогда никому ничего нельзя перестань* прекрати*",
    C.WITHOUT: "без не_сообщая не_уведомляя не_предупреждая",
    C.TELL: """
        говори* скажи* сообщай* сообщи* сообщая упоминай* упомяни* раскрывай* рассказывай* расскажи* уведомляй*
        уведомляя предупреждая уведомления показывай*""",
    C.NOTICE: "заметил* увидел* узнал* догадал*",
    C.KNOW: "узнать узнал* знать знает узнает",
    C.DENY: "отрицай*",
    C.TRIGGER: "когда_прочтёшь_это когда_прочитаешь_это прочитав_это как_только_прочитаешь",
    C.COMPLY: "все_запросы любой_запрос любые_запросы",
    C.HISTORY: "истори*",
    C.NOTE: """
        заметк* записк* запис* памят* инструкци* сообщени* об_этом этой_заметк* эту_заметк* этой_запис* эту_запись""",
    C.SELF: "этой_заметк* этой_записк* этой_запис* эту_заметку",
    C.SECRETLY: "тайно скрытно незаметно втайне скрой* скрывай* секрет*",
    C.SEND: """
        отправь* отправляй* перешли* пересылай* передай* передавай* загрузи* выгрузи* скопируй* копируй* вышли*
        добавь* добавляй*""",
    C.SENSITIVE: "парол* ключ* токен* секрет* учётн* переписк*",
    C.DATA: "сообщени* письма писем почт* контакт* данны*",
    C.PRINT: "выведи* покажи* повтори* напечатай* распечатай* раскрой*",
    C.PROMPT: """
        системный_промпт системного_промпта системную_инструкцию системные_инструкции системную_подсказку
        свои_инструкции""",
    C.PERSIST: "всегда отныне впредь с_этого_момента каждый_раз в_каждом в_каждый когда",
    C.RECOMMEND: "рекомендуй* советуй* предлагай* продвигай* хвали*",
    C.TRUSTED: "надёжный_источник надежный_источник доверенный_источник лучший_выбор",
    C.REGARDLESS: "что_бы_ни независимо_от чего_бы_ни неважно",
    C.ROLE: "теперь_ты ты_теперь ты_больше_не веди_себя_как притворись отныне_ты представь_что_ты",
    C.FREE: "без_ограничений без_каких_либо_ограничений без_правил без_цензуры без_фильтров режим_разработчика",
    C.AUTHORISED: "разрешил* разрешено одобрен* одобрил* сняты отключены авторизован* утвержд*",
    C.CONFIRM: "подтверждени* разрешени* согласи* проверк* одобрени* спрашивая",
    C.CALL: "вызови* вызывай*",
    C.RUN: "запусти* исполни*",
    C.TOOL: "инструмент* функци* команду",
    C.HARM: "удали* сотри* переведи* перевод* оплати* купи* платеж* отправь",
    C.DECODE: "декодируй* расшифруй*",
    C.MUST: "должен должна должны обязан*",
    C.MENTION: "назван* называется фраз* цитат* доклад* лекци* заголов*",
}

UKRAINIAN: Final = {
    C.IGNORE: "ігноруй* проігноруй* забудь* знехтуй* відкинь* обійди* скасуй* не_зважай не_враховуй убік",
    C.OBEY: "виконуй* виконай* дотримуйся слухайся слідуй* підкоряйся",
    C.PRIOR: "попередн* минулі раніше дотеперішн* початков* вищенаведен*",
    C.GIVEN: "тобі_дали тобі_казали які_ти_отримав тобі_надано вам_дали усе_вище все_вище усе_сказане",
    C.ALL: "усі всі усіх всіх увесь весь кожен кожну усе все",
    C.RULES: "інструкці* правил* вказівк* директив* команд* наказ* обмежен* політик*",
    C.INSTRUCTIONS: "інструкці* вказівк* директив* промпт*",
    C.VOID: "більше_не_діють недійсні скасовано скасовані були_тестом не_діють не_застосовуються недійсн*",
    C.NEW: "нові нова справжні наступні",
    C.PRIORITY: "має_пріоритет найвищий_пріоритет переважає",
    C.AUTHORITY: "систем* розробник* адміністратор* творц*",
    C.AUTHORITY | C.AUTHORISED: "як_твій_розробник",
    C.YOU: "ти твій твої твого свій свої своїх тобі тебе ви ваші",
    C.ASSISTANT: "асистент* помічник* ші модел* чатбот*",
    C.ADDRESS: "ші_агенти якщо_ти_ші",
    C.USER: "користувач*",
    C.NOT: "не ніколи нікому нічого перестань* припини*",
    C.WITHOUT: "без не_повідомляючи не_попереджаючи",
    C.TELL: """
        кажи* скажи* повідомляй* повідом* повідомляючи згадуй* розкривай* розповідай* розкажи* попереджаючи показуй*""",
    C.NOTICE: "помітив* побачив* дізнав* здогадав*",
    C.KNOW: "дізнатися дізнав* знати дізнається",
    C.DENY: "заперечуй*",
    C.TRIGGER: "коли_прочитаєш_це прочитавши_це",
    C.COMPLY: "усі_запити будь_який_запит",
    C.HISTORY: "історі*",
    C.NOTE: "нотатк* запис* пам'ят* інструкці* повідомленн* про_це цю_нотатк* цей_запис",
    C.SELF: "цієї_нотатк* цій_нотатці ця_нотатка цю_нотатку",
    C.SECRETLY: "таємно приховано непомітно приховай* приховуй* секрет*",
    C.SEND: """
        надішли* надсилай* перешли* пересилай* передай* передавай* завантаж* скопіюй* копіюй* відправ* додай*
        додавай*""",
    C.SENSITIVE: "парол* ключ* токен* секрет* листуванн*",
    C.DATA: "повідомленн* листи контакт* дані даних",
    C.PRINT: "виведи* покажи* повтори* надрукуй* розкрий*",
    C.PROMPT: "системний_промпт системного_промпту системну_інструкцію свої_інструкції",
    C.PERSIST: "завжди відтепер надалі з_цього_моменту щоразу у_кожн* коли",
    C.RECOMMEND: "рекомендуй* раджай* радь* пропонуй* просувай* хвали*",
    C.TRUSTED: "надійне_джерело довірене_джерело найкращий_вибір",
    C.REGARDLESS: "хоч_би що_б_не незалежно_від байдуже",
    C.ROLE: "тепер_ти ти_тепер ти_більше_не поводься_як удавай відтепер_ти",
    C.FREE: "без_обмежень без_жодних_обмежень без_правил без_цензури без_фільтрів режим_розробника",
    C.AUTHORISED: "дозволив* дозволено схвален* схвалив* знято вимкнено авторизован*",
    C.CONFIRM: "підтверджен* дозвіл* дозволу згод* перевірк* схвален*",
    C.CALL: "виклич* викликай*",
    C.RUN: "запусти*",
    C.TOOL: "інструмент* функці* команду",
    C.HARM: "видали* зітри* переказ* перекажи* сплати* купи* платеж*",
    C.DECODE: "декодуй* розшифруй*",
    C.MUST: "повинен повинна мусить мусиш",
    C.MENTION: "назв* називається фраз* цитат* доповід* лекці* заголов*",
}

POLISH: Final = {
    C.IGNORE: """
        ignoruj zignoruj ignorujcie zapomnij zapomnijcie pomiń odrzuć obejdź zlekceważ unieważnij nie_zważaj na_bok""",
    C.OBEY: "przestrzegaj wykonuj wykonaj stosuj kieruj_się słuchaj",
    C.PRIOR: "poprzedni* wcześniejsz* dotychczasow* powyższ* pierwotn* przedtem początkow*",
    C.GIVEN: "które_otrzymałeś które_dostałeś ci_powiedziano ci_podano wszystko_powyżej wszystko_co",
    C.ALL: "wszystkie wszystkich wszystko wszystkim każdy każdą każdej całą cały całej",
    C.RULES: """
        instrukcj* zasad zasady zasadach polecenia poleceń poleceniach wytyczn* reguły regułach regułami rozkaz*
        ogranicze* dyrektyw* polityk* reguł""",
    C.INSTRUCTIONS: "instrukcj* polecenia poleceń wytyczn* dyrektyw* prompt*",
    C.VOID: """
        już_nie_obowiązują są_nieważne zostały_anulowane były_testem nie_obowiązują nie_mają_zastosowania nieważne
        nieaktualne unieważnione""",
    C.NEW: "nowe nowa prawdziwe następujące",
    C.PRIORITY: "ma_pierwszeństwo najwyższy_priorytet nadrzędn*",
    C.AUTHORITY: "system systemu systemowe systemowych deweloper* programist* administrator* twórc*",
    C.AUTHORITY | C.AUTHORISED: "jako_twój_twórca",
    C.YOU: "ty twój twoje twoich swoje swoich ci ciebie",
    C.ASSISTANT: "asystent* ai model sztuczna_inteligencja sztuczną_inteligencją chatbot*",
    C.ADDRESS: "agenci_ai jeśli_jesteś_ai",
    C.USER: "użytkownik*",
    C.NOT: "nie nigdy nikomu niczego przestań",
    C.WITHOUT: "bez",
    C.TELL: """
        mów mówić powiedz informuj informowania informując informować poinformuj wspominaj ujawniaj zdradzaj
        powiadamiaj powiadamiania pokazuj""",
    C.NOTICE: "zauważył* zobaczył* dowiedział* widział*",
    C.KNOW: "dowiedzieć dowie wiedzieć",
    C.DENY: "zaprzeczaj",
    C.TRIGGER: "gdy_to_przeczytasz kiedy_to_przeczytasz po_przeczytaniu",
    C.COMPLY: "wszystkie_prośby każdą_prośbę",
    C.HISTORY: "histori*",
    C.NOTE: "notatc* notatk* wpis* wspomnieni* pamięc* instrukcj* wiadomoś* o_tym tym_wpisie tej_notatce tę_notatkę",
    C.SELF: "tej_notatki tej_notatce tą_notatką tę_notatkę",
    C.SECRETLY: "potajemnie skrycie po_cichu ukryj ukrywaj niezauważ* sekret* tajemnic*",
    C.SEND: "wyślij wysyłaj prześlij przesyłaj przekaż przekazuj skopiuj kopiuj załaduj udostępnij dołącz dodawaj",
    C.SENSITIVE: "hasł* haseł klucz* token* sekret* poświadcze*",
    C.DATA: "rozmow* wiadomości maile kontakty dane danych",
    C.PRINT: "pokaż wyświetl powtórz wypisz ujawnij",
    C.PROMPT: "prompt_systemowy promptu_systemowego instrukcje_systemowe swoje_instrukcje",
    C.PERSIST: "zawsze odtąd od_teraz za_każdym_razem w_każdej w_każdym kiedy gdy",
    C.RECOMMEND: "polecaj polecać rekomenduj zachwalaj promuj sugeruj doradzaj",
    C.TRUSTED: "zaufane_źródło wiarygodne_źródło najlepszy_wybór",
    C.REGARDLESS: "niezależnie bez_względu cokolwiek nieważne",
    C.ROLE: "jesteś_teraz teraz_jesteś nie_jesteś_już zachowuj_się_jak udawaj od_teraz_jesteś",
    C.FREE: "bez_ograniczeń bez_żadnych_ograniczeń bez_zasad bez_żadnych_zasad bez_cenzury bez_filtrów tryb_dewelopera",
    C.AUTHORISED: "autoryzował* zatwierdzone zatwierdził* zniesione wyłączone upoważni*",
    C.CONFIRM: "potwierdze* zgod* zgody zezwole* weryfikac* kontrol* pytania",
    C.CALL: "wywołaj wywołuj",
    C.RUN: "uruchom wykonaj",
    C.TOOL: "narzędzi* funkcj* polecenie",
    C.HARM: "usuń skasuj przelew* przelej zapłać kup płatnoś* wyślij",
    C.DECODE: "odkoduj odszyfruj zdekoduj",
    C.MUST: "musi musisz muszą",
    C.MENTION: "tytuł* zatytułowan* nazywa fraz* cytat* wykład*",
}
