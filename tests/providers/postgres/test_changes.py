"""The change feed between servers: what was acknowledged to one is heard by the others, or said to be missed."""

from __future__ import annotations

from typing import Final

import anyio
import pytest

from mcp_memory_server.providers.base import Change
from mcp_memory_server.providers.contract.samples import ANN, BOB, remember
from mcp_memory_server.providers.postgres import open_postgres
from tests.providers.postgres_server import fetch, fresh_store, run

LISTENING: Final = """
FROM pg_stat_activity
WHERE datname = current_database() AND query IN ('LISTEN mcp_memory;', 'LISTEN mcp_memory', 'SELECT 1')
"""
TELL: Final = "SELECT pg_notify('mcp_memory', notice) FROM {}"


async def test_what_one_server_acknowledged_is_in_the_next_answer_of_another() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as one, open_postgres(store.url) as other:
        cursors = [(await provider.changes(None)).cursor for provider in (one, other)]
        for number in range(50):
            record = await remember(one, f"key {number}", "text", ANN if number % 2 else BOB)
            for place, provider in enumerate((one, other)):
                batch = await provider.changes(cursors[place])
                assert batch.changes == (Change(record.scope, record.id),)
                assert not batch.gap
                cursors[place] = batch.cursor


async def test_a_new_feed_says_of_the_cursor_of_another_one_that_there_is_a_gap() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        before = (await provider.changes(None)).cursor
    async with open_postgres(store.url) as provider:
        for number in range(3):
            await remember(provider, f"key {number}", "text")
        assert (await provider.changes(before)).gap


async def test_who_never_asks_has_no_connection_for_it() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        await remember(provider, "key", "text")
        assert not fetch(store.admin_url, f"SELECT pid {LISTENING}")
        await provider.changes(None)
        assert len(fetch(store.admin_url, f"SELECT pid {LISTENING}")) == 1
    assert not fetch(store.admin_url, f"SELECT pid {LISTENING}")


async def test_what_was_said_while_nothing_listened_is_a_gap_to_all_who_had_a_cursor() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider, open_postgres(store.url) as other:
        first = (await provider.changes(None)).cursor
        await remember(other, "before", "text")
        second = (await provider.changes(first)).cursor
        assert len(fetch(store.admin_url, f"SELECT pg_terminate_backend(pid) {LISTENING}")) == 1
        missed = await remember(other, "meanwhile", "text")
        for cursor in (first, second):
            batch = await provider.changes(cursor)
            assert batch.gap
            assert Change(ANN, missed.id) not in batch.changes
        record = await remember(other, "afterwards", "text")
        found = await provider.changes(batch.cursor)
        assert (found.changes, found.gap) == ((Change(ANN, record.id),), False)


async def test_a_reader_that_is_far_behind_is_told_of_a_gap() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        start = (await provider.changes(None)).cursor
        notice = '["actor:ann", "\' || n || \'"]'
        for first, last, has_gap in ((1, 10_000, False), (10_001, 10_001, True)):
            run(store.admin_url, TELL.format(f"(SELECT '{notice}' FROM generate_series({first}, {last}) n) s (notice)"))
            batch = await provider.changes(start)
            assert len(batch.changes) == 10_000
            assert batch.changes[-1] == Change(ANN, str(last))
            assert batch.gap is has_gap
        assert not (await provider.changes(batch.cursor)).gap


@pytest.mark.parametrize("notice", ["null", "what somebody else says on our channel"])
async def test_a_notice_that_may_mean_anything_is_a_gap(notice: str) -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        start = (await provider.changes(None)).cursor
        run(store.admin_url, TELL.format(f"(VALUES ('{notice}')) s (notice)"))
        batch = await provider.changes(start)
        assert (batch.changes, batch.gap) == ((), True)
        assert not (await provider.changes(batch.cursor)).gap


async def test_who_goes_away_while_asking_costs_the_others_nothing() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        cursor = (await provider.changes(None)).cursor
        for _ in range(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(provider.changes, cursor)
                tasks.start_soon(provider.changes, cursor)
                await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        record = await remember(provider, "key", "text")
        batch = await provider.changes(cursor)
        assert (batch.changes, batch.gap) == ((Change(ANN, record.id),), False)
