"""Large requests: stored whole or refused with the limit, and nobody else waits for them."""

import time

import pytest

from .session import Session

pytestmark = pytest.mark.process


@pytest.mark.parametrize("size", [241, 50_000, 2_000_000])
def test_a_fact_over_the_limit_is_refused_with_the_limit_and_its_length(server: Session, size: int) -> None:
    """E1: never by halves."""
    refused = server.call("remember", key="too long", fact="x" * size)
    assert refused.is_error
    assert f"has {size} characters and the limit is 240" in refused.text
    assert len(refused.text) < 500
    assert "too long" not in server.held("actor:ann")


def test_a_fact_of_exactly_the_limit_is_stored_whole(server: Session) -> None:
    """E1: 240 code points, however many bytes they take."""
    fact = "数" * 240
    assert server.call("remember", key="exact", fact=fact).data["record"]["text"] == fact
    assert server.held("actor:ann")["exact"] == fact


@pytest.mark.parametrize("query", ["word " * 2000, "数据库存储" * 2000, "x" * 10_000, "a-b_c.D" * 1400])
def test_a_long_query_is_answered_and_holds_up_nobody(server: Session, query: str) -> None:
    """E3, E3b: 10 000 characters; a ping sent meanwhile is answered within a second."""
    for number in range(40):
        server.call("remember", key=f"word {number}", fact=f"word number {number} 数据库 {'filler ' * 20}")
    server.recall("what loads the ranking")
    began = time.monotonic()
    recall, ping = server.begin("recall_digest", query=query), server.request("ping")
    assert server.answer(ping).at - began < 1
    assert not server.answer(recall).is_error
