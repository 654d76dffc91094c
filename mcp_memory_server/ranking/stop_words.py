"""Words that say nothing about what a fact is about, per language.

Written for this project: function words, question words and auxiliary verbs. They serve twice: the words of
a question that are listed here are not looked for, and counting them tells the language of a text. All are
kept folded (see `text.fold`), because that is the form they are compared in.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_LISTS: Final = {
    "english": """
        a about above after again against all also am an and any anybody anyone anything are arent as at be
        because been before being below between both but by can cannot cant could couldnt did didnt do does
        doesnt doing done dont down during each either else ever every few for from further get gets getting
        got had hadnt has hasnt have havent having he her here hers herself him himself his how i if in into
        is isnt it its itself just let lets many me might more most much must my myself neither no nor not of off on
        once only onto or other our ours ourselves out over own per please s same shall she should shouldnt
        so some somebody someone something still such t tell than that the their theirs them themselves then
        there these they this those through thus to too under until up upon us very was wasnt we were werent
        what whats whatever when where wheres whether which while who whom whose whos why will with within
        without wont would wouldnt yes yet you your yours yourself yourselves im ive ill id hes shes theyre
        youre thats theres
    """,
    "german": """
        aber als am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine dem den denn der
        des dich die dies diese dieser dieses dir doch du durch ein eine einem einen einer eines er es etwas
        euch euer fur gegen gibt hab habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre im in ins ist
        ja jede jeder jedes kann kannst kein keine konnen man mein meine meinem meinen meiner mich mir mit muss
        nach nicht noch nur ob oder ohne schon sehr sein seine sich sie sind so soll uber um und uns unser
        unsere unter vom von vor wann war waren warum was weil welche welcher welches wem wen wenn wer werde
        werden wessen wie wieder will wir wird wo woher wohin wurde zu zum zur zwischen
    """,
    "french": """
        a ai au aux avec avez avons c ce ceci cela ces cet cette chez comme comment d dans de depuis des du
        elle elles en est et etait ete etes etre eu eux fait faut il ils j je l la le les leur leurs lui m ma
        mais me meme mes moi mon n ne nos notre nous on ont ou par pas pour pourquoi qu quand que quel quelle
        quelles quels qui quoi s sa sans se sera ses si soi son sont suis sur t ta te tes toi ton tu un une
        vos votre vous y
    """,
    "spanish": """
        a al algo ante antes aqui asi aun como con contra cual cuales cuando cuanto de del desde donde dos el
        ella ellas ellos en entre era es esa ese eso esta estan estas este esto estos estoy fue ha han has hasta
        hay he la las le les lo los mas me mi mis mucho muy nada ni no nos nosotros o os otra otro para pero
        por porque que quien quienes se ser si sin sobre soy su sus tambien te tengo tiene tienen ti tu tus un
        una uno unos usted y ya yo
    """,
    "italian": """
        a ad agli ai al alla alle allo anche c che chi ci come con cosa cui da dal dalla dalle dei del della
        delle dello di dove e ed era gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia
        mie miei mio ne negli nei nel nella nelle no noi non nostra nostro o per perche piu po qual quale quali
        quando quanto quella quello questa queste questi questo se sei si sia siamo sono su sua sue sul sulla
        suo te ti tra tu tua tuo un una uno vi voi
    """,
    "portuguese": """
        a ao aos aquela aquele as ate com como da das de dela dele deles do dos e ela elas ele eles em entre
        era essa esse esta estao estou eu foi ha isso isto ja la lhe mais mas me mesmo meu meus mim minha
        minhas muito na nao nas nem no nos nossa nosso num numa o onde os ou para pela pelo por porque qual
        quais quando quanto que quem se sem ser sera seu seus sim so sou sua suas tambem te tem tenho teu tu
        tua um uma umas uns voce
    """,
    "dutch": """
        aan al alle als ben bij daar dan dat de der deze die dit doen door dus een en er geen had heb hebben
        heeft het hier hij hoe hun ik in is ja je jij jouw jullie kan kun maar me meer met mij mijn moet na
        naar niet nog nu of om omdat ons onze ook op over te tegen toch tot u uit uw van veel voor waar
        waarom wanneer was wat we welk welke werd wie wij wil worden wordt ze zich zij zijn zo zou
    """,
    "swedish": """
        alla allt att av blev bli blir da dar de dem den denna deras dess det detta dig din ditt dom du efter
        ej eller en er ett fran for ga har hade han hans har hela henne hennes hon honom hur i icke ifran
        ingen inom inte jag kan man med mellan men mig min mina mitt mot mycket nar nagon nagot nu och om oss
        pa samma sedan sig sin sina sitt sa som till under upp ut utan vad var vara varfor vara vart vem vi
        vid vilka vilken vilket
    """,
    "norwegian": """
        alle at av bare ble blir da de deg dem den denne der deres det dette din du eller en er et etter for
        fordi fra ha hadde han hans har hennes her hos hun hva hvem hver hvilken hvilket hvor hvorfor i ikke
        ingen jeg kan man med meg mellom men min mine mitt mot na nar noe noen og ogsa om opp oss over pa sa
        seg sin sitt skal som til ut uten var ved vi vil
    """,
    "danish": """
        af alle at blev bliver da de dem den denne der deres det dette dig din du efter eller en end er et
        for fordi fra ham han hans har havde hende hendes her hos hun hvad hvem hver hvilken hvor hvorfor
        hvordan hvornar i ikke ind jeg kan man med meget men mig min mine mit mod nar ned noget nogle nogen nu
        og ogsa om op os over pa sig sin sine skal som til ud uden under var ved vi vil
    """,
    "finnish": """
        ei eika ella en et etta han hanen he ja joka jos jotka kanssa keta kuin kuinka kuka kun me mika mikä
        mika milloin mina minun minulla missa mita mitka miksi mutta mukaan myos ne niin nyt ole olen oli olla
        on onko ovat sa se sen sina sinun sita tai tama tassa te tuo
    """,
    "hungarian": """
        a az abban ahhoz aki akik ami amely and arra azt azok azzal be csak de e egy egyik el en es ez ezek ezt
        fel ha hanem hogy hogyan hol ide igen is itt kell ki kik le lesz maga meg mely mert mi mikor milyen
        minden mint miert most nagyon ne nekem nem o ott pedig s sem sok szerint te ti utan vagy vagyok van vannak
        volt
    """,
    "romanian": """
        a acest aceasta ai al ale am ar are as asta au ca cand care ce cea cel cele cine cu cum da dar de deci
        despre din dupa e ea ei el ele era esti este eu fi fost iar ii il imi in intre isi la lor lui ma mai
        mea mei mele meu mi ne nici nu o or ori pe pentru prin sa sau se si sunt suntem ta tau te tu un una
        unde unei unui va voi
    """,
    "polish": """
        a aby ale bardzo bez bo by byc byl byla bylo byly ci cie co czy dla do gdy gdzie go i ich ile im ja jak
        jaka jaki jakie je jego jej jest jestem jestes juz ktora ktore ktory kto ktos ma mam mi mnie moj moja
        moje moze my na nad nam nas nasz nie nim o od on ona one oni oraz po pod przez przy sa sie sobie swoj
        ta tak tam te tego tej ten to tu twoj twoja ty tylko tym u w we z za ze
    """,
    "czech": """
        a aby ale ani ano az bez bude by byl byla bylo byt ci co coz do ho i ja jak jake jako je jeho jej jeji
        jen jeste ji jsem jsi jsme jsou k kam kde kdo kdy kdyz ke ktera ktere ktery ma mam me mi mit mne muj my
        na nad nas ne nebo neni o od on ona oni pak po pod podle pro proc pred pri s se si sve ta tak take te
        tedy ten to tobe tu tuto tvuj ty u uz v ve z za ze
    """,
    "turkish": """
        ama bana bazi belki ben beni benim bile bir biri biz bize bizim bu buna bunu cok cunku da daha de degil
        diye en gibi ha hangi hem hep hepsi her hic icin ile ise kac kadar ki kim kimin mi mu nasil ne neden
        nerede nereye niye o olan olarak oldu ona onlar onu onun sana sen seni senin siz sizin su ve veya var
        ya yani yok
    """,
    "indonesian": """
        ada adalah akan aku apa apakah atau bagaimana bagi bahwa banyak beberapa bisa bukan dalam dan dapat dari
        dengan di dia hanya harus ini itu jika juga kamu kami kapan karena ke kita lagi lebih mana mereka
        mengapa milik nya oleh pada para saat saja sangat saya sebagai sedang seperti siapa sudah telah tetapi
        tidak untuk yang
    """,
    "catalan": """
        a al als amb aquest aquesta com d de del dels des el ella ells els em en ens era es esta et fins ha han
        he hi ho i jo l la les li m mes meu meva molt n ni no nosaltres o on per pero que quan qual qui quin quina
        s se sense si soc som son sota sobre te tu un una unes uns va vaig
    """,
    "russian": """
        а без был была были было быть в вам вас весь во вот все всех вы где да для до его ее если есть еще же за
        зачем и из или им их к как какая какие какои какое какую когда кого кому кто ли меня мне мнои мои моя
        мое моего моеи моих мы на над нам нас не него нее нет ни них но ну о об он она они оно от очень по под
        почему при с сам себя со так такои там те тебе тебя то тоже только том тот ту ты у уже чего чем что
        чтобы эта эти это этого этои этот я
    """,
    "ukrainian": """
        а або але без був була були було бути в вам вас ви від він вона вони воно все всі де для до є з за зі і
        із й його її іх к коли кого кому який яка яке які як ким кто хто ми мене мені мои моя моє мою на над не
        нас ні о об от під по при про та так там те теж ти то тобі тои у це цеи цю чи чого чому що щоб я
    """,
    "greek": """
        α αν αλλα αυτα αυτη αυτο αυτοι αυτον αυτος απο για δεν δυο εγω ειμαι ειναι εισαι εκεινο ενα ενας εμεις
        εσυ εχει εχω η ηταν θα και κατα με μετα μη μην μια μου μας ναι να ο οι ομως οπου οτι οταν ου ποια
        ποιο ποιος ποιοι ποσο ποτε που πως προς σαν σας σε στα στη στην στις στο στον στους σου τα την της τι
        τις το τον του τους των τωρα ως γιατι
    """,
    "arabic": """
        ان او اي اين اذا الا التي الذي الى انا انت انه انها اني او بعد بين به بها تلك ثم حتى حيث ذلك عن عند على
        عليه غير في فيه فيها قد كان كانت كل كم كما كيف لا لدي لم لن له لها لي ليس لكن ما ماذا متى مع من منه منها
        هذا هذه هل هم هما هناك هو هي و يا يكون
    """,
    "hebrew": """
        אבל או אולי אותו אותה אותי אחרי אין איפה איך אל אלה אם אנחנו אני את אתה אתם בין גם הוא היא היה היו היתה
        הם הן זה זאת זו יש כי כל כמה כמו כן לא לאן לי לו לה לך למה לפני מאיפה מה מי מתי מתוך על עם עד עוד רק של שלי
        שלו שלה שלך שלנו
    """,
    "persian": """
        از است اگر اما ان این انها او با باید بر برای بود به بی تا تو چرا چه چی چیست چیزی خود در دارد دارم دارند
        را شد شده شما كه که كي کی كجا کجا كدام کدام كيست کیست ما من می نه نیز هر هم همه هست هستم هستند و یا یک
    """,
    "hindi": """
        अपना अपनी अपने अब आप आपका इस इसका इसके उन उनका उनके उस उसका उसके एक ऐसा और कब कर करता करते कहाँ कहां का
        कि किस किसका की कुछ के कैसे को कोई कौन क्या क्यों गया जब जो तक तुम तो था थी थे दो न नहीं ने पर भी मुझे में मेरा
        मेरी मेरे मैं यह या ये वह वे से हम हमारा हमारी है हैं हो हूँ हूं होता
    """,
}

STOP_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {language: frozenset(words.split()) for language, words in _LISTS.items()}
)

# Scripts written without spaces have no words to list: these are cut out of a question before it is broken
# into n-grams, longest first, unless nothing would be left.
_UNSPACED: Final = """
    什么 甚麼 什麼 叫什么 叫什麼 怎么 怎麼 怎样 怎樣 哪里 哪裡 哪儿 哪个 哪個 哪些 为什么 為什麼 谁的 誰的
    是谁 是誰 多少 几个 幾個 我们 我們 你们 你們 他们 他們 她们 這個 这个 那个 那個 的 了 是 在 吗 嗎 呢 吧 啊 我
    你 您 他 她 它 谁 誰 哪 和 与 與 及 或 てください ています でしょうか ましたか ますか ですか でした
    ました ません という どんな どのような どうやって なぜ どこ いつ だれ 誰 何 なに なん どれ どの どう
    です ます する した して いる ある から まで より では には とは これ それ あれ この その あの こと
    もの は が を に の と も で へ や か ね よ 입니까 습니까 합니까 습니다 입니다 합니다 인가요 나요
    무엇을 무엇이 무엇 어디에서 어디에 어디 언제 누구의 누구 어떤 어떻게 왜 나는 나의 내가 저는 제가
    저의 당신은 당신의 있는 있나요 있습니까 อะไร ที่ไหน เมื่อไหร่ เมื่อไร ทำไม อย่างไร ใคร ไหน ของ และ
    หรือ คือ เป็น ที่ ใน จาก กับ ให้ ได้ ไหม ครับ ค่ะ คะ ฉัน ผม คุณ เขา เธอ เรา มัน นี้ นั้น
"""
UNSPACED_STOP_PHRASES: Final = tuple(sorted(_UNSPACED.split(), key=len, reverse=True))
