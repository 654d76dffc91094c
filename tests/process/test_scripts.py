"""Facts in any script are found by a question in the same, through a real server."""

import pytest

from .conftest import Launch
from .session import Session

pytestmark = pytest.mark.process

FACTS = [
    "生产环境的数据库迁移到了新加坡。",
    "小王对花生过敏。",
    "定例会は毎週火曜日の午前十時に開かれる。",
    "사무실이 판교로 이사했다.",
    "โครงการเก็บข้อมูลไว้ในฐานข้อมูลเก่า",
    "Начальник пьёт чёрный кофе без сахара.",
    "Το γραφείο μεταφέρθηκε στη Θεσσαλονίκη.",
    "המפתח של המחסן נמצא אצל יוסי.",
    "موعد طبيب الأسنان في الخامس من مايو.",
    "रवि को अदरक वाली चाय पसंद है।",
]


@pytest.fixture(scope="module")
def polyglot(server: Session) -> Session:
    """A server that holds the facts."""
    for number, fact in enumerate(FACTS):
        assert not server.call("remember", key=f"fact {number}", fact=fact).is_error
    return server


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("库", 0),
        ("数据", 0),
        ("数据库", 0),
        ("生产环境", 0),
        ("花生", 1),
        ("火曜", 2),
        ("판교", 3),
        ("사무실은", 3),
        ("ฐานข้อมูล", 4),
        ("我们上个月把生产环境里的数据库全部检查了一遍", 0),
    ],
)
def test_a_piece_of_a_text_without_spaces_finds_it(polyglot: Session, query: str, place: int) -> None:
    """D1, D2: one to four characters, a Korean word with another particle, a long run of which a part matches."""
    assert FACTS[place] in polyglot.recall(query)


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("数据库现在在哪里？", 0),
        ("定例会は何曜日ですか？", 2),
        ("사무실은 어디로 이사했어?", 3),
        ("ฐานข้อมูลของโครงการอยู่ที่ไหน", 4),
        ("Какой кофе любит начальник?", 5),
        ("Πού βρίσκεται τώρα το γραφείο;", 6),
        ("אצל מי המפתח של המחסן?", 7),
        ("متى موعد طبيب الأسنان؟", 8),
        ("रवि को कौन सी चाय पसंद है?", 9),
    ],
)
def test_a_question_in_its_own_script_finds_the_fact(polyglot: Session, question: str, place: int) -> None:
    """D5: nine scripts, no model."""
    assert FACTS[place] in polyglot.recall(question)


def test_a_nul_is_left_out_of_what_is_stored_and_no_question_trips_over_one(server: Session) -> None:
    """D8: in the fact, a tag and the query; in a key it is refused, as any control character."""
    written = server.call("remember", key="nul", fact="before\x00after", tags=["a\x00b"]).data["record"]
    assert (written["text"], written["tags"]) == ("beforeafter", ["ab"])
    assert "beforeafter" in server.recall("before\x00after")
    refused = server.call("remember", key="n\x00ul", fact="text")
    assert "control character" in refused.text
    assert refused.is_error


def test_case_tells_actors_apart_and_nothing_else_does(launch: Launch) -> None:
    """D11: an id is what it is, on the way in and on the way out; the same id in any process is the same memory."""
    upper, lower, again = launch(actor="Claude"), launch(actor="claude"), launch(actor="Claude")
    upper.ready().call("remember", key="editor", fact="Helix")
    assert lower.ready().recall("Helix") == lower.recall() == []
    assert again.ready().recall("Helix") == again.recall() == ["Helix"]
