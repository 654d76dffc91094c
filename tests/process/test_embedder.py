"""A real embedder in a real server: what words cannot find is found, and without it everything else goes on."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from mcp_memory_server.embedding import open_embedder
from mcp_memory_server.providers.base import VectorCount, WriteRequest
from mcp_memory_server.providers.sqlite import open_sqlite
from mcp_memory_server.records import MemoryOrigin
from tests.minilm import lay_out_minilm

from .conftest import Launch
from .session import HANG_S, SERVER, Session, environment

pytestmark = pytest.mark.process

CAT: Final = "The cat sleeps on the windowsill all afternoon"
WHERE_IT_NAPS: Final = "Which animal naps at this house?"
DENTIST: Final = "The dentist comes on Thursday"
WHOSE_TEETH: Final = "Who looks after my teeth?"


def reindex(folder: Path, embedder: str) -> subprocess.Popen[bytes]:
    """The administrator's command, on its way."""
    settings = {"url": f"sqlite:///{folder / 'memory.db'}", "actor": "ann", "embedder": embedder}
    command = [*SERVER, "reindex", "--json"]
    return subprocess.Popen(command, env=environment(folder, **settings), stdout=subprocess.PIPE, cwd=folder)


def finished(command: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What it says at its end."""
    printed, _ = command.communicate(timeout=HANG_S)
    assert command.returncode == 0
    return json.loads(printed)


def eventually(holds: Callable[[], bool]) -> None:
    """Ask until it holds. What is asked takes its own time, so nothing is slept away."""
    deadline = time.monotonic() + HANG_S
    while not holds():
        assert time.monotonic() < deadline


def signals(server: Session, query: str) -> dict[str, str]:
    return server.call("recall_digest", query=query).data["signals"]


async def _fill(store: Path, count: int) -> None:
    async with open_sqlite(f"sqlite:///{store}", synchronous="NORMAL") as provider:
        for number in range(count):
            request = WriteRequest(
                scope="actor:ann",
                key=f"note {number}",
                text=f"parcel {number} was handed to neighbour {number % 7} on floor {number % 5}",
                origin=MemoryOrigin(author="agent"),
                at="2026-01-01T00:00:00.000Z",
            )
            await provider.write(request)


async def _count(store: Path, embedder: str) -> VectorCount:
    async with open_sqlite(f"sqlite:///{store}") as provider:
        return await provider.count_vectors(embedder)


def test_a_fact_that_shares_no_word_with_the_question_is_found(
    launch: Launch, tmp_path: Path, minilm_folder: Path
) -> None:
    """What was there before is embedded by `reindex`, what comes later in the background."""
    embedder = f"onnx:{minilm_folder}"
    with launch() as by_words:
        by_words.ready().call("remember", key="mitzi", fact=CAT)
        by_words.call("remember", key="desk", fact="Invoices are signed on Mondays")
        assert by_words.recall(WHERE_IT_NAPS) == []
    assert finished(reindex(tmp_path, embedder)) == {"records": 2, "embedded": 2}
    server = launch(embedder=embedder).ready()
    eventually(lambda: CAT in server.recall(WHERE_IT_NAPS))
    assert signals(server, WHERE_IT_NAPS) == {"embedder": "used"}
    server.call("remember", key="checkup", fact=DENTIST)
    eventually(lambda: DENTIST in server.recall(WHOSE_TEETH))


@pytest.mark.parametrize("embedder", ["onnx:nowhere", "model2vec:nowhere", "openai:model@http://127.0.0.1:9/v1"])
def test_with_a_broken_embedder_every_write_is_stored_and_found_by_its_words(launch: Launch, embedder: str) -> None:
    """A15: 200 times in a row, without a hang; the digest says what is missing."""
    server = launch(embedder=embedder).ready()
    writes = [server.begin("remember", key=f"note {number}", fact=f"parcel {number}") for number in range(200)]
    assert not any(server.answer(write).is_error for write in writes)
    assert "parcel 117" in server.recall("parcel 117")
    assert signals(server, "parcel") == {"embedder": "unavailable"}
    assert len(server.held("actor:ann")) == 200


def test_an_embedder_that_never_answers_holds_up_nobody(launch: Launch) -> None:
    """A15: a service that takes the connection and stays silent; the server can be left, too."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = launch(embedder=f"openai:model@http://127.0.0.1:{silent.getsockname()[1]}/v1").ready()
        server.call("remember", key="office", fact="The office is in Lyon")
        recall, ping = server.begin("recall_digest", query="office"), server.request("ping")
        assert server.answer(ping).at <= server.answer(recall).at
        assert server.answer(recall).data["signals"] == {"embedder": "unavailable"}
        assert [entry["key"] for entry in server.answer(recall).data["entries"]] == ["office"]
        began = time.monotonic()
        server.close_input()
        assert server.wait() == 0
        assert time.monotonic() - began < 10  # the service's own limit is 20 seconds


def test_a_command_ends_in_good_order_while_an_embedder_is_at_work(tmp_path: Path, minilm_folder: Path) -> None:
    """Threads come back from native code, again and again, to an interpreter that is being taken down."""
    probe = (
        "import sys, threading\n"
        "from mcp_memory_server.__main__ import main\n"
        "from mcp_memory_server.embedding import open_embedder\n"
        "embedder = open_embedder(sys.argv.pop())\n"
        "running = threading.Barrier(5)\n"
        "def embed():\n"
        "    running.wait()\n"
        "    while True:\n"
        "        embedder.embed(['tea ' * 200] * 8, 'passage')\n"
        "for _ in range(4):\n"
        "    threading.Thread(target=embed, daemon=True).start()\n"
        "running.wait()\n"
        "main()\n"
    )
    command = [sys.executable, "-c", probe, "--version", f"onnx:{minilm_folder}"]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, timeout=HANG_S, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"mcp-memory-server ")


def test_another_embedder_takes_over_a_filled_store_and_can_be_interrupted(
    launch: Launch, tmp_path: Path, minilm_folder: Path
) -> None:
    """J11: words work at once, re-embedding goes on after a kill, and a record never has vectors of both."""
    store = tmp_path / "memory.db"
    other_folder = lay_out_minilm(tmp_path / "other")
    one, other = (open_embedder(f"onnx:{folder}").id for folder in (minilm_folder, other_folder))
    assert one != other
    anyio.run(_fill, store, 300)
    assert finished(reindex(tmp_path, f"onnx:{minilm_folder}")) == {"records": 300, "embedded": 300}

    command = reindex(tmp_path, f"onnx:{other_folder}")
    eventually(lambda: anyio.run(_count, store, other).embedded > 0)
    command.kill()
    command.communicate(timeout=HANG_S)
    half = anyio.run(_count, store, other)
    assert 0 < half.embedded < half.searchable == 300
    assert anyio.run(_count, store, one).embedded == 300 - half.embedded

    server = launch(embedder=f"onnx:{other_folder}").ready()
    assert any(fact.startswith("parcel 117 ") for fact in server.recall("parcel 117"))
    assert finished(reindex(tmp_path, f"onnx:{other_folder}")) == {"records": 300, "embedded": 300}
    assert anyio.run(_count, store, one).embedded == 0
