"""A ranking signature is stored behind the acknowledgement of its write: nobody can tell, whatever comes in between."""

import logging
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import from_thread
from anyio.lowlevel import current_token

from mcp_memory_server.providers.base import RestoreRequest, SearchRequest, WriteRequest
from mcp_memory_server.providers.contract.samples import erasing, minute, question, raw_record, remember, writing
from mcp_memory_server.providers.signatures import UNSIGNED, signature_of
from mcp_memory_server.providers.sqlite import SqliteProvider, backlog, open_sqlite, signing
from mcp_memory_server.records import MemoryRecord

FACTS = {"drink": "Anna drinks green tea", "pet": "The cat is called Xylocarp", "city": "Anna lives in Göteborg"}

_WRITING = """
import sys, anyio
from mcp_memory_server.providers.contract.samples import remember
from mcp_memory_server.providers.sqlite import backlog, open_sqlite

async def main(path, name, count, quiet_s):
    backlog._QUIET_S = backlog._LONGEST_S = float(quiet_s)
    async with open_sqlite(f"sqlite:///{path}") as provider:
        for number in range(int(count)):
            await remember(provider, f"{name} {number}", f"{name} drinks cup number {number}")
        print("acknowledged", flush=True)
        sys.stdin.read()

anyio.run(main, *sys.argv[1:])
"""
"""Writes so many facts, and closes the store when its input ends."""


@pytest.fixture
def never_signing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause in writing is long enough: what is written stays unsigned until the store is closed."""
    monkeypatch.setattr(backlog, "_QUIET_S", 3600)
    monkeypatch.setattr(backlog, "_LONGEST_S", 3600)


def opened(path: Path, **settings: Any):
    return open_sqlite(f"sqlite:///{path}", **settings)


def rows(path: Path, columns: str = "memory.key, lexical") -> list[tuple[Any, ...]]:
    query = f"SELECT {columns} FROM memory JOIN signature USING (scope_id, number) ORDER BY memory.number"
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def unsigned(path: Path) -> list[str]:
    return [key for key, lexical in rows(path) if lexical == UNSIGNED]


def store(path: Path, lexical: bytes) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE signature SET lexical = ?", (lexical,))


def unsign(path: Path) -> None:
    """Leave the store as a process does that is killed before anything is signed."""
    store(path, UNSIGNED)


def bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def writing_process(path: Path, name: str, count: int, quiet_s: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITING, str(path), name, str(count), str(quiet_s)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def until_signed(path: Path) -> None:
    with anyio.fail_after(60):
        while unsigned(path):  # noqa: ASYNC110  # it happens in the file
            await anyio.sleep(0.02)


async def found(provider: SqliteProvider, asked: str = "Who drinks tea?") -> list[str]:
    return [hit.record.key for hit in await provider.search(question(asked))]


@pytest.mark.usefixtures("never_signing")
async def test_a_write_is_found_by_the_very_next_search_of_any_process_before_it_is_signed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with opened(path) as provider, opened(path) as other:
        for key, text in FACTS.items():
            await remember(provider, key, text)
            for process in (provider, other):
                assert (await found(process, text))[0] == key
        assert unsigned(path) == list(FACTS)


@pytest.mark.parametrize("language", [None, "german"])
@pytest.mark.usefixtures("never_signing")
async def test_what_is_stored_is_the_signature_and_ranks_as_before(tmp_path: Path, language: str | None) -> None:
    path = tmp_path / "memory.db"
    asked = SearchRequest(("actor:ann",), "Which cat drinks tea in Göteborg?", 9, minute(9), with_signals=True)
    async with opened(path, language=language) as provider:
        records = [await remember(provider, key, text, tags=("a tag",)) for key, text in FACTS.items()]
        before = await provider.search(asked)
        assert unsigned(path) == list(FACTS)
    assert rows(path) == [(record.key, signature_of(record, language)) for record in records]
    async with opened(path, language=language) as provider:
        assert await provider.search(asked) == before


async def test_it_is_signed_while_the_store_is_open_and_nobody_is_told(tmp_path: Path) -> None:
    """Neither caches, by a generation, nor those who follow the changes: what they hold is right."""
    path = tmp_path / "memory.db"
    beside = "scope_id, number, generation, memory.key, signature.thread, time_ms, memory.version"
    async with opened(path) as provider:
        for key, text in FACTS.items():
            await remember(provider, key, text)
        cursor, before = (await provider.changes(None)).cursor, rows(path, beside)
        first = await provider.search(question("Who drinks tea?"))
        await until_signed(path)
        assert (rows(path, beside), (await provider.changes(cursor)).changes) == (before, ())
        again = await provider.search(question("Who drinks tea?"))
        assert [hit.record for hit in again] == [hit.record for hit in first]
        assert again[0].record is first[0].record


async def test_after_a_kill_right_behind_the_acknowledgement_it_is_found_and_signed_later(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with writing_process(path, "Ann", 3, quiet_s=3600) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "acknowledged\n"
        process.kill()
    assert unsigned(path) == ["Ann 0", "Ann 1", "Ann 2"]
    async with opened(path) as provider:
        assert (await found(provider, "Who drinks cup number 1?"))[0] == "Ann 1"
        await until_signed(path)


@pytest.mark.usefixtures("never_signing")
async def test_what_is_forgotten_before_it_is_signed_stays_gone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        await remember(provider, "drink", FACTS["drink"])
        gone = await provider.forget(erasing(await remember(provider, "xylocarp", "Xylocarp sleeps")))
        assert gone is not None
        assert gone.erasure == "done"
        assert await found(provider, "Xylocarp") == []
    assert [key for key, _ in rows(path)] == ["drink"]
    assert b"ylocarp" not in bytes_in(tmp_path)


@pytest.mark.usefixtures("never_signing")
async def test_of_a_fact_written_over_before_it_is_signed_the_newest_version_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        await remember(provider, "drink", "Anna drinks tea")
        newest = await remember(provider, "drink", "Anna drinks cocoa", at=1)
        assert await found(provider, "cocoa") == ["drink"]
    assert rows(path) == [("drink", signature_of(newest))]


@pytest.mark.usefixtures("never_signing")
async def test_a_fact_whose_place_is_taken_before_it_is_signed_is_signed_with_the_one_that_took_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        old = await remember(provider, "drink", "Anna drinks tea")
        new = await remember(provider, "beverage", "Anna drinks cocoa", at=1, supersedes=old.id)
        assert (await found(provider, "Who drinks cocoa?"))[0] == "beverage"
    assert rows(path) == [("drink", signature_of(old)), ("beverage", signature_of(new))]


Change = Callable[[SqliteProvider, MemoryRecord], Awaitable[object]]


async def leave(provider: SqliteProvider, record: MemoryRecord) -> object:
    return None


async def forget(provider: SqliteProvider, record: MemoryRecord) -> object:
    return await provider.forget(erasing(record))


async def replace(provider: SqliteProvider, record: MemoryRecord) -> object:
    return await remember(provider, record.key, "Anna drinks cocoa", at=1)


async def close(provider: SqliteProvider, record: MemoryRecord) -> object:
    return await remember(provider, "beverage", "Anna drinks cocoa", at=1, supersedes=record.id)


async def quarantine(provider: SqliteProvider, record: MemoryRecord) -> object:
    waiting = raw_record(record.id, record.key, record.text, status="quarantined")
    return await provider.restore(RestoreRequest(((waiting,),), minute(1)))


async def sign_in_german(provider: SqliteProvider, record: MemoryRecord) -> object:
    """As another process does that has this setting."""
    return store(provider.path, signature_of(record, "german"))


@pytest.mark.parametrize(
    ("change", "is_signed"),
    [(leave, True), *((change, False) for change in (forget, replace, close, quarantine, sign_in_german))],
)
@pytest.mark.usefixtures("never_signing")
async def test_what_changes_between_reading_it_and_storing_its_signature_is_left_alone(
    tmp_path: Path, change: Change, is_signed: bool
) -> None:
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        record = await remember(provider, "drink", "Anna went drinking teas")
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            read = signing.stale_among(db, [record.id], None)
            await change(provider, record)
            before = rows(path)
            signing.sign(db, read)
        assert (rows(path) != before) is is_signed
        assert (rows(path) == [("drink", signature_of(record))]) is is_signed


@pytest.mark.parametrize(
    "damage",
    ["DELETE FROM signature", "UPDATE signature SET lexical = x'01ff'", "UPDATE signature SET lexical = x'00'"],
)
async def test_a_record_restored_as_another_text_between_reading_and_mending_keeps_its_own_signature(
    tmp_path: Path, damage: str
) -> None:
    """Its version is that of the text that was read."""
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        record = await remember(provider, "drink", "Anna drinks tea")
        await until_signed(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(damage)
            read = signing.stale(db, 0, None).stale
            restored = raw_record(record.id, record.key, "Anna eats bread")
            await provider.restore(RestoreRequest(((restored,),), minute(1)))
            signing.sign(db, read)
        assert [(stale.record.text, stale.record.version) for stale in read] == [(record.text, restored.version)]
        assert rows(path) == [("drink", signature_of(restored))]


@pytest.mark.usefixtures("never_signing")
async def test_nothing_is_signed_with_what_was_read_of_a_store_that_was_exchanged_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same record in the same version, and another text."""
    path, backup = tmp_path / "memory.db", tmp_path / "backup.db"
    async with opened(path) as provider:
        await remember(provider, "drink", "Anna drinks water")
    shutil.copy(path, backup)
    async with opened(backup) as provider:
        kept = await remember(provider, "drink", "Anna drinks tea", at=1)
    unsign(backup)

    def read_and_exchange(*asked: Any) -> tuple[signing.Stale, ...]:
        read = stale_among(*asked)
        if backup.exists():
            assert [stale.record.text for stale in read] == ["Anna drinks cocoa"]
            shutil.move(backup, path)
        return read

    stale_among = signing.stale_among
    monkeypatch.setattr(signing, "stale_among", read_and_exchange)
    async with opened(path) as provider:
        await remember(provider, "drink", "Anna drinks cocoa", at=1)
    assert not backup.exists()
    assert rows(path) == [("drink", UNSIGNED)]
    async with opened(path) as provider:
        assert await found(provider, "tea") == ["drink"]
    assert rows(path) == [("drink", signature_of(kept))]


@pytest.mark.usefixtures("never_signing")
async def test_closing_makes_no_store_where_there_is_none_any_more(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        await remember(provider, "drink", "Anna drinks tea")
        path.rename(tmp_path / "moved.db")
    assert not path.exists()


def test_processes_that_write_at_once_leave_every_fact_signed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with (
        writing_process(path, "Ann", 150, quiet_s=0.01) as one,
        writing_process(path, "Ben", 150, quiet_s=0.01) as other,
    ):
        for process in (one, other):
            process.communicate("", timeout=120)
            assert process.returncode == 0
    assert len(rows(path)) == 300
    assert unsigned(path) == []


async def test_a_store_that_is_locked_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(backlog, "_AGAIN_AFTER_S", 0.05)
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        await remember(provider, "drink", "Anna drinks tea")
    unsign(path)
    async with opened(path, busy_timeout_s=0.05) as provider:
        with closing(sqlite3.connect(path, isolation_level=None)) as db, caplog.at_level(logging.WARNING):
            db.execute("BEGIN IMMEDIATE")
            assert await found(provider, "tea") == ["drink"]
            with anyio.fail_after(60):
                while caplog.text.count("signatures wait (store_busy)") < 2:  # noqa: ASYNC110  # a log sets no event
                    await anyio.sleep(0.02)
            db.execute("ROLLBACK")
        await until_signed(path)
    assert "tea" not in caplog.text


@pytest.mark.usefixtures("never_signing")
async def test_closing_does_not_wait_for_a_store_that_stays_locked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        with anyio.fail_after(30):
            async with opened(path, busy_timeout_s=60) as provider:
                await remember(provider, "drink", "Anna drinks tea")
                db.execute("BEGIN IMMEDIATE")
        db.execute("ROLLBACK")
    assert "signatures wait (store_busy)" in caplog.text
    assert unsigned(path) == ["drink"]


async def test_whoever_writes_is_not_kept_waiting_by_signatures_that_wait_for_a_lock(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """They give up soon, however long a call is to wait; the call behind them waits as long as it is to."""
    path = tmp_path / "memory.db"
    async with opened(path, busy_timeout_s=3600) as provider:
        await remember(provider, "drink", "Anna drinks tea")
        with closing(sqlite3.connect(path, isolation_level=None)) as db, anyio.fail_after(60):
            db.execute("BEGIN IMMEDIATE")
            while "signatures wait (store_busy)" not in caplog.text:  # noqa: ASYNC110  # a log sets no event
                await anyio.sleep(0.02)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(remember, provider, "food", "Anna eats bread")
                await anyio.sleep(0.5)
                db.execute("ROLLBACK")
        assert await found(provider, "bread") == ["food"]


async def test_what_is_written_while_others_are_signed_waits_for_the_next_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a long burst each would else be signed by itself, in a transaction of its own."""
    path = tmp_path / "memory.db"

    def read_and_write(*asked: Any) -> tuple[signing.Stale, ...]:
        monkeypatch.setattr(backlog, "_QUIET_S", 3600)
        monkeypatch.setattr(backlog, "_LONGEST_S", 3600)
        from_thread.run(remember, provider, "food", "Anna eats bread", token=loop)
        return stale_among(*asked)

    stale_among, loop = signing.stale_among, current_token()
    async with opened(path) as provider:
        with monkeypatch.context() as patched:
            patched.setattr(signing, "stale_among", read_and_write)
            await remember(provider, "drink", "Anna drinks tea")
            with anyio.fail_after(60):
                while unsigned(path) != ["food"]:  # noqa: ASYNC110  # it happens in the file
                    await anyio.sleep(0.02)
        for _ in range(20):
            await provider.scopes()
            await provider.record_maintenance(minute(1))
        assert unsigned(path) == ["food"]
    assert unsigned(path) == []


async def test_a_record_that_nobody_can_read_ends_neither_signing_nor_the_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        await remember(provider, "secret", "Anna hides Xylocarp")
        with closing(sqlite3.connect(path)) as db, db:
            db.execute('UPDATE memory SET details = \'{"kind": "Xylocarp"}\'')
        with anyio.fail_after(60):
            while "signatures cannot be made (ValidationError)" not in caplog.text:  # noqa: ASYNC110  # no event
                await anyio.sleep(0.02)
        await remember(provider, "drink", "Anna drinks tea")
        with anyio.fail_after(60):
            while unsigned(path) != ["secret"]:  # noqa: ASYNC110  # it happens in the file
                await anyio.sleep(0.02)
    assert "Xylocarp" not in caplog.text


@pytest.mark.usefixtures("never_signing")
async def test_what_is_too_much_to_note_is_left_to_the_next_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with monkeypatch.context() as patched:
        patched.setattr(backlog, "_MOST", 2)
        async with opened(path) as provider:
            for key, text in FACTS.items():
                await remember(provider, key, text)
    assert unsigned(path) == ["drink"]
    async with opened(path) as provider:
        assert await found(provider) == ["drink"]
    assert unsigned(path) == []


@pytest.mark.usefixtures("never_signing")
async def test_what_waits_for_review_or_is_unchanged_leaves_nothing_to_sign(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        await remember(provider, "guess", "Anna may drink tea", status="quarantined")
    assert rows(path) == []
    async with opened(path) as provider:
        requests: list[WriteRequest] = [writing("drink", "Anna drinks tea")] * 2
        assert [(await provider.write(request)).status for request in requests] == ["stored", "unchanged"]
    assert unsigned(path) == []


async def test_examining_signs_what_a_killed_process_left(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        records = [await remember(provider, key, text) for key, text in FACTS.items()]
    unsign(path)
    async with opened(path) as provider:
        assert (await provider.examine()).faults == ()
        assert rows(path) == [(record.key, signature_of(record)) for record in records]


async def test_what_a_later_release_signed_is_left_to_it(tmp_path: Path) -> None:
    """Two releases that have one store open would else replace each other's signatures for ever."""
    path, later = tmp_path / "memory.db", b"\xff of another form"
    async with opened(path) as provider:
        await remember(provider, "drink", "Anna drinks tea")
    store(path, later)
    async with opened(path) as provider:
        assert await found(provider, "tea") == ["drink"]
    assert rows(path) == [("drink", later)]


async def test_what_a_killed_process_left_is_signed_by_whoever_had_searched_before(tmp_path: Path) -> None:
    """A few changed rows are read where they are ranked, and not by the reading thread."""
    path = tmp_path / "memory.db"
    async with opened(path) as provider:
        await remember(provider, "drink", "Anna drinks tea")
        assert await found(provider) == ["drink"]
        await until_signed(path)
        with writing_process(path, "Ben", 2, 3600) as process:
            assert process.stdout is not None
            assert await anyio.to_thread.run_sync(process.stdout.readline) == "acknowledged\n"
            process.kill()
        assert unsigned(path) == ["Ben 0", "Ben 1"]
        assert set(await found(provider, "Who drinks a cup?")) >= {"Ben 0", "Ben 1"}
        await until_signed(path)
