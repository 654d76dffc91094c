"""A store that another process holds: wait, or say so; never lose, never hang, never die."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from .conftest import Launch

pytestmark = pytest.mark.process


@contextmanager
def locked(store: Path) -> Generator[sqlite3.Connection]:
    """Hold the write lock of a store, as a stale process would."""
    with closing(sqlite3.connect(store, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        yield holder


def test_a_write_waits_for_the_lock_and_readers_do_not(launch: Launch, tmp_path: Path) -> None:
    """A5: another process holds the write lock for a while: the write waits and succeeds."""
    server = launch(busy_timeout_s="60").ready()
    server.call("remember", key="editor", fact="Helix")
    with locked(tmp_path / "memory.db") as holder:
        write = server.begin("remember", key="office", fact="Lyon")
        assert server.recall("Helix") == ["Helix"]
        server.ping()
        assert not server.is_answered(write)
        holder.execute("ROLLBACK")
        assert server.answer(write).data["status"] == "stored"
    assert "Lyon" in server.recall("Lyon")


def test_a_lock_that_stays_is_a_clean_error_and_nothing_is_half_stored(launch: Launch, tmp_path: Path) -> None:
    """A5, A6, A9: the lock outlasts the busy timeout; the server says so, lives on, and works again afterwards."""
    server = launch(busy_timeout_s="0.2").ready()
    server.call("remember", key="editor", fact="Helix")
    with locked(tmp_path / "memory.db"):
        refused = server.call("remember", key="office", fact="Lyon")
        assert refused.is_error
        assert "wrote nothing. Try again." in refused.text
        assert server.call("recall_digest", turn_id="1").data["journaled"] is False
        assert not server.call("recall_digest", mode="manifest", conversation_id="talk").is_error
        server.ping()
        assert server.process.poll() is None
    assert server.held("actor:ann") == {"editor": "Helix"}
    assert server.call("remember", key="office", fact="Lyon").data["status"] == "stored"
    assert server.call("recall_digest", turn_id="2").data["journaled"] is True


def test_a_server_that_is_killed_while_it_writes_leaves_a_store_that_works_at_once(
    launch: Launch, tmp_path: Path
) -> None:
    """A14: killed mid-write, again and again; no lock is orphaned and what was acknowledged is there."""
    acked: dict[str, str] = {}
    for number in range(2):
        server = launch().ready()
        facts = {f"round {number} fact {n}": f"round {number} said {n}" for n in range(30)}
        writes = {server.begin("remember", key=key, fact=fact): key for key, fact in facts.items()}
        server.answer(min(writes))
        server.kill()
        answered = [key for write, key in writes.items() if server.is_answered(write)]
        assert 0 < len(answered) < len(facts)
        acked |= {key: facts[key] for key in answered}
    fresh = launch().ready()
    assert acked.items() <= fresh.held("actor:ann").items()
    assert fresh.call("remember", key="office", fact="Lyon").data["status"] == "stored"
