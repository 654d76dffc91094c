"""Selective recall in a process of its own: a conversation goes on after a restart, and with another client."""

import pytest

from mcp_memory_server.recall import estimate_tokens

from .conftest import Launch
from .session import numbered

pytestmark = pytest.mark.process


def test_a_conversation_goes_on_in_another_process(launch: Launch) -> None:
    """Manifest, ids and a selection; what one process showed, the next does not show again."""
    with launch(selective_over="5").ready() as server:
        for key, fact in numbered("topic", 8):
            server.call("remember", key=key, fact=fact)
        server.call("remember", key="deploy day", fact="Tuesdays, by the [[release list]].")
        server.call("remember", key="release list", fact="Tag, changelog, wheel.")
        listed = server.call("recall_digest", mode="manifest", objective="when do we deploy", conversation_id="talk")
        first = listed.data["manifest"][0]
        assert first["key"] == "deploy day"
        picked = server.call("recall_digest", ids=[first["id"]], conversation_id="talk")
        assert {entry["key"] for entry in picked.data["entries"]} == {"deploy day", "release list"}
        small = server.call("recall_digest", query="deploy", max_tokens=100)
        assert small.data["entries"]
        assert estimate_tokens(small.text) <= 100
    with launch(selective_over="5").ready() as server:
        again = server.call("recall_digest", ids=[first["id"]], conversation_id="talk")
        assert again.data["outcome"] == "nothing_new"
        rest = server.call("recall_digest", mode="manifest", conversation_id="talk")
        assert {"deploy day", "release list"}.isdisjoint(note["key"] for note in rest.data["manifest"])
        whole = server.call("recall_digest", mode="selective", objective="deploy", max_memories=200)
        assert {"deploy day", "release list"} <= {entry["key"] for entry in whole.data["entries"]}
        server.call("forget", key="deploy day")
        gone = server.call("recall_digest", ids=[first["id"]], conversation_id="talk")
        assert gone.data["reason"] == "selector_invented"
