"""Merges that several servers make at the same time."""

from __future__ import annotations

import anyio

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import EntityRequest, LedgerRequest, MergeRequest
from mcp_memory_server.providers.contract.samples import ANN, minute, remember
from mcp_memory_server.providers.postgres import PostgresProvider, open_postgres
from tests.providers.postgres_server import fresh_store


async def test_two_servers_that_merge_both_ways_make_no_circle() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as one, open_postgres(store.url) as other:
        for number in range(10):
            await remember(one, "triple", "text", at=number, subject=f"A{number}", predicate="is", object=f"B{number}")
            names = (f"A{number}", f"B{number}")
            first, second = await one.entities(EntityRequest((ANN,), names=names))
            refused: list[InvalidInput] = []

            async def merge(provider: PostgresProvider, source: str, target: str, refused: list[InvalidInput]) -> None:
                try:
                    await provider.merge(MergeRequest(ANN, source, target, "ann", minute(1)))
                except InvalidInput as error:
                    refused.append(error)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(merge, one, first.id, second.id, refused)
                tasks.start_soon(merge, other, second.id, first.id, refused)
            assert len(refused) == 1
        assert len(await one.merges(LedgerRequest((ANN,)))) == 10
