"""What conversations were shown, beside erasures that run at the same time."""

from __future__ import annotations

import anyio

from mcp_memory_server.providers.base import PruneRequest, Surfaced, SurfacedLookup, SurfaceRequest
from mcp_memory_server.providers.contract.samples import ANN, EVERYONE, minute, remember
from mcp_memory_server.providers.postgres import open_postgres, surfacing
from mcp_memory_server.providers.postgres.connection import Database, Transaction
from mcp_memory_server.providers.postgres.names import place_of
from tests.providers.postgres_server import fetch, fresh_store


async def test_a_record_that_is_being_erased_is_not_added_again() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider, open_postgres(store.url) as other:
        record = await remember(provider, "office", "Lyon")
        database: Database = other._database  # pyright: ignore[reportPrivateUsage]
        erased, added, done = anyio.Event(), anyio.Event(), anyio.Event()

        async def erase(db: Transaction) -> None:
            await db.run("DELETE FROM memory WHERE scope_id = $1 AND id = $2", place_of(ANN), record.id)
            await surfacing.drop(db, place_of(ANN), [record.id])
            erased.set()
            await done.wait()

        async def add() -> None:
            await erased.wait()
            await provider.surface(SurfaceRequest("ann", "c", minute(1), [Surfaced(ANN, record.id, 1)]))
            added.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(database.write, [place_of(ANN)], erase)
            tasks.start_soon(add)
            with anyio.move_on_after(0.5):  # it waits for the erasure; if it did not, it would be through by then
                await added.wait()
            done.set()
    assert fetch(store.admin_url, "SELECT count(*) FROM mcp_memory.surfaced")[0][0] == 0


async def test_a_dropped_conversation_leaves_no_row_at_any_scope() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        held = [await remember(provider, "office", "Lyon", scope) for scope in (ANN, EVERYONE)]
        for conversation in ("first", "second"):
            shown = [Surfaced(record.scope, record.id, 1) for record in held]
            await provider.surface(SurfaceRequest("ann", conversation, minute(1), shown))
        await provider.surface(SurfaceRequest("ann", "second", minute(2), []))
        assert await provider.prune_surfaced(PruneRequest(minute(2), keep=9)) == 1
        assert len(await provider.surfaced(SurfacedLookup("ann", "second"))) == 2
    rows = fetch(store.admin_url, "SELECT conversation, count(*) FROM mcp_memory.surfaced GROUP BY conversation")
    assert [tuple(row) for row in rows] == [("second", 2)]
