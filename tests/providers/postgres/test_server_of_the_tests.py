"""The Postgres that the tests run ends with them, and a test may have one of its own to crash."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.providers.postgres_server import fetch, own_server, run

ROOT = Path(__file__).parents[3]
SESSION = """
import sys, time
from tests.providers.postgres_server import Server
server = Server()
server.start()
print(server.data, flush=True)
time.sleep(60)
"""


@pytest.mark.process
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_session_that_is_killed_leaves_no_server_and_no_files(ending: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SESSION],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as session:
        assert session.stdout is not None
        data = Path(session.stdout.readline().strip())
        server = int((data / "postmaster.pid").read_text().split()[0])
        os.kill(server, 0)
        os.killpg(session.pid, ending)
        session.wait(30)
    deadline = time.monotonic() + 60
    while data.parent.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not data.parent.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


@pytest.mark.process
def test_a_server_of_ones_own_keeps_what_was_committed_through_a_crash_and_a_restart() -> None:
    with own_server() as (server, cluster):
        store = cluster.fresh()
        note = "INSERT INTO mcp_memory.note (name, value) VALUES ('{}', '')"
        run(store.url, note.format("before the crash"))
        server.crash()
        with pytest.raises((ConnectionRefusedError, FileNotFoundError)):
            run(store.url, note.format("meanwhile"))
        server.start()
        run(store.url, note.format("before the restart"))
        server.stop()
        server.start()
        kept = {row["name"] for row in fetch(store.url, "SELECT name FROM mcp_memory.note")}
        assert kept >= {"before the crash", "before the restart"}
        assert "meanwhile" not in kept
        data = server.data
    assert not data.exists()
