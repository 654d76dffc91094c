"""The store's file is exchanged or removed while it is open."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from mcp_memory_server.providers.base import ChangeBatch, ForgetRequest, ListRequest, SearchRequest, WriteRequest
from mcp_memory_server.providers.sqlite import SqliteProvider, open_sqlite
from mcp_memory_server.records import MemoryOrigin

AT = "2026-03-01T09:00:00.000Z"


async def write(provider: SqliteProvider, key: str) -> str:
    request = WriteRequest("actor:ann", key, f"The fact of {key}", MemoryOrigin(author="agent"), AT)
    return (await provider.write(request)).record.id


def set_aside(folder: Path) -> bytes:
    """The bytes of everything that is kept only until something is forgotten."""
    return b"".join(file.read_bytes() for file in folder.glob("memory.db.corrupt-*"))


async def keys(provider: SqliteProvider) -> set[str]:
    return {record.key for record in (await provider.list(ListRequest(("actor:ann",)))).records}


async def listed(provider: SqliteProvider) -> set[str]:
    return {record.key for record in (await provider.list(ListRequest(("actor:ann",), limit=9))).records}


async def found(provider: SqliteProvider) -> set[str]:
    return {hit.record.key for hit in await provider.search(SearchRequest(("actor:ann",), "Which fact?", 9, AT))}


async def test_a_backup_moved_over_an_open_store_is_what_is_there_afterwards(tmp_path: Path) -> None:
    path, backup = tmp_path / "memory.db", tmp_path / "backup.db"
    async with open_sqlite(f"sqlite:///{backup}") as provider:
        for number in range(30):
            await write(provider, f"backed-up-{number}")
    async with open_sqlite(f"sqlite:///{path}") as provider:
        for number in range(20):  # they stand in the log: nothing has folded it in yet
            await write(provider, f"lost-{number}")
        shutil.move(backup, path)
        assert await keys(provider) == {f"backed-up-{number}" for number in range(30)}
        await write(provider, "after")
    async with open_sqlite(f"sqlite:///{path}") as provider:
        assert await keys(provider) == {"after", *(f"backed-up-{number}" for number in range(30))}


@pytest.mark.parametrize("look", [found, listed])
async def test_nothing_is_answered_out_of_what_was_held_of_the_store_that_stood_there(
    tmp_path: Path, look: Callable[[SqliteProvider], Awaitable[set[str]]]
) -> None:
    """Both scopes are at the same generation, and their records have the same numbers."""
    path, backup = tmp_path / "memory.db", tmp_path / "backup.db"
    async with open_sqlite(f"sqlite:///{backup}") as provider:
        await write(provider, "backed-up")
    async with open_sqlite(f"sqlite:///{path}") as provider:
        await write(provider, "lost")
        assert await look(provider) == {"lost"}
        shutil.move(backup, path)
        assert await look(provider) == {"backed-up"}


async def test_a_cursor_of_the_store_that_stood_there_is_told_a_gap_once(tmp_path: Path) -> None:
    path, backup = tmp_path / "memory.db", tmp_path / "backup.db"
    async with open_sqlite(f"sqlite:///{backup}") as provider:
        for number in range(3):
            await write(provider, f"backed-up-{number}")
    async with open_sqlite(f"sqlite:///{path}") as provider:
        await write(provider, "lost")
        cursor = (await provider.changes(None)).cursor
        shutil.move(backup, path)
        batch = await provider.changes(cursor)
        assert batch.gap
        assert await provider.changes(batch.cursor) == ChangeBatch(batch.cursor, ())


async def test_all_who_have_the_new_store_open_know_one_secret(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with open_sqlite(f"sqlite:///{path}") as provider:
        before = await provider.journal_secret()
        path.unlink()
        await keys(provider)
        async with open_sqlite(f"sqlite:///{path}") as other:
            assert before != await provider.journal_secret() == await other.journal_secret()


async def test_the_log_of_an_exchanged_store_is_kept_until_something_is_forgotten(tmp_path: Path) -> None:
    path, backup = tmp_path / "memory.db", tmp_path / "backup.db"
    async with open_sqlite(f"sqlite:///{backup}") as provider:
        kept = await write(provider, "backed-up")
    async with open_sqlite(f"sqlite:///{path}") as provider:
        await write(provider, "in-the-log")
        shutil.move(backup, path)
        await keys(provider)
        assert b"The fact of in-the-log" in set_aside(tmp_path)
        await provider.forget(ForgetRequest("actor:ann", kept, by="ann", at=AT))
        assert not set_aside(tmp_path)


async def test_a_removed_store_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with open_sqlite(f"sqlite:///{path}") as provider:
        await write(provider, "gone")
        path.unlink()
        assert await keys(provider) == set()
        await write(provider, "new")
        assert await keys(provider) == {"new"}
