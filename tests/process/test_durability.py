"""An acknowledged write stays, whatever becomes of the process."""

import pytest

from .conftest import Launch
from .session import acknowledged, numbered

pytestmark = pytest.mark.process

FACTS = dict(numbered("fact", 30))


def test_everything_acknowledged_is_there_after_a_kill(launch: Launch) -> None:
    """B1: SIGKILL right after the last ack; all of it is found."""
    server = launch().ready()
    acknowledged(server, {server.begin("remember", key=key, fact=fact): key for key, fact in FACTS.items()})
    server.kill()
    fresh = launch().ready()
    assert fresh.held("actor:ann") == FACTS
    for fact in list(FACTS.values())[::10]:
        assert fact in fresh.recall(fact)


def test_a_fresh_store_answers_from_its_first_write_on(launch: Launch) -> None:
    """B3: write one item in a fresh store and recall at once."""
    server = launch().ready()
    server.call("remember", key="lunch", fact="likes ramen on Fridays")
    assert server.recall("what about ramen?") == ["likes ramen on Fridays"]
    assert server.recall() == ["likes ramen on Fridays"]


def test_a_second_session_finds_what_the_first_one_did(launch: Launch) -> None:
    """B6: what one session stored the next one recalls in the same way, whatever is installed."""
    questions = ["fact said number 7", "number 12", "fact"]
    with launch().ready() as first:
        acknowledged(first, {first.begin("remember", key=key, fact=fact): key for key, fact in FACTS.items()})
        found = [first.recall(question) for question in questions]
    second = launch().ready()
    assert [second.recall(question) for question in questions] == found
    assert all(found)
