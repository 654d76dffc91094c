"""What fails is flagged as a failure, and nothing is returned by the ton."""

from typing import Any

import pytest

from .session import Session

pytestmark = pytest.mark.process

FAILING: list[tuple[str, dict[str, Any]]] = [
    ("remember", {}),
    ("remember", {"key": "", "fact": ""}),
    ("remember", {"key": "k", "fact": "x" * 241}),
    ("remember", {"key": "a:b", "fact": "f"}),
    ("remember", {"key": "k", "fact": "f", "scope": "global"}),
    ("remember", {"key": "k", "fact": "f", "tags": ["t"] * 16 + ["x" * 41]}),
    ("remember", {"key": "k", "fact": "f", "valid_from": "tomorrow"}),
    ("remember", {"key": "k", "fact": "f", "if_version": 7}),
    ("remember", {"key": "k", "fact": "f", "digest_id": "no such digest"}),
    ("recall_digest", {"max_memories": 0}),
    ("recall_digest", {"query": {"a": 1}}),
    ("recall_digest", {"digest_id": "no such digest"}),
    ("forget", {}),
    ("forget", {"id": "no such id"}),
    ("forget", {"key": "no such key"}),
    ("no_such_tool", {}),
]


@pytest.mark.parametrize(("tool", "arguments"), FAILING)
def test_every_failing_call_is_flagged_and_says_why(server: Session, tool: str, arguments: dict[str, Any]) -> None:
    """B5, B7b: no failure, and no unknown tool, comes back as the text of a success."""
    answer = server.call(tool, **arguments)
    assert answer.is_error
    assert len(answer.text) > 20
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("method", ["resources/read", "prompts/get", "no/such/method", "tools/call"])
def test_a_request_that_cannot_be_served_is_a_json_rpc_error(server: Session, method: str) -> None:
    """B7b: also what is no tool call."""
    for params in ({}, {"uri": "memory://nothing", "name": "nothing"}, {"uri": 7, "name": 7}):
        assert server.answer(server.request(method, params)).is_error


def test_without_any_scope_configured_the_default_is_used_and_named(server: Session) -> None:
    """B8: the answer names the scope that was written to and those that were read."""
    written = server.call("remember", key="default scope", fact="is named")
    assert written.data["record"]["scope"] == "actor:ann"
    assert "at actor:ann" in written.text
    assert server.call("recall_digest").data["scopes"] == ["actor:ann", "global"]


@pytest.mark.parametrize("query", ["", "   ", None])
def test_an_empty_query_returns_a_bounded_list_and_says_how_much_is_left_out(server: Session, query: Any) -> None:
    """E7b: never the whole store."""
    for number in range(25):
        server.call("remember", key=f"topic {number}", fact="x" * 240)
    answer = server.call("recall_digest", query=query)
    assert len(answer.data["entries"]) == 20
    assert answer.data["omitted"] >= 5
    assert len(answer.text) < 20 * 400 + 2000
