"""What an operator is told of a Postgres store."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from mcp_memory_server.providers.base import RestoreRequest
from mcp_memory_server.providers.contract.samples import erasing, minute, question, raw_record, remember
from mcp_memory_server.providers.postgres import open_postgres, signing
from mcp_memory_server.providers.postgres.connection import Database, Transaction
from tests.providers.postgres_server import PARTITIONS, cluster, fresh_store, run


async def test_the_condition_tells_which_database_this_is_and_as_whom_it_is_used() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        await remember(provider, "office", "Lyon")
        condition = await provider.examine()
    details = dict(condition.details)
    assert int(str(details.pop("server_version")).partition(".")[0]) >= 14
    assert int(details.pop("size_bytes")) > 8192
    assert details.pop("schema_version") == 1
    assert details == {
        "role": cluster().role,
        "row_level_security": "on",
        "partitions": PARTITIONS,
        "records": 1,
        "audit_lines": 0,
        "journaled_digests": 0,
        "pending_erasures": 0,
    }
    assert (condition.faults, condition.notices) == ((), ())


async def test_a_role_that_row_level_security_does_not_hold_is_told_of() -> None:
    """It is wrong where the tables have an owner of their own, and worth knowing where one role does everything."""
    store = fresh_store()
    async with open_postgres(store.admin_url) as provider:
        condition = await provider.examine()
    assert condition.details["row_level_security"] == "off"
    assert condition.faults == ()
    (gap,) = condition.notices
    assert "Row-level security does not apply to the role" in gap
    async with open_postgres(store.admin_url, migrates=False) as provider:
        condition = await provider.examine()
    assert (condition.faults, condition.notices) == ((gap,), ())


@pytest.mark.parametrize(
    ("act", "says"),
    [
        ("REVOKE INSERT ON mcp_memory.memory FROM {role}", "may not read and write memory as a server has to"),
        ("REVOKE SELECT ON mcp_memory.secret FROM {role}", "may not read and write secret as a server has to"),
        (
            "ALTER TABLE mcp_memory.history DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE mcp_memory.history ENABLE ROW LEVEL",
        ),
    ],
    ids=["write", "read", "wall"],
)
async def test_a_right_or_a_wall_that_was_taken_away_is_a_fault(act: str, says: str) -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        run(store.owner_url, act.format(role=cluster().role))
        (fault,) = (await provider.examine()).faults
        assert says in fault


async def test_what_search_cannot_find_is_signed_anew() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        record = await remember(provider, "office", "Lyon")
        run(store.admin_url, "DELETE FROM mcp_memory.signature")
        assert (await provider.examine()).faults == ()
    async with open_postgres(store.url) as provider:
        assert [hit.record for hit in await provider.search(question("Lyon"))] == [record]


@pytest.mark.parametrize("damage", ["DELETE FROM {}", r"UPDATE {} SET lexical = '\x01ff'"])
async def test_a_record_restored_as_another_text_while_it_is_examined_keeps_its_own_signature(
    monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    """Its version is that of the text that was read."""
    store = fresh_store()

    async def read_and_restore(*asked: Any) -> signing.Batch:
        batch = await stale(*asked)
        assert [found.record for found in batch.stale] == [record]
        await other.restore(RestoreRequest(((raw_record(record.id, "office", "Göteborg"),),), minute(1)))
        return batch

    stale = signing.stale
    async with open_postgres(store.url) as provider, open_postgres(store.url) as other:
        record = await remember(provider, "office", "Lyon")
        run(store.admin_url, damage.format("mcp_memory.signature"))
        with monkeypatch.context() as patched:
            patched.setattr(signing, "stale", read_and_restore)
            assert (await provider.examine()).faults == ()
    async with open_postgres(store.url) as provider:
        assert [hit.record.text for hit in await provider.search(question("Göteborg"))] == ["Göteborg"]


async def test_an_erasure_that_waits_is_a_fault_with_its_reason_until_it_can_be_completed() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider, open_postgres(store.url) as other:
        record = await remember(provider, "office", "Lyon")
        database: Database = other._database  # pyright: ignore[reportPrivateUsage]
        looking, done = anyio.Event(), anyio.Event()

        async def look_on(db: Transaction) -> None:
            await db.value("SELECT count(*) FROM note")
            looking.set()
            await done.wait()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(database.read, (), look_on)
            await looking.wait()
            forgotten = await provider.forget(erasing(record))
            assert forgotten is not None
            assert forgotten.erasure == "pending"
            condition = await provider.examine()
            assert condition.details["pending_erasures"] == 1
            (fault,) = condition.faults
            assert "an older transaction of somebody may still read the rows; end it" in fault
            done.set()
        condition = await provider.examine()
        assert (condition.details["pending_erasures"], condition.faults) == (0, ())
