"""Stores that earlier releases left: another schema, another form of the ranking signatures."""

import sqlite3
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from mcp_memory_server.providers.base import (
    EntityRequest,
    ForgetRequest,
    ListRequest,
    MentionRequest,
    PinRequest,
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
from mcp_memory_server.records import MemoryOrigin, MemoryRecord, WorkingBlock

AT = "2026-01-01T00:00:00.000Z"
ORIGIN = MemoryOrigin(author="human")
QUESTION = SearchRequest(("actor:ann",), "Where does Ann work?", 5, AT)


def fact(id: str, key: str, **fields: Any) -> MemoryRecord:
    held: dict[str, Any] = {"text": "Ann works in Lyon.", "scope": "actor:ann", "origin": ORIGIN, "updated_at": AT}
    return MemoryRecord(id=id, key=key, **(held | fields))


def leave_first_schema(path: Path, *further: MemoryRecord) -> MemoryRecord:
    """A store as the first release left it: no tables or columns for vectors. Its first fact, which is signed."""
    record = fact("fact-1", "office")
    sql = resources.files("mcp_memory_server.providers.sqlite") / "migrations" / "0001_initial.sql"
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(sql.read_text("utf-8"))
        db.execute("CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)")
        db.execute("INSERT INTO migration VALUES (1, '0001_initial', ?)", (AT,))
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("INSERT INTO scope VALUES (1, 'actor:ann', 1)")
        places = ", ".join("?" * len(RECORD_COLUMNS))
        db.executemany(
            f"INSERT INTO memory (number, scope_id, {', '.join(RECORD_COLUMNS)}) VALUES (?, 1, {places})",
            [(number, *record_values(held)) for number, held in enumerate((record, *further), start=1)],
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


async def test_records_of_the_first_schema_come_to_stand_in_their_lanes(tmp_path: Path) -> None:
    """What waited for review holds its key no more; the one for a thread stands beside the one for everywhere."""
    path = tmp_path / "memory.db"
    waiting = fact("fact-2", "phone", status="quarantined", pinned=True)
    for_thread = fact("fact-3", "tone", kind="session", origin=MemoryOrigin(author="agent", thread_id="t1"))
    leave_first_schema(path, waiting, for_thread)
    async with open_sqlite(f"sqlite:///{path}") as provider:
        for key, text in (("phone", "+33"), ("tone", "brief")):
            assert (await provider.write(WriteRequest("actor:ann", key, text, ORIGIN, AT))).status == "stored"
        in_thread = MemoryOrigin(author="agent", thread_id="t1")
        again = await provider.write(WriteRequest("actor:ann", "tone", "long", in_thread, AT, kind="session"))
        assert (again.status, again.record.id) == ("replaced", "fact-3")
        assert (await provider.list(ListRequest(("actor:ann",), statuses=("quarantined",)))).records == (waiting,)


async def test_a_working_block_of_the_first_schema_comes_along(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    working = WorkingBlock(value="ship it", char_limit=99)
    blocks = [fact(id, id, text="ship it", kind="working", working=working, pinned=id == "b") for id in ("a", "b")]
    leave_first_schema(path, *blocks)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE memory SET pinned = pinned & 1")  # as that release wrote it
    async with open_sqlite(f"sqlite:///{path}") as provider:
        listing = await provider.list(ListRequest(("actor:ann",), limit=2))
        assert sorted(listing.records, key=lambda record: record.id) == blocks
        assert (listing.pinned_keys, (await provider.stats(("actor:ann",))).pinned) == (2, 1)


async def test_a_pin_is_listed_by_all_also_of_a_record_that_search_has_nothing_of(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    leave_first_schema(path, fact("fact-2", "phone"))
    every = ListRequest(("actor:ann",), limit=9)
    async with open_sqlite(f"sqlite:///{path}") as provider, open_sqlite(f"sqlite:///{path}") as other:
        assert not any(record.pinned for record in (await other.list(every)).records)
        await provider.pin(PinRequest("actor:ann", "fact-2", pinned=True, at=AT))
        assert [record.id for record in (await other.list(every)).records if record.pinned] == ["fact-2"]


async def test_numbers_of_records_that_are_gone_stay_used_up(tmp_path: Path) -> None:
    """Caches of other processes go by them."""
    path = tmp_path / "memory.db"
    leave_first_schema(path, fact("fact-2", "phone"), fact("fact-3", "tone"))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM memory WHERE number > 1")
    async with open_sqlite(f"sqlite:///{path}") as provider:
        await provider.write(WriteRequest("actor:ann", "pet", "a cat", ORIGIN, AT))
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT number FROM memory ORDER BY number").fetchall() == [(1,), (4,)]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT token, id, generation FROM scope WHERE token IN ('actor:ann')",
        "INSERT INTO scope (token, generation) VALUES ('actor:ann', 1) "
        "ON CONFLICT (token) DO UPDATE SET generation = generation + 1 RETURNING id, generation",
    ],
)
async def test_an_earlier_release_that_has_the_store_open_neither_searches_nor_writes(
    tmp_path: Path, statement: str
) -> None:
    """It would go on answering with what was forgotten meanwhile, and give numbers again."""
    path = tmp_path / "memory.db"
    leave_first_schema(path)
    with closing(sqlite3.connect(path)) as earlier:
        assert earlier.execute(statement).fetchall()
        earlier.commit()
        async with open_sqlite(f"sqlite:///{path}"):
            with pytest.raises(sqlite3.OperationalError, match="generation"):
                earlier.execute(statement)


async def test_migrating_leaves_no_copy_of_a_text_that_is_forgotten_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    filler = [fact(f"fact-{n}", f"key {n}", text=f"ordinary fact {n} " * 20) for n in range(2, 200)]
    leave_first_schema(path, fact("secret", "phone", text="xylocarp"), *filler)
    async with open_sqlite(f"sqlite:///{path}") as provider:
        forgotten = await provider.forget(ForgetRequest("actor:ann", "secret", "ann", AT))
        assert forgotten is not None
        assert forgotten.erasure == "done"
        assert b"xylocarp" not in bytes_in(tmp_path)


def bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


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


async def test_signatures_of_an_earlier_form_are_encoded_anew_while_reading_and_stored_afterwards(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    await filled_with_old_signatures(path)
    async with open_sqlite(f"sqlite:///{path}") as provider:
        assert next(hit.record.key for hit in await provider.search(QUESTION)) == "office"
    assert signature_versions(path) == {SIGNATURE_VERSION}


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
        assert db.execute("SELECT generation FROM signature").fetchall() == [(1,)]


async def test_triples_of_an_earlier_schema_become_entities(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    employed = fact("fact-2", "employer", subject="Ann", object="ACME  Corp")
    private = fact("fact-3", "doctor", subject="Xylocarp", extraction="skip")
    leave_first_schema(path, employed, private, fact("fact-4", "city", subject="acme corp", object=""))
    async with open_sqlite(f"sqlite:///{path}") as provider:
        found = await provider.entities(EntityRequest(("actor:ann",)))
        assert [(entity.name, entity.aliases) for entity in found] == [("ACME  Corp", ("acme corp",)), ("Ann", ())]
        named = MentionRequest(("actor:ann",), (found[0].id,), limit=5)
        assert await provider.mentions(named) == ("fact-2", "fact-4")
        await provider.forget(ForgetRequest("actor:ann", "fact-2", "ann", AT))
        assert [entity.name for entity in await provider.entities(EntityRequest(("actor:ann",)))] == ["acme corp"]
