"""Several calls and several processes on one store."""

from pathlib import Path
from typing import Final

import pytest

from .conftest import Launch
from .session import Session, acknowledged, is_sound, numbered, overlap

pytestmark = pytest.mark.process

ATTEMPTS: Final = 8
"""On a busy machine one process may be done before another has begun: then they all go again, on top of that."""


def test_parallel_calls_of_one_session_lose_nothing(launch: Launch) -> None:
    """A1: several tool calls issued from one model turn."""
    server = launch().ready()
    facts = dict(numbered("turn", 100))
    writes = {server.begin("remember", key=key, fact=fact): key for key, fact in facts.items()}
    acknowledged(server, writes)
    assert server.held("actor:ann") == facts
    for fact in list(facts.values())[::20]:
        assert fact in server.recall(fact)


def test_processes_that_write_at_once_lose_nothing(launch: Launch) -> None:
    """A2: several server processes, many writes each, on one store at once."""
    servers = [launch() for _ in range(4)]
    for server in servers:
        server.ready().call("recall_digest", query="what is loaded at first use is there now")
    written: dict[str, str] = {}
    for attempt in range(ATTEMPTS):
        facts = [dict(numbered(f"server {number}, {attempt}", 25)) for number in range(4)]
        writes: list[dict[int, str]] = [{} for _ in servers]
        for turn in zip(*(mine.items() for mine in facts), strict=True):
            for server, sent, (key, fact) in zip(servers, writes, turn, strict=True):
                sent[server.begin("remember", key=key, fact=fact)] = key
        answers = [acknowledged(server, sent) for server, sent in zip(servers, writes, strict=True)]
        written |= {key: fact for mine in facts for key, fact in mine.items()}
        if overlap(answers):
            break
    else:
        pytest.fail("the processes never wrote at once")
    assert launch().ready().held("actor:ann") == written


def test_processes_that_update_one_fact_at_once_conflict_and_never_overwrite_unseen(launch: Launch) -> None:
    """A2, A18: what is written over a version that is no longer current is refused, with the current one."""
    servers = [launch().ready() for _ in range(2)]
    servers[0].call("remember", key="counter", fact="0")
    writes = [
        (server, server.begin("remember", key="counter", fact=f"{number} of {server.process.pid}", if_version=1))
        for number in range(10)
        for server in servers
    ]
    answers = [server.answer(write) for server, write in writes]
    (winner,) = [answer for answer in answers if not answer.is_error]
    for loser in answers:
        if loser is not winner:
            assert "version 2" in loser.text
            assert winner.data["record"]["text"] in loser.text


def test_many_processes_started_at_once_on_a_missing_store_all_serve_it(launch: Launch, tmp_path: Path) -> None:
    """A8, J7b: eight clients start in the same second; schema creation must not race."""
    servers = [launch() for _ in range(8)]
    for server in servers:
        server.ready()
    for number, server in enumerate(servers):
        assert not server.call("remember", key=f"server {number}", fact="was here").is_error
    assert len(servers[0].held("actor:ann")) == 8
    assert [server.process.poll() for server in servers] == [None] * 8
    assert is_sound(tmp_path / "memory.db")


def test_an_open_session_sees_what_another_writes(launch: Launch) -> None:
    """A11, B2: no restart is needed, and every accepted write is visible to the next recall anywhere."""
    one, other = launch().ready(), launch().ready()
    assert other.recall("ramen") == []
    for number in range(5):
        writer, reader = (one, other) if number % 2 else (other, one)
        writer.call("remember", key=f"lunch {number}", fact=f"likes ramen number {number}")
        for server in (reader, writer):
            assert f"likes ramen number {number}" in server.recall(f"ramen number {number}")


def test_a_mix_of_calls_from_several_processes_leaves_what_was_acknowledged(launch: Launch, tmp_path: Path) -> None:
    """A12: remember, recall and forget by three processes at once, then every acked row and no forgotten one."""
    servers = [launch() for _ in range(3)]
    for server in servers:
        server.ready()
    expected: dict[str, str] = {}
    for attempt in range(ATTEMPTS):
        for number, server in enumerate(servers):
            server.call("remember", key=f"old {number}", fact="is to be forgotten")
        sent: list[dict[int, str]] = []
        for number, server in enumerate(servers):
            requests: dict[int, str] = {}
            for key, fact in numbered(f"server {number}, {attempt}", 12):
                requests[server.begin("remember", key=key, fact=fact)] = f"remember {key}"
                requests[server.begin("recall_digest", query=fact)] = f"recall {key}"
                expected[key] = fact
            requests[server.begin("forget", key=f"old {number}")] = "forget"
            requests[server.begin("remember", key=f"last {number}", fact="is kept")] = "last"
            sent.append(requests)
        if overlap([acknowledged(server, requests) for server, requests in zip(servers, sent, strict=True)]):
            break
    else:
        pytest.fail("the processes never acted at once")
    expected |= {f"last {number}": "is kept" for number in range(3)}
    assert servers[0].held("actor:ann") == expected
    assert is_sound(tmp_path / "memory.db")


def test_three_sessions_of_mixed_calls_are_all_answered(launch: Launch, tmp_path: Path) -> None:
    """A16: none hangs, and none is refused. How long they wait is measured by benchmarks/load.py."""
    servers = [launch().ready() for _ in range(3)]
    for turn in range(200):
        sent = [_mixed_call(server, name, turn) for name, server in zip("abc", servers, strict=True)]
        for server, request in zip(servers, sent, strict=True):
            answer = server.answer(request, within_s=10)
            assert not answer.is_error, answer.text
    kept = {f"{name}-{turn - turn % 5}": f"{name} in turn {turn}" for name in "abc" for turn in range(1, 200, 5)}
    assert servers[0].held("actor:ann") == kept
    assert is_sound(tmp_path / "memory.db")


def _mixed_call(server: Session, name: str, turn: int) -> int:
    """Of five calls one writes a fact, one replaces it, and three read; a digest, the block and the scope."""
    key, fact = f"{name}-{turn - turn % 5}", f"{name} in turn {turn}"
    match turn % 5:
        case 0 | 1:
            return server.begin("remember", key=key, fact=fact)
        case 2:
            return server.begin("recall_digest", query=fact)
        case 3:
            return server.request("resources/read", {"uri": "memory://block"})
        case _:
            return server.request("resources/read", {"uri": "memory://scopes/actor%3Aann"})
