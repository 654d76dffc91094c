"""Facts in many scripts are found by questions in them, and by pieces of their words."""

import pytest

from .asking import asked, found

FACTS = {
    "zh": "用户的手机号码是13800138000，住在上海市浦东新区",
    "ja": "彼女の好きな食べ物はお寿司とラーメンです",
    "kana": "ともだちのなまえはさくらちゃん",
    "katakana": "プロジェクトのサーバーはフランクフルトにある",
    "ko": "민수는 서울에서 소프트웨어 개발자로 일합니다",
    "th": "ลูกค้าชอบดื่มกาแฟดำตอนเช้าที่กรุงเทพ",
    "ru": "Анна предпочитает встречи по вторникам утром",
    "el": "Ο Νίκος μένει στη Θεσσαλονίκη και δουλεύει σε τράπεζα",
    "he": "דנה עובדת כמהנדסת תוכנה בתל אביב",
    "ar": "يفضل أحمد القهوة بدون سكر في الصباح",
    "hi": "राहुल की पसंदीदा किताब गोदान है",
    "de": "Jürgen fährt jeden Freitag mit dem Zug nach München",
    "tr": "İbrahim İstanbul'da yaşıyor ve çay içiyor",
    "vi": "Khách hàng thích uống trà sen vào buổi tối",
}


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("我的手机号码是多少？", "zh"),
        ("彼女の好きな食べ物は何ですか", "ja"),
        ("민수는 어디에서 일하나요?", "ko"),
        ("ลูกค้าชอบดื่มอะไรตอนเช้า", "th"),
        ("Когда Анна любит встречаться?", "ru"),
        ("Πού μένει ο Νίκος;", "el"),
        ("איפה דנה עובדת?", "he"),
        ("ماذا يفضل أحمد في الصباح؟", "ar"),
        ("राहुल की पसंदीदा किताब कौन सी है?", "hi"),
        ("Wohin fährt Jürgen mit dem Zug?", "de"),
        ("İbrahim nerede yaşıyor?", "tr"),
        ("Khách hàng thích uống gì?", "vi"),
    ],
)
def test_a_natural_question_in_its_own_script_finds_the_fact(query: str, key: str) -> None:
    assert asked(FACTS, query)[0] == key


@pytest.mark.parametrize(
    ("piece", "key"),
    [
        ("手机", "zh"),
        ("浦东新", "zh"),
        ("手机号码", "zh"),
        ("沪", None),
        ("海", "zh"),
        ("寿司", "ja"),
        ("食べ物", "ja"),
        ("さくら", "kana"),
        ("サーバ", "katakana"),
        ("フランクフルト", "katakana"),
        ("서울", "ko"),
        ("소프트웨어", "ko"),
        ("개발자", "ko"),
        ("กาแฟ", "th"),
        ("กรุงเทพ", "th"),
        ("вторник", "ru"),
        ("τραπεζα", "el"),
        ("munchen", "de"),
        ("MÜNCHEN", "de"),
        ("istanbul", "tr"),
        ("tra sen", "vi"),
        ("ahmad", None),
    ],
)
def test_a_piece_of_the_text_finds_it(piece: str, key: str | None) -> None:
    assert asked(FACTS, piece)[:1] == ([key] if key else [])


def test_part_of_a_long_run_without_spaces_is_enough() -> None:
    run = "今天下午三点在会议室讨论数据库迁移方案以及后续的测试计划和上线安排"
    assert found(run, "数据库迁移怎么做")
    assert found(run, "测试计划")


def test_what_a_thing_is_called_is_asked_about_the_thing() -> None:
    assert found("她养了一只黑白相间的狗", "她的狗叫什么名字？")


@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("The request is read by parseHttpHeader", "HttpHeader"),
        ("The request is read by parseHttpHeader", "http header"),
        ("The entry point is src/main.py", "main"),
        ("The entry point is src/main.py", "src/main.py"),
        ("The entry point is src/main.py", "main.py"),
        ("Answers come from gpt-4o by default", "gpt-4o"),
        ("Answers come from gpt-4o by default", "gpt4o"),
        ("The service is called session-recall", "session recall"),
        ("The service is called session-recall", "sessionrecall"),
        ("Set MAX_RETRY_COUNT to 5", "max_retry_count"),
        ("Set MAX_RETRY_COUNT to 5", "retry count"),
        ("Saved under Downloads/transcripts", "transcripts"),
        ("He works at O'Brien's pub", "O'Brien's"),
        ("He works at O'Brien's pub", "obrien"),
        ("We don't deploy on Fridays", "don't"),
        ("Der Code ist in C++ geschrieben", "C++"),
        ("The team writes C# only", "c#"),
        ("使用Python3部署服务", "python3"),
        ("使用Python3部署服务", "部署"),
        ("Mail goes to ops@example.com", "example.com"),
        ("The release is v2.10.3", "2.10.3"),
        ("Die Straße ist gesperrt", "STRASSE"),
        ("El niño comió en el café", "cafe nino"),
        ("full width ＡＢＣ１２３", "abc123"),
        ("Party on Friday 🎉", "🎉"),
        ("smile :-)", ":-)"),
    ],
)
def test_identifiers_paths_and_spellings_are_found_whole_and_in_part(fact: str, query: str) -> None:
    assert found(fact, query)


@pytest.mark.parametrize("query", ["to be or not to be", "The Who", "what is it", "是", "の"])
def test_a_question_of_stop_words_alone_is_looked_for_as_it_stands(query: str) -> None:
    assert found(f"Favourite line: {query}", query)
