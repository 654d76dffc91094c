"""Any question finds what it should, and none is an error."""

from itertools import product
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from .conftest import Launch
from .session import Session
from .stocked import stock

pytestmark = pytest.mark.process

ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=40)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=ANY_TEXT)
@example(query='"')
@example(query="NEAR(a b) AND OR NOT *^:{}()")
@example(query="'; DROP TABLE memory;--")
@example(query="gpt-4o")
@example(query="a\x00b")
def test_no_question_is_an_error(server: Session, query: str) -> None:
    """C1: no character of a query has a meaning of its own."""
    assert not server.call("recall_digest", query=query).is_error


@pytest.mark.parametrize(
    "words",
    [
        "gpt-4o",
        "claude-code",
        "a:b ratio",
        '"strict-mode',
        "foo(bar",
        "AND OR NOT",
        "*.py ^start",
        "100%_sure",
        r"C:\Users\näme",
        "C++ C#",
        "https://example.com/a?b=c&d=%20#frag",
        '{"a": [1',
        "don't",
        "O'Brien's",
        "Downloads/transcripts",
        "数据库",
        "火曜日",
        "🚀🐙",
    ],
)
def test_what_holds_the_question_verbatim_is_found(server: Session, words: str) -> None:
    """C1, C2: special characters, apostrophes, slashes, scripts."""
    fact = f"of {words} it is said"
    written = server.call("remember", key=f"verbatim {crc32(words.encode())}", fact=fact)
    assert not written.is_error, written.text
    assert fact in server.recall(words)


def test_words_are_found_in_another_order_with_others_between_them(server: Session) -> None:
    """C4: several words are no phrase."""
    fact = "the invoice run of every month is started from a cron job on the billing host"
    server.call("remember", key="invoice run", fact=fact)
    assert fact in server.recall("billing cron invoice")


KNOWN = {
    "Marta likes ramen for lunch on Fridays": "What does Marta want to eat at noon? Ramen?",
    "The fiscal year starts in July": "When does our fiscal year begin?",
    "Deployments go out on Tuesdays after the standup": "On which day do we deploy?",
    "The staging database runs PostgreSQL 16": "Which version of PostgreSQL does staging have?",
    "Jonas is allergic to peanuts": "Does Jonas have an allergy?",
    "Invoices are paid within 30 days": "How long does it take to pay an invoice?",
    "The office in Lyon closes at six": "When is the Lyon office closed?",
    "Code reviews need two approvals": "How many approvals does a code review need?",
    "The user prefers answers in French": "In which language should I answer the user?",
    "Backups are kept for ninety days": "For how long do we keep a backup?",
}


def test_questions_in_plain_words_are_answered_without_any_model(server: Session) -> None:
    """C5: hit@10 of at least 0.9 for questions of which not every word stands in the fact."""
    for number, fact in enumerate(KNOWN):
        server.call("remember", key=f"known {number}", fact=fact)
        for other in range(4):
            server.call("remember", key=f"other {number} {other}", fact=f"note {number}{other} about something else")
    hits = [fact in server.recall(question) for fact, question in KNOWN.items()]
    assert sum(hits) >= 9


ACTORS = [
    "0b8f7c1e-5a52-4f0e-9b1e-0d1f2a3b4c5d",
    "ann@example.com",
    "a:b AND c",
    "x" * 190,
    "Änne 数据 #1",
]


def test_any_actor_id_has_a_memory_of_its_own(launch: Launch) -> None:
    """C6: UUID, e-mail, colon, operator words, 190 characters, non-ASCII: write, recall, and isolation."""
    servers = [launch(actor=actor) for actor in ACTORS]
    for number, server in enumerate(servers):
        written = server.ready().call("remember", key="editor", fact=f"actor number {number} uses Helix")
        assert not written.is_error, written.text
    for number, server in enumerate(servers):
        assert server.recall("Helix") == server.recall() == [f"actor number {number} uses Helix"]


def test_a_question_shows_nothing_that_it_does_not_name(launch: Launch, tmp_path: Path) -> None:
    """E9: of a thousand facts, only those about a person or a thing that is asked about."""
    people = [
        f"{first}{second}" for first, second in product(("Mar", "Jo", "Ai", "Kof", "Le"), ("ta", "nas", "ko", "i"))
    ]
    things = [f"{first} {second}" for first in ("red", "blue", "old", "new", "big") for second in "ABCDEFGHIJ"]
    pairs = list(product(people, things))
    assert len(pairs) == 1000
    facts = ((f"{who} {what}", f"{who} repaired the {what} engine", ()) for who, what in pairs)
    stock(tmp_path / "memory.db", facts)
    server = launch().ready()
    shown = server.recall("What did Marta do?", 50)
    assert shown
    assert all("Marta" in fact for fact in shown)
    assert server.recall("Is the zeppelin in the hangar?", 50) == []


@pytest.mark.parametrize("nothing", ["", None])
def test_an_optional_argument_filled_with_nothing_is_as_if_it_were_left_out(
    server: Session, nothing: str | None
) -> None:
    """C9: models fill every field."""
    optional = ("tags", "valid_from", "valid_to", "if_version", "digest_id")
    written = server.call("remember", key="filled", fact="in", **dict.fromkeys(optional, nothing)).data["record"]
    plain = server.call("remember", key="plain", fact="in").data["record"]
    assert written.keys() == plain.keys()
    asked = server.call("recall_digest", **dict.fromkeys(("query", "max_memories", "turn_id", "digest_id"), nothing))
    assert asked.data["entries"] == server.call("recall_digest").data["entries"]
    assert not server.call("forget", key="filled", id=nothing).is_error
