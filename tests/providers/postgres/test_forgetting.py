"""What becomes of an erasure in a Postgres store when its tables cannot be rewritten at once; where else bytes go."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import pytest

from mcp_memory_server.providers.base import ForgetRequest, Forgotten, RestoreRequest
from mcp_memory_server.providers.contract.samples import ANN, BOB, listed, minute, question, remember, texts
from mcp_memory_server.providers.migrating import MigrationRequest
from mcp_memory_server.providers.postgres import PostgresProvider, forgetting, migrate, open_postgres
from mcp_memory_server.providers.postgres.connection import Limits, open_database
from mcp_memory_server.providers.postgres.forgetting import Rewriting
from mcp_memory_server.records import MemoryRecord
from tests.providers.postgres_server import StoreUrls, cluster, files_of, fresh_store, run, with_connection

SECRET: Final = "xylocarp"
_driver: Any = asyncpg  # it has no types

OTHERS_WORK: Final = {
    "reads on": "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM mcp_memory.memory",
    "holds the tables": "BEGIN; LOCK TABLE mcp_memory.memory IN ACCESS SHARE MODE",
    "rewrites them": f"SELECT pg_advisory_lock({forgetting._LOCK})",  # pyright: ignore[reportPrivateUsage]
}


@asynccontextmanager
async def somebody(url: str, work: str) -> AsyncGenerator[None]:
    """Another connection in the midst of its work."""
    connection = await _driver.connect(url)
    try:
        await connection.execute(work)
        yield
    finally:
        await connection.close()


async def forget(provider: PostgresProvider, record: MemoryRecord) -> Forgotten:
    forgotten = await provider.forget(ForgetRequest(record.scope, record.id, by="ann", at=minute(9)))
    assert forgotten is not None
    return forgotten


async def complete(url: str) -> tuple[Rewriting, ...]:
    """As an examination does it."""
    async with open_database(url, Limits()) as database:
        return await forgetting.complete(database)


def is_in_files(store: StoreUrls) -> bool:
    run(store.admin_url, "CHECKPOINT")  # what is in the server's memory alone would get to the files in time
    return any(SECRET.encode() in path.read_bytes() for path in files_of(store))


@pytest.mark.parametrize("work", OTHERS_WORK)
async def test_it_waits_while_somebody_else_is_in_the_way_and_is_completed_afterwards(work: str) -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        gone = await remember(provider, "key", SECRET)
        kept = await remember(provider, "other", "stays")
        async with somebody(store.admin_url, OTHERS_WORK[work]):
            assert (await forget(provider, gone)).erasure == "pending"
            assert (await listed(provider)).records == (kept,)
            assert (await provider.stats([ANN])).pending_erasures == 1
            assert is_in_files(store)
        assert await complete(store.url) == ()
        assert (await provider.stats([ANN])).pending_erasures == 0
        assert not is_in_files(store)
        assert (await listed(provider)).records == (kept,)


async def test_whoever_is_open_completes_it_before_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that answered "pending" may be gone for good."""
    monkeypatch.setattr(forgetting, "_ERASE_EVERY_S", 0.02)
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        gone = await remember(provider, "key", SECRET)
        async with somebody(store.admin_url, OTHERS_WORK["reads on"]):
            assert (await forget(provider, gone)).erasure == "pending"
    async with open_postgres(store.url) as provider:
        with anyio.fail_after(30):
            while (await provider.stats([ANN])).pending_erasures:  # noqa: ASYNC110  # it happens in the database
                await anyio.sleep(0.02)
    assert not is_in_files(store)


async def test_large_partitions_are_left_to_an_examination(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "_AT_ONCE_BYTES", 1)
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        for scope in (ANN, BOB):
            gone = await remember(provider, "key", SECRET, scope)
            assert (await forget(provider, gone)).erasure == "pending"
        assert (await provider.stats([ANN, BOB])).pending_erasures == 2
        assert await complete(store.url) == ()
        assert (await provider.stats([ANN, BOB])).pending_erasures == 0
    assert not is_in_files(store)


async def test_a_role_that_may_not_rewrite_leaves_it_to_one_that_may() -> None:
    store = fresh_store()
    run(store.admin_url, f"REVOKE MAINTAIN ON ALL TABLES IN SCHEMA mcp_memory FROM {cluster().role}")
    async with open_postgres(store.url) as provider:
        gone = await remember(provider, "key", SECRET)
        assert (await forget(provider, gone)).erasure == "pending"
    assert await complete(store.url) == (Rewriting.REFUSED,)
    assert await complete(store.admin_url) == ()
    assert not is_in_files(store)


async def test_one_rewrite_is_for_all_who_wait_for_it() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as first, open_postgres(store.url) as second:
        gone = [await remember(first, f"key {number}", SECRET) for number in range(6)]
        answers: list[str] = []

        async def take(provider: PostgresProvider, record: MemoryRecord) -> None:
            answers.append((await forget(provider, record)).erasure)

        async with anyio.create_task_group() as tasks:
            for number, record in enumerate(gone):
                tasks.start_soon(take, (first, second)[number % 2], record)
        if "pending" in answers:  # a slow machine ran out of patience
            assert await complete(store.url) == ()
        assert len(answers) == 6
        assert (await first.stats([ANN])).pending_erasures == 0
    assert not is_in_files(store)


async def test_what_a_restore_replaced_leaves_its_scope_s_tables_too() -> None:
    """Once it is erased nobody knows any more where else it was."""
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        for number in range(8):  # over both partitions
            moved = await remember(provider, f"key {number}", SECRET, f"team:{number}")
            taken = moved.model_copy(update={"scope": ANN, "text": "nothing"})
            assert await provider.restore(RestoreRequest(((taken,),), minute(2))) == 1
        assert (await provider.stats([ANN])).pending_erasures == 0
    assert not is_in_files(store)


async def test_a_record_that_is_restored_in_its_place_is_found_by_its_new_words_alone() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        held = await remember(provider, "key", "the old tower")
        await remember(provider, "other", "something else")
        assert [hit.record for hit in await provider.search(question("tower"))] == [held]
        for number, text in enumerate(("the new bridge", "a bridge of stone"), start=2):
            taken = held.model_copy(update={"text": text, "version": number})
            await provider.restore(RestoreRequest(((taken,),), minute(3)))
            assert [hit.record for hit in await provider.search(question("bridge"))] == [taken]
            assert await provider.search(question("tower")) == ()
        waiting = held.model_copy(update={"text": "bridge", "version": 9, "status": "quarantined"})
        await provider.restore(RestoreRequest(((waiting,),), minute(4)))
        assert await provider.search(question("bridge")) == ()


async def test_statistics_hold_nothing_of_a_record() -> None:
    """ANALYZE, which autovacuum runs by itself, would copy the commonest values into the catalogue."""
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        gone = [
            await remember(provider, f"key of {SECRET} {number}", SECRET, tags=(SECRET,), subject=SECRET)
            for number in range(4)
        ]
        gone[0] = await remember(provider, gone[0].key, f"{SECRET} anew", at=1)
        run(store.admin_url, "ANALYZE")
        for record in gone:
            assert (await forget(provider, record)).erasure == "done"
    assert not is_in_files(store)


async def test_tables_without_partitions_are_rewritten_whole() -> None:
    store = cluster().blank()
    wanted = MigrationRequest(partitions=0, server_role=cluster().role)
    with_connection(store.admin_url, lambda connection: migrate.migrate(connection, wanted))
    async with open_postgres(store.url) as provider:
        gone = await remember(provider, "key", SECRET)
        await remember(provider, "key", "ours", BOB)
        assert (await forget(provider, gone)).erasure == "done"
        assert texts((await listed(provider, ANN, BOB)).records) == ["ours"]
    assert not is_in_files(store)
