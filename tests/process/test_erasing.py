"""What was forgotten is gone: from every answer, of every session, and from the files."""

from pathlib import Path

import pytest

from .conftest import Launch

pytestmark = pytest.mark.process

SECRET = "the codeword is zebrafish"


def test_what_was_forgotten_is_in_no_answer_and_in_no_file(launch: Launch, tmp_path: Path) -> None:
    """G1: recall, list, block, history, replay and other sessions; and the bytes on the disk."""
    one, other = launch().ready(), launch().ready()
    one.call("remember", key="codeword", fact="the codeword was axolotl")
    id = one.call("remember", key="codeword", fact=SECRET).data["record"]["id"]
    one.call("remember", key="office", fact="Lyon")
    shown = other.call("recall_digest", query="codeword zebrafish", turn_id="1").data
    assert SECRET in [entry["text"] for entry in shown["entries"]]

    assert one.call("forget", id=id).data["erasure"] == "done"
    for server in (one, other, launch().ready()):
        for query in ("", "zebrafish", "codeword axolotl"):
            answer = server.call("recall_digest", query=query)
            assert not {"zebrafish", "axolotl"} & set(answer.text.split())
        for uri in ("memory://block", "memory://digest", "memory://scopes/actor%3Aann"):
            assert "codeword" not in server.read(uri)
        assert server.answer(server.request("resources/read", {"uri": f"memory://records/{id}"})).is_error
        replay = server.call("recall_digest", digest_id=shown["digest_id"])
        assert replay.data["erased"] == 1
        assert "zebrafish" not in replay.text
        assert server.held("actor:ann") == {"office": "Lyon"}
    assert not [path.name for path in tmp_path.rglob("memory.db*") if b"zebrafish" in path.read_bytes()]
    assert not [path.name for path in tmp_path.rglob("memory.db*") if b"axolotl" in path.read_bytes()]


def test_what_a_caller_calls_a_turn_or_a_conversation_is_in_no_file(launch: Launch, tmp_path: Path) -> None:
    """They are any text, and only ever compared: a token that a host puts there by mistake is not kept."""
    with launch(selective_over="0").ready() as server:
        server.call("remember", key="office", fact="Lyon")
        server.call("recall_digest", query="office", turn_id="turn zebrafish")
        shown = server.call("recall_digest", mode="manifest", conversation_id="talk axolotl").data["manifest"]
        server.call("recall_digest", ids=[shown[0]["id"]], conversation_id="talk axolotl")
    held = b"".join(path.read_bytes() for path in tmp_path.rglob("memory.db*"))
    assert b"office" in held
    assert b"zebrafish" not in held
    assert b"axolotl" not in held
