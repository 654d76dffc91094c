"""Standard output is JSON-RPC and nothing else, standard error holds no memory, and no network is needed."""

import time
from pathlib import Path

import pytest

from .conftest import Launch

pytestmark = pytest.mark.process

NO_NETWORK = """
import socket, sys
def refuse(*address, **options):
    print("NETWORK", address, file=sys.stderr, flush=True)
    raise OSError("no network in this test")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
print("CUT OFF", file=sys.stderr, flush=True)
"""


def test_nothing_needs_the_network(launch: Launch, tmp_path: Path) -> None:
    """I2: initialise, write and recall without one, and without trying."""
    (tmp_path / "sitecustomize.py").write_text(NO_NETWORK)
    server = launch(PYTHONPATH=str(tmp_path)).ready()
    server.call("remember", key="lunch", fact="likes ramen")
    assert server.recall("ramen") == ["likes ramen"]
    assert server.call("forget", key="lunch").data["forgotten"]
    assert "CUT OFF" in server.logged()
    assert "NETWORK" not in server.logged()


def test_every_line_of_standard_output_is_a_message_however_much_is_logged(launch: Launch) -> None:
    """I6: with DEBUG logging and warnings on; and what is logged quotes neither facts nor questions."""
    server = launch(log_level="DEBUG", PYTHONWARNINGS="always", PYTHONDEVMODE="1").ready()
    server.call("remember", key="editor", fact="uses Helix", tags=["Helixtag"])
    server.call("remember", key="editor", fact="uses Helix and Vim")
    server.call("remember", key="editor", fact="Helixconflict", if_version=1)
    server.call("remember", key="editor", fact="Helixlong" * 50)
    server.call("recall_digest", query="Helixquery", turn_id="1")
    server.read("memory://block?query=Helixuri")
    server.send_line(b'{"jsonrpc": "2.0", "id": 77, "method": "Helixline", "params": [')
    server.wait_unasked()
    server.call("forget", key="editor")
    server.close_input()
    assert server.wait() == 0
    assert server.junk == []
    assert "DEBUG" in server.logged()
    assert "Helix" not in server.logged()


def test_a_line_of_many_megabytes_costs_its_size_and_not_the_square_of_it(launch: Launch) -> None:
    """Whoever pastes a file into a fact gets the limit told, and nobody waits for it."""
    server = launch().ready()
    sizes = (4_000_000, 64_000_000)
    took: list[float] = []
    for size in sizes:
        begun = time.monotonic()
        answer = server.call("remember", key="k", fact="x" * size)
        took.append(time.monotonic() - begun)
        assert f"has {size} characters and the limit is 240" in answer.text
    assert took[1] < 60 * took[0]
    server.ping()
