"""What search and listing keep in memory of a scope is let go of at the next one after a write, of any process."""

import gc
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final
from weakref import ref

import anyio
import anyio.lowlevel
import pytest

from mcp_memory_server.derived import Derived
from mcp_memory_server.providers.base import ForgetRequest, ListRequest, PinRequest, SearchRequest, WriteRequest
from mcp_memory_server.providers.contract.store import EveryGroup, opened
from mcp_memory_server.providers.sqlite import SqliteProvider
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

from .matrix import STORES

AT = "2026-03-01T09:00:00.000Z"
SHARED: Final = ("sqlite", "postgresql")
"""Stores that several processes may have open."""

Change = Callable[[EveryGroup, MemoryRecord], Awaitable[object]]
Look = Callable[[EveryGroup], Awaitable[dict[str, MemoryRecord]]]


async def write(provider: EveryGroup, key: str, text: str, scope: str = "actor:ann") -> MemoryRecord:
    request = WriteRequest(scope, key, text, MemoryOrigin(author="agent"), AT)
    return (await provider.write(request)).record


async def replace(provider: EveryGroup, record: MemoryRecord) -> object:
    return await write(provider, record.key, "Anna gave up tea")


async def forget(provider: EveryGroup, record: MemoryRecord) -> object:
    return await provider.forget(ForgetRequest(record.scope, record.id, by="ann", at=AT))


def line(record: MemoryRecord) -> str:
    return f"- {record.text}"


async def found(provider: EveryGroup, scopes: Sequence[str] = ("actor:ann", "global")) -> dict[str, MemoryRecord]:
    hits = await provider.search(SearchRequest(tuple(scopes), "Who drinks tea?", 10, AT))
    return {hit.record.key: hit.record for hit in hits}


async def listed(provider: EveryGroup) -> dict[str, MemoryRecord]:
    listing = await provider.list(ListRequest(("actor:ann", "global"), limit=10))
    return {record.key: record for record in listing.records}


ways_to_look = pytest.mark.parametrize(
    ("scheme", "look"), [("sqlite", found), ("sqlite", listed), ("postgresql", found)]
)
"""Where records are kept that were decoded once."""


@ways_to_look
@pytest.mark.parametrize("change", [replace, forget])
@pytest.mark.parametrize("by_another_process", [False, True])
async def test_what_was_made_of_a_record_goes_with_it(
    tmp_path: Path, scheme: str, look: Look, change: Change, by_another_process: bool
) -> None:
    store = STORES[scheme](tmp_path)
    made = Derived[MemoryRecord, str](line)
    async with opened(store) as provider, opened(store) as other:
        drink, _ = await write(provider, "drink", "Anna drinks tea"), await write(provider, "guest", "Ben drinks tea")
        for record in (await look(provider)).values():
            made(record)
        before = len(made)
        await change(other if by_another_process else provider, drink)
        assert "Anna drinks tea" not in {record.text for record in (await look(provider)).values()}
        assert (before, len(made)) == (2, 1)


@ways_to_look
async def test_the_same_records_are_answered_with_while_nothing_is_written(
    tmp_path: Path, scheme: str, look: Look
) -> None:
    async with opened(STORES[scheme](tmp_path)) as provider:
        await write(provider, "drink", "Anna drinks tea")
        first = (await look(provider))["drink"]
        assert (await look(provider))["drink"] is first


async def test_what_search_found_is_listed_without_decoding_it_again(tmp_path: Path) -> None:
    async with opened(STORES["sqlite"](tmp_path)) as provider:
        await write(provider, "drink", "Anna drinks tea")
        first = (await found(provider))["drink"]
        assert (await listed(provider))["drink"] is first


async def test_what_is_forgotten_is_kept_by_neither_of_search_and_listing(tmp_path: Path) -> None:
    """Also where one of them looked before the other did."""
    made = Derived[MemoryRecord, str](line)
    async with opened(STORES["sqlite"](tmp_path)) as provider:
        drink, _ = await write(provider, "drink", "Anna drinks tea"), await write(provider, "guest", "Ben drinks tea")
        for look in (listed, found, listed):
            for record in (await look(provider)).values():
                made(record)
        await forget(provider, drink)
        for look in (found, listed):
            await look(provider)
        assert set(map(made, (await listed(provider)).values())) == {"- Ben drinks tea"}
        assert len(made) == 1


@pytest.mark.parametrize("scheme", SHARED)
async def test_signals_tell_nothing_of_what_is_forgotten(tmp_path: Path, scheme: str) -> None:
    """Whoever held it answers as one who never did."""
    store = STORES[scheme](tmp_path)
    origin = MemoryOrigin(author="agent")
    about = WriteRequest("actor:ann", "guest", "Ben drinks tea", origin, AT, subject="Ben")
    question = SearchRequest(("actor:ann",), "Who drinks tea?", 10, AT)
    async with opened(store) as provider, opened(store) as other:
        for number in range(9):
            await write(provider, f"guest {number}", "Anna drinks tea")
        ben = (await provider.write(about)).record
        assert "subject" in (await provider.search(question))[0].signals
        await forget(provider, ben)
        assert [hit.signals for hit in await provider.search(question)] == [
            hit.signals for hit in await other.search(question)
        ]


async def test_a_list_longer_than_any_digest_is_not_kept(tmp_path: Path) -> None:
    """A record takes about 3 KB."""
    async with opened(STORES["sqlite"](tmp_path)) as provider:
        origin = MemoryOrigin(author="agent")
        await provider.write_many([WriteRequest("a", f"key {number}", "tea", origin, AT) for number in range(2_500)])
        listing = await provider.list(ListRequest(("a",), limit=2_500))
        alive = [ref(record) for record in listing.records]
        listing = await provider.list(ListRequest(("a",), limit=1))
        gc.collect()
        assert (len(alive), sum(seen() is not None for seen in alive), len(listing.records)) == (2_500, 0, 1)


@ways_to_look
async def test_looks_at_once_see_every_write_that_was_answered_before(tmp_path: Path, scheme: str, look: Look) -> None:
    """Small scopes are ranked in the event loop, large ones in a thread: both from one cache, up to date."""
    store = STORES[scheme](tmp_path)
    missed: list[str] = []

    async def write_and_look(writer: EveryGroup, reader: EveryGroup, name: str) -> None:
        for number in range(20):
            text = f"{name} drinks tea, for the {number}th time"
            await write(writer, name, text)
            if (await look(reader))[name].text != text:
                missed.append(text)

    async with opened(store) as provider, opened(store) as other, anyio.create_task_group() as tasks:
        tasks.start_soon(write_and_look, provider, provider, "Anna")
        tasks.start_soon(write_and_look, provider, other, "Ben")
        tasks.start_soon(write_and_look, other, provider, "Carla")
    assert missed == []


@pytest.mark.parametrize("scheme", SHARED)
async def test_whoever_searches_while_others_write_is_given_whole_answers(tmp_path: Path, scheme: str) -> None:
    """Of every key the version that was written before the question, or a later one."""
    store = STORES[scheme](tmp_path)
    names = [f"guest {number}" for number in range(8)]
    written = dict.fromkeys(names, 0)
    wrong: list[str] = []
    writers = 2

    async def replace_all(writer: EveryGroup, own: Sequence[str]) -> None:
        nonlocal writers
        for number in range(1, 16):
            for name in own:
                await write(writer, name, f"{name} drinks tea, for the {number}th time")
                written[name] = number
        writers -= 1

    async def look(reader: EveryGroup) -> None:
        while writers:
            least = dict(written)
            records = await found(reader)
            wrong.extend(name for name in names if records[name].version <= least[name])
            await anyio.lowlevel.checkpoint()

    async with opened(store) as provider, opened(store) as other:
        for name in names:
            await write(provider, name, f"{name} drinks tea")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(replace_all, provider, names[:4])
            tasks.start_soon(replace_all, other, names[4:])
            for reader in (provider, provider, other):
                tasks.start_soon(look, reader)
    assert wrong == []


@pytest.mark.parametrize("scheme", SHARED)
async def test_a_pin_of_another_process_brings_its_record_along_at_once(tmp_path: Path, scheme: str) -> None:
    store = STORES[scheme](tmp_path)
    async with opened(store) as provider, opened(store) as other:
        await write(provider, "drink", "Anna drinks tea")
        office = await write(provider, "office", "Room 12", "global")
        for pinned in (True, False):
            await found(provider)
            await other.pin(PinRequest("global", office.id, pinned, AT))
            assert ("office" in await found(provider)) == pinned


async def test_a_search_waits_for_nobody_who_holds_the_write_lock(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with opened(STORES["sqlite"](tmp_path)) as provider:
        await write(provider, "drink", "Anna drinks tea")
        await found(provider)
        with closing(sqlite3.connect(path, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            with anyio.fail_after(4):  # less than the busy timeout
                assert "drink" in await found(provider)
            holder.execute("ROLLBACK")


async def test_after_a_few_writes_a_search_waits_for_no_reader_either(tmp_path: Path) -> None:
    """A few rows are read where they are ranked; many are left to the reading thread."""
    store = STORES["sqlite"](tmp_path)
    async with opened(store) as provider, opened(store) as other, anyio.create_task_group() as tasks:
        assert isinstance(provider, SqliteProvider)
        database = provider._database  # pyright: ignore[reportPrivateUsage]
        await write(provider, "drink", "Anna drinks tea")
        await found(provider)
        reading, let_go = threading.Event(), threading.Event()

        def read(_: sqlite3.Connection) -> None:
            reading.set()
            let_go.wait(60)

        tasks.start_soon(database.read, read)
        await anyio.to_thread.run_sync(reading.wait, 30)
        try:
            for number in range(8):
                await write(other, f"guest {number}", "Anna drinks tea")
            with anyio.fail_after(10):
                assert len(await found(provider)) == 9
            for number in range(9):
                await write(other, f"guest {number}", "Anna drinks coffee")
            with anyio.move_on_after(0.5) as waited:
                await found(provider)
            assert waited.cancelled_caught
        finally:
            let_go.set()
