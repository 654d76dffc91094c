"""What search keeps in memory of a scope is let go of at the next search after a write, of whichever process."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from mcp_memory_server.derived import Derived
from mcp_memory_server.providers.base import ForgetRequest, SearchRequest, WriteRequest
from mcp_memory_server.providers.sqlite import SqliteProvider, open_sqlite
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

AT = "2026-03-01T09:00:00.000Z"

Change = Callable[[SqliteProvider, MemoryRecord], Awaitable[object]]


async def write(provider: SqliteProvider, key: str, text: str) -> MemoryRecord:
    request = WriteRequest("actor:ann", key, text, MemoryOrigin(author="agent"), AT)
    return (await provider.write(request)).record


async def replace(provider: SqliteProvider, record: MemoryRecord) -> object:
    return await write(provider, record.key, "Anna gave up tea")


async def forget(provider: SqliteProvider, record: MemoryRecord) -> object:
    return await provider.forget(ForgetRequest(record.scope, record.id, by="ann", at=AT))


def line(record: MemoryRecord) -> str:
    return f"- {record.text}"


async def found(provider: SqliteProvider) -> dict[str, MemoryRecord]:
    hits = await provider.search(SearchRequest(("actor:ann", "global"), "Who drinks tea?", 10, AT))
    return {hit.record.key: hit.record for hit in hits}


@pytest.mark.parametrize("change", [replace, forget])
@pytest.mark.parametrize("by_another_process", [False, True])
async def test_what_was_made_of_a_record_goes_with_it(tmp_path: Path, change: Change, by_another_process: bool) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    made = Derived[MemoryRecord, str](line)
    async with open_sqlite(url) as provider, open_sqlite(url) as other:
        drink, _ = await write(provider, "drink", "Anna drinks tea"), await write(provider, "guest", "Ben drinks tea")
        for record in (await found(provider)).values():
            made(record)
        before = len(made)
        await change(other if by_another_process else provider, drink)
        assert "Anna drinks tea" not in {record.text for record in (await found(provider)).values()}
        assert (before, len(made)) == (2, 1)


async def test_the_same_records_are_answered_with_while_nothing_is_written(tmp_path: Path) -> None:
    async with open_sqlite(f"sqlite:///{tmp_path / 'memory.db'}") as provider:
        await write(provider, "drink", "Anna drinks tea")
        first = (await found(provider))["drink"]
        assert (await found(provider))["drink"] is first


async def test_searches_at_once_see_every_write_that_was_answered_before(tmp_path: Path) -> None:
    """Small scopes are ranked in the event loop, large ones in the store's thread: both from one cache, up to date."""
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    missed: list[str] = []

    async def write_and_look(writer: SqliteProvider, reader: SqliteProvider, name: str) -> None:
        for number in range(20):
            text = f"{name} drinks tea, for the {number}th time"
            await write(writer, name, text)
            if (await found(reader))[name].text != text:
                missed.append(text)

    async with open_sqlite(url) as provider, open_sqlite(url) as other, anyio.create_task_group() as tasks:
        tasks.start_soon(write_and_look, provider, provider, "Anna")
        tasks.start_soon(write_and_look, provider, other, "Ben")
        tasks.start_soon(write_and_look, other, provider, "Carla")
    assert missed == []


async def test_a_search_waits_for_nobody_who_holds_the_write_lock(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with open_sqlite(f"sqlite:///{path}") as provider:
        await write(provider, "drink", "Anna drinks tea")
        await found(provider)
        with closing(sqlite3.connect(path, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            with anyio.fail_after(4):  # less than the busy timeout
                assert "drink" in await found(provider)
            holder.execute("ROLLBACK")
