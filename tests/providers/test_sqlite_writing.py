"""What a write puts into the file, and the numbers that it gives."""

import sqlite3
from contextlib import closing
from pathlib import Path

from mcp_memory_server.providers.base import (
    ForgetRequest,
    RecordVectors,
    SearchRequest,
    VectorsWrite,
    VersionRef,
    WriteRequest,
)
from mcp_memory_server.providers.sqlite import SqliteProvider, open_sqlite
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

AT = "2026-03-01T09:00:00.000Z"
FRAME_BYTES = 24 + 4096
"""Of the log: a header and a page."""


async def write(provider: SqliteProvider, key: str, text: str = "Ann drinks tea", scope: str = "a") -> MemoryRecord:
    return (await provider.write(WriteRequest(scope, key, text, MemoryOrigin(author="agent"), AT))).record


async def embed(provider: SqliteProvider, record: MemoryRecord) -> None:
    vectors = RecordVectors(record.scope, VersionRef(record.id, record.version), bytes(8))
    await provider.put_vectors(VectorsWrite("some-embedder", (vectors,)))


def numbers(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as db:
        return [number for (number,) in db.execute("SELECT number FROM memory ORDER BY number")]


def is_vector_index_there(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as db:
        plan = db.execute("EXPLAIN QUERY PLAN SELECT number FROM signature WHERE embedder IS NULL").fetchall()
    return "INDEX" in plan[0][3]


async def test_a_write_puts_eight_pages_into_the_log(tmp_path: Path) -> None:
    """Each costs a durable write more than a statement does."""
    path = tmp_path / "memory.db"
    log = path.with_name("memory.db-wal")
    async with open_sqlite(f"sqlite:///{path}") as provider:
        for number in range(5):
            await write(provider, f"key {number}")
        await provider.examine()  # nothing waits to be signed, which would put its pages into the log too
        before = log.stat().st_size
        await write(provider, "key 5")
        assert (log.stat().st_size - before) / FRAME_BYTES <= 8


async def test_the_number_of_a_forgotten_record_is_given_to_no_other(tmp_path: Path) -> None:
    """Caches of other processes go by it, also by that of the newest."""
    path = tmp_path / "memory.db"
    async with open_sqlite(f"sqlite:///{path}") as provider, open_sqlite(f"sqlite:///{path}") as other:
        await write(provider, "first")
        record = await write(provider, "drink")
        given = set(numbers(path))
        assert len(await other.search(SearchRequest(("a",), "Who drinks tea?", 5, AT))) == 2
        await provider.forget(ForgetRequest("a", record.id, "ann", AT))
        await write(provider, "guest", "Ben drinks tea", scope="b")
        assert len(given | set(numbers(path))) == 3
        assert [hit.record.key for hit in await other.search(SearchRequest(("a",), "Who drinks tea?", 5, AT))] == [
            "first"
        ]


async def test_what_lacks_vectors_is_found_by_index_once_any_record_has_some(tmp_path: Path) -> None:
    """Without an embedder no write pays for it."""
    path = tmp_path / "memory.db"
    async with open_sqlite(f"sqlite:///{path}") as provider:
        first = await write(provider, "first")
        await write(provider, "second")
        assert not is_vector_index_there(path)
        await embed(provider, first)
        assert is_vector_index_there(path)
        assert [record.key for record in await provider.unembedded("some-embedder", 9)] == ["second"]
        assert (await provider.examine()).faults == ()
