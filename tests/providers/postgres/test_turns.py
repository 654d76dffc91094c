"""Writers of scopes: how they queue, and what it takes to write much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
import pytest

from mcp_memory_server.providers.base import (
    ForgetRequest,
    PinRequest,
    RestoreRequest,
    ReviseRequest,
    SettleRequest,
    WriteRequest,
)
from mcp_memory_server.providers.contract.samples import ANN, BOB, listed, minute, raw_record, remember, writing
from mcp_memory_server.providers.postgres import PostgresProvider, open_postgres
from mcp_memory_server.providers.postgres.transaction import Transaction
from tests.providers.postgres_server import fetch, fresh_store


async def test_writers_of_several_scopes_never_wait_in_a_circle() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:

        async def write(writer: int, scopes: Sequence[str]) -> None:
            for number in range(10):
                key = f"{writer} {number}"
                await provider.write_many([writing(key, "text", scope) for scope in scopes])

        async with anyio.create_task_group() as tasks:
            for writer in range(6):
                scopes = [f"team:{(writer + step) % 6}" for step in range(6)]
                tasks.start_soon(write, writer, scopes if writer % 2 else scopes[::-1])
        assert len((await listed(provider, *[f"team:{number}" for number in range(6)])).records) == 360
    deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert fetch(store.admin_url, deadlocks)[0][0] == 0


async def test_writers_of_one_key_follow_one_another() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as first, open_postgres(store.url) as second:
        versions: list[int] = []

        async def write(provider: PostgresProvider, writer: int) -> None:
            for number in range(10):
                written = await provider.write(writing("key", f"{writer} says {number}"))
                versions.append(written.record.version)

        async with anyio.create_task_group() as tasks:
            for writer in range(6):
                tasks.start_soon(write, (first, second)[writer % 2], writer)
        assert sorted(versions) == list(range(1, 61))


async def test_an_id_is_taken_in_once_by_all_who_restore_it_at_the_same_time() -> None:
    """An id is that of one record in the whole store, which no constraint of a table split by scope can hold."""
    store = fresh_store()
    scopes = [f"team:{number}" for number in range(6)]
    async with open_postgres(store.url) as provider:
        for round in range(5):
            async with anyio.create_task_group() as tasks:
                for scope in scopes:
                    taken = raw_record(f"id-{round}", f"key {round}", f"of {scope}", scope)
                    tasks.start_soon(provider.restore, RestoreRequest(((taken,),), minute(30)))
            held = (await listed(provider, *scopes)).records
            assert Counter(record.id for record in held) == {f"id-{done}": 1 for done in range(round + 1)}


@pytest.mark.parametrize("known", [False, True])
async def test_writing_and_restoring_much_takes_no_more_statements_than_a_little(
    monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    asked: list[str] = []

    def counting(name: str) -> None:
        ask: Callable[..., Awaitable[Any]] = getattr(Transaction, name)

        async def counted(self: Transaction, query: str, *values: Any) -> Any:
            asked.append(query)
            return await ask(self, query, *values)

        monkeypatch.setattr(Transaction, name, counted)

    for name in ("rows", "row", "value", "run", "run_many"):
        counting(name)

    async def count(act: Awaitable[object]) -> int:
        asked.clear()
        await act
        return len(asked)

    def records(many: int, text: str) -> RestoreRequest:
        versions = [
            tuple(raw_record(f"{many} {n}", f"{many} {n}", text, version=version, subject=text) for version in (1, 2))
            for n in range(many)
        ]
        return RestoreRequest(tuple(versions), minute(30))

    def writes(many: int, text: str) -> list[WriteRequest]:
        return [writing(f"{many} {n}", text, subject=text) for n in range(many)]

    async with open_postgres(fresh_store().url) as provider:
        for many in (10, 300) if known else ():
            await provider.restore(records(many, "old"))
        assert await count(provider.write_many(writes(10, "new"))) == await count(
            provider.write_many(writes(300, "new"))
        )
        assert await count(provider.restore(records(10, "newer"))) == await count(
            provider.restore(records(300, "newer"))
        )


async def test_a_question_about_a_scope_that_holds_nothing_leaves_nothing_behind() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        unknown = raw_record("no-such-id", "key", "text", BOB)
        assert await provider.pin(PinRequest(BOB, "no-such-id", pinned=True, at=minute(1))) is None
        assert await provider.forget(ForgetRequest(BOB, "no-such-id", by="bob", at=minute(1))) is None
        assert await provider.revise(ReviseRequest(unknown, minute(1))) is None
        assert await provider.settle(SettleRequest(BOB, "no-such-id", "reject", minute(1), "bob")) is None
        await remember(provider, "key", "text", ANN)
    assert [row[0] for row in fetch(store.admin_url, "SELECT token FROM mcp_memory.scope")] == [ANN]
