"""Maintenance beside real servers: they go on, and see what it did; killed, it has done some of it whole."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Launch
from .session import Session, acknowledged, environment
from .stocked import stock

pytestmark = pytest.mark.process

FACTS = 600
LEFT = 100


def maintaining(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    settings = environment(folder, url=f"sqlite:///{folder / 'memory.db'}", actor="ann", max_records=str(LEFT))
    command = [sys.executable, "-m", "mcp_memory_server", "maintain", "--json", *arguments]
    return subprocess.Popen(command, env=settings, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finished(run: "subprocess.Popen[bytes]") -> dict[str, Any]:
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    return json.loads(out)


def full_store(folder: Path) -> None:
    words = ("cheese", "window", "train", "office", "budget")
    facts = ((f"fact {number}", f"about {words[number % 5]} {number}", ()) for number in range(FACTS))
    stock(folder / "memory.db", facts)


def wait_until_it_is_at_work(server: Session, run: "subprocess.Popen[bytes]") -> None:
    """Until some records are set aside and others are not."""
    while json.loads(server.read("memory://stats"))["versions"] < FACTS + 5:
        assert run.poll() is None, run.communicate(timeout=60)


def test_servers_write_and_read_while_maintenance_runs(launch: Launch, tmp_path: Path) -> None:
    """Issue 5: concurrent servers keep working; no write of theirs is lost, and they see what was set aside."""
    full_store(tmp_path)
    server = launch().ready()
    run = maintaining(tmp_path)
    wait_until_it_is_at_work(server, run)
    first = server.begin("remember", key="new 0", fact="written meanwhile 0")
    assert not server.answer(first).is_error
    assert run.poll() is None, "the run was over before the server wrote"
    rest = [f"new {number}" for number in range(1, 40)]
    acknowledged(server, {server.begin("remember", key=key, fact=f"written meanwhile: {key}"): key for key in rest})
    report = finished(run)
    assert report["left"] == []
    assert len(report["set_aside"]) == FACTS - LEFT
    held = server.held("actor:ann")
    assert len(held) == FACTS + 40
    assert {key for key in held if key.startswith("new")} == {"new 0", *rest}
    gone = report["set_aside"][0]
    assert gone["text"] not in server.recall(gone["text"], max_memories=50)
    second = finished(maintaining(tmp_path))
    assert len(second["set_aside"]) == 40
    assert finished(maintaining(tmp_path))["set_aside"] == []


def test_a_run_that_is_killed_leaves_every_record_whole_and_is_taken_up_again(launch: Launch, tmp_path: Path) -> None:
    """Issue 5: interrupted half-way it is whole per record and can be run again."""
    full_store(tmp_path)
    server = launch().ready()
    run = maintaining(tmp_path)
    wait_until_it_is_at_work(server, run)
    run.kill()
    run.communicate(timeout=60)
    assert len(server.held("actor:ann")) == FACTS
    finished(maintaining(tmp_path))
    stats = json.loads(server.read("memory://stats"))
    assert (stats["records"], stats["versions"]) == (FACTS, FACTS + FACTS - LEFT)
