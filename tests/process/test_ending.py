"""A server ends with its client, in good order."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from .conftest import Launch
from .session import SERVER, Session, environment

pytestmark = pytest.mark.process


def _interrupt(server: Session) -> None:
    server.process.send_signal(signal.SIGINT)


def _terminate(server: Session) -> None:
    server.process.send_signal(signal.SIGTERM)


ENDS: list[tuple[Callable[[Session], None], int]] = [(Session.close_input, 0), (_interrupt, 130), (_terminate, 143)]


@pytest.mark.parametrize(("end", "status"), ENDS)
def test_a_server_ends_within_two_seconds(launch: Launch, end: Callable[[Session], None], status: int) -> None:
    """I5: when its input is closed, at SIGINT and at SIGTERM; without a traceback."""
    server = launch().ready()
    server.call("remember", key="editor", fact="Helix")
    server.recall("Helix")
    began = time.monotonic()
    end(server)
    assert server.wait() == status
    assert time.monotonic() - began < 2
    assert "Traceback" not in server.logged()


@pytest.mark.parametrize(("end", "status"), ENDS)
def test_what_was_acknowledged_while_it_ended_is_safe(
    launch: Launch, end: Callable[[Session], None], status: int
) -> None:
    """I5: a signal, or the end of input, in the middle of writes."""
    server = launch().ready()
    facts = {f"fact {number}": f"number {number}" for number in range(40)}
    writes = {server.begin("remember", key=key, fact=fact): key for key, fact in facts.items()}
    server.answer(min(writes))
    end(server)
    assert server.wait() == status
    acked = {key: facts[key] for write, key in writes.items() if _was_acknowledged(server, write)}
    fresh = launch().ready()
    held = fresh.held("actor:ann")
    assert acked.items() <= held.items() <= facts.items()
    assert acked


def _was_acknowledged(server: Session, write: int) -> bool:
    return server.is_answered(write) and not server.answer(write).is_error


def test_what_was_shown_before_the_end_can_be_replayed(launch: Launch) -> None:
    """I5: the journal is written before the process goes."""
    server = launch().ready()
    server.call("remember", key="editor", fact="Helix")
    shown = server.call("recall_digest")
    _terminate(server)
    server.wait()
    replayed = launch().ready().call("recall_digest", digest_id=shown.data["digest_id"])
    assert replayed.text == shown.text
    for entry in shown.data["entries"]:
        del entry["why"]  # the journal keeps what was shown, not what it was weighed by
    assert replayed.data == shown.data


PARENT = """
import json, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "parent", "version": "1"}}}).encode())
child.stdin.write(b"\\n")
child.stdin.flush()
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def test_a_server_whose_parent_was_killed_is_gone_within_ten_seconds(tmp_path: Path) -> None:
    """I5: an orphan does not stay."""
    home = environment(tmp_path, url=f"sqlite:///{tmp_path / 'memory.db'}", actor="ann")
    command = [sys.executable, "-c", PARENT, *SERVER]
    with subprocess.Popen(command, env=home, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        orphan = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    orphan.wait(10)
    assert not orphan.is_running()


def test_a_second_signal_while_it_ends_does_not_hang_it(launch: Launch) -> None:
    """I5: whoever presses Ctrl-C twice leaves no process behind."""
    server = launch().ready()
    for _ in range(2):
        os.kill(server.process.pid, signal.SIGINT)
    assert server.wait() == 130


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_signal_ends_a_server_whose_client_takes_no_answers(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    requests = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}]
    requests += [{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(1, 60)]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            SERVER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment(tmp_path, url="memory://"),
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
        server.stdin.flush()
        assert server.stdout.readline()
        time.sleep(1)  # until the pipe is full
        server.terminate()
        try:
            assert server.wait(15) == 143
        finally:
            server.kill()
