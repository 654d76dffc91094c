"""Stores that earlier releases left: another schema, another form of the ranking signatures."""

import sqlite3
from contextlib import closing
from importlib import resources
from pathlib import Path

from mcp_memory_server.providers.base import (
    RecordVectors,
    SearchRequest,
    VectorsWrite,
    VersionRef,
    WriteRequest,
)
from mcp_memory_server.providers.rows import RECORD_COLUMNS, record_values
from mcp_memory_server.providers.signatures import signature_of
from mcp_memory_server.providers.sqlite import open_sqlite
from mcp_memory_server.providers.sqlite.files import APPLICATION_ID
from mcp_memory_server.providers.sqlite.migrate import latest_version, schema_version
from mcp_memory_server.ranking import SIGNATURE_VERSION
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

AT = "2026-01-01T00:00:00.000Z"
ORIGIN = MemoryOrigin(author="human")
QUESTION = SearchRequest(("actor:ann",), "Where does Ann work?", 5, AT)


def leave_first_schema(path: Path) -> MemoryRecord:
    """A store with one fact, as the first release left it: no tables or columns for vectors."""
    record = MemoryRecord(
        id="fact-1", key="office", text="Ann works in Lyon.", scope="actor:ann", origin=ORIGIN, updated_at=AT
    )
    sql = resources.files("mcp_memory_server.providers.sqlite") / "migrations" / "0001_initial.sql"
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(sql.read_text("utf-8"))
        db.execute("CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)")
        db.execute("INSERT INTO migration VALUES (1, '0001_initial', ?)", (AT,))
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("INSERT INTO scope VALUES (1, 'actor:ann', 1)")
        places = ", ".join("?" * len(RECORD_COLUMNS))
        db.execute(
            f"INSERT INTO memory (number, scope_id, {', '.join(RECORD_COLUMNS)}) VALUES (1, 1, {places})",
            record_values(record),
        )
        db.execute("INSERT INTO signature VALUES (1, 1, 1, 'office', '', 0, ?)", (signature_of(record),))
    path.chmod(0o600)
    return record


async def test_a_store_of_the_first_schema_is_migrated_and_searched(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    record = leave_first_schema(path)
    async with open_sqlite(f"sqlite:///{path}") as provider:
        assert [hit.record for hit in await provider.search(QUESTION)] == [record]
        vectors = RecordVectors(record.scope, VersionRef(record.id, record.version), bytes(8))
        assert await provider.put_vectors(VectorsWrite("some-embedder", (vectors,))) == 1
        written = await provider.write(WriteRequest("actor:ann", "office", "Ann works in Brno.", ORIGIN, AT))
        assert (written.status, written.record.version) == ("replaced", 2)
        assert (await provider.examine()).faults == ()
    with closing(sqlite3.connect(path)) as db:
        assert schema_version(db) == latest_version()


def signature_versions(path: Path) -> set[int]:
    with closing(sqlite3.connect(path)) as db:
        return {lexical[0] for (lexical,) in db.execute("SELECT lexical FROM signature")}


async def filled_with_old_signatures(path: Path) -> None:
    async with open_sqlite(f"sqlite:///{path}") as provider:
        for key, text in {"office": "Ann works in Lyon.", "lunch": "Ann likes pho."}.items():
            written = await provider.write(WriteRequest("actor:ann", key, text, ORIGIN, AT))
            ref = VersionRef(written.record.id, written.record.version)
            await provider.put_vectors(VectorsWrite("some-embedder", (RecordVectors("actor:ann", ref, bytes(8)),)))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE signature SET lexical = x'00ffff'")


async def test_signatures_of_an_earlier_form_are_encoded_anew_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await filled_with_old_signatures(path)
    async with open_sqlite(f"sqlite:///{path}") as provider:
        assert next(hit.record.key for hit in await provider.search(QUESTION)) == "office"
    assert signature_versions(path) == {0}


async def test_examining_writes_signatures_of_an_earlier_form_anew_and_keeps_vectors(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await filled_with_old_signatures(path)
    async with open_sqlite(f"sqlite:///{path}") as provider:
        before = await provider.search(QUESTION)
        assert (await provider.examine()).faults == ()
        assert await provider.search(QUESTION) == before
        assert (await provider.count_vectors("some-embedder")).embedded == 2
    assert signature_versions(path) == {SIGNATURE_VERSION}


async def test_examining_makes_signatures_that_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    await filled_with_old_signatures(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM signature")
    async with open_sqlite(f"sqlite:///{path}") as provider:
        assert await provider.search(QUESTION) == ()
        await provider.examine()
        assert next(hit.record.key for hit in await provider.search(QUESTION)) == "office"


async def test_a_sound_store_is_left_alone_by_examining(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with open_sqlite(f"sqlite:///{path}") as provider:
        await provider.write(WriteRequest("actor:ann", "office", "Ann works in Lyon.", ORIGIN, AT))
        before = await provider.changes(None)
        await provider.examine()
        assert await provider.changes(before.cursor) == before
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT generation FROM scope").fetchall() == [(1,)]
