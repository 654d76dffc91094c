"""What a writer is told, and what the store holds, when connections and servers go away under them."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import UUID

import anyio
import pytest

from mcp_memory_server.errors import StoreBusy, StoreError, StoreUnavailable
from mcp_memory_server.providers.base import (
    Entity,
    EntityRequest,
    HistoryRequest,
    LedgerRequest,
    MergeRequest,
    PageRequest,
)
from mcp_memory_server.providers.contract.samples import (
    ANN,
    erasing,
    listed,
    minute,
    question,
    remember,
    texts,
    writing,
)
from mcp_memory_server.providers.postgres import PostgresProvider, open_postgres
from mcp_memory_server.providers.postgres.connection import Database, Limits, Transaction, open_database
from mcp_memory_server.providers.postgres.names import place_of
from mcp_memory_server.providers.postgres.transaction import Seal, was_committed
from tests.providers.postgres_server import Cluster, Server, fetch, fresh_store, own_server, run

from .cutting import Cut, cutting

PATIENT: Final = Limits(busy_timeout_s=30, statement_timeout_s=60)
HURRIED: Final = Limits(busy_timeout_s=0.3, statement_timeout_s=0.5, pool_size=2)
END_ALL: Final = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


# --- a commit whose answer never comes ---------------------------------------------------------------------


async def _write_what_is_not_there(provider: PostgresProvider) -> None:
    written = await provider.write(writing("office", "Lyon", if_version=0))
    assert (written.status, written.record.version) == ("stored", 1)
    assert await provider.page(PageRequest(ANN, limit=9)) == (written.record,)
    assert await provider.history(HistoryRequest((ANN,), written.record.id)) == (written.record,)


async def _forget_what_is_there(provider: PostgresProvider) -> None:
    (record,) = (await listed(provider)).records
    forgotten = await provider.forget(erasing(record))
    assert forgotten is not None
    assert forgotten.key == "home"
    assert (await listed(provider)).records == ()


async def _merge_two(provider: PostgresProvider) -> None:
    one, other = await _entities(provider)
    merged = await provider.merge(MergeRequest(ANN, one.id, other.id, "ann", minute(1)))
    assert merged is not None
    assert await provider.merges(LedgerRequest((ANN,))) == (merged,)


async def _entities(provider: PostgresProvider) -> tuple[Entity, ...]:
    return await provider.entities(EntityRequest((ANN,)))


@pytest.mark.parametrize("cut", Cut)
@pytest.mark.parametrize(
    ("prepared", "act"),
    [
        ({}, _write_what_is_not_there),
        ({"home": ""}, _forget_what_is_there),
        ({"one": "Acme", "two": "Acme Corp."}, _merge_two),
    ],
    ids=["write", "forget", "merge"],
)
async def test_a_commit_whose_answer_is_lost_is_done_once(
    cut: Cut, prepared: dict[str, str], act: Callable[[PostgresProvider], Awaitable[None]]
) -> None:
    """Each of these acts is another one when it is done for the second time."""
    async with cutting(fresh_store().url) as network, open_postgres(network.url, limits=PATIENT) as provider:
        for key, subject in prepared.items():
            await remember(provider, key, "text", subject=subject or None, predicate="is")
        cursor = (await provider.changes(None)).cursor
        network.next_cut = cut
        with anyio.fail_after(60):
            await act(provider)
        assert network.cuts == 1
        changed = (await provider.changes(cursor)).changes
        assert len(changed) == (0 if act is _merge_two else 1)


@pytest.mark.parametrize(("cut", "was_done"), [(Cut.LOST, False), (Cut.UNHEARD, True)])
async def test_a_commit_that_nobody_can_be_asked_about_is_said_to_be_in_doubt(cut: Cut, was_done: bool) -> None:
    async with cutting(fresh_store().url) as network, open_postgres(network.url, limits=HURRIED) as provider:
        network.next_cut, network.stays_away = cut, True
        with pytest.raises(StoreUnavailable, match="cannot say whether it did"):
            await remember(provider, "office", "Lyon")
        network.stays_away = False
        assert texts((await listed(provider)).records) == ["Lyon"] * was_done


@asynccontextmanager
async def _database(limits: Limits = PATIENT) -> AsyncGenerator[tuple[Database, str]]:
    store = fresh_store()
    async with open_database(store.url, limits) as database:
        yield database, store.admin_url


async def test_a_number_that_another_transaction_has_since_a_crash_is_not_taken_for_ours() -> None:
    async with open_postgres(fresh_store().url) as provider:
        await remember(provider, "office", "Lyon")
        database: Database = provider._database  # pyright: ignore[reportPrivateUsage]
        ids = "SELECT xmin::text, marks[1] FROM scope WHERE scope_id = $1"
        number, mark = await database.read(None, lambda db: _row(db, ids, place_of(ANN)))
        ours, theirs = (Seal(number, 0, place_of(ANN), held) for held in (mark, mark + 1))
        assert await database.read(None, lambda db: was_committed(db, ours))
        with pytest.raises(StoreUnavailable, match="cannot say whether it did"):
            await database.read(None, lambda db: was_committed(db, theirs))


async def test_a_transaction_that_a_crash_took_was_not_committed() -> None:
    async with _database() as (database, _):
        last = await database.write((), lambda db: db.value("SELECT pg_current_xact_id()::text"))
        ahead = Seal(str(int(last) + 1_000_000), 0, place_of(ANN), 1)
        assert not await database.read(None, lambda db: was_committed(db, ahead))


async def _row(db: Transaction, query: str, place: UUID) -> tuple[Any, ...]:
    row = await db.row(query, place)
    assert row is not None
    return tuple(row)


# --- connections and servers that go away -------------------------------------------------------------------


class _Writer:
    """Raises the version of a key of its own, one by one, and knows what was acknowledged."""

    def __init__(self, provider: PostgresProvider, key: str) -> None:
        self._provider = provider
        self.key = key
        self.acknowledged = 0
        self.errors: list[StoreError] = []
        self._got_on = anyio.Event()

    async def reaches(self, version: int) -> None:
        while self.acknowledged < version:
            await self._got_on.wait()

    async def write_until(self, done: anyio.Event) -> None:
        """A write that was lost, or done twice, makes the next one a `Conflict`."""
        while not done.is_set():
            next_version = self.acknowledged + 1
            try:
                request = writing(self.key, f"text {next_version}", at=next_version, if_version=self.acknowledged)
                written = await self._provider.write(request)
            except StoreError as error:
                self.errors.append(error)
                await self._look()
            else:
                assert written.record.version == next_version
                self.acknowledged = next_version
            self._got_on.set()
            self._got_on = anyio.Event()

    async def _look(self) -> None:
        """After an error, as a caller is told to: the write was done or not."""
        while True:
            try:
                held = {record.key: record.version for record in (await listed(self._provider)).records}
            except StoreError as error:
                self.errors.append(error)
                continue
            assert held.get(self.key, 0) - self.acknowledged in {0, 1}
            self.acknowledged = held.get(self.key, 0)
            return


async def _disturb(url: str, limits: Limits, disturb: Callable[[], Awaitable[None]]) -> list[_Writer]:
    """Writers who write while the disturbance lasts, and a little longer; nothing acknowledged is lost."""
    async with open_postgres(url, limits=limits) as one, open_postgres(url, limits=limits) as other:
        writers = [_Writer(provider, f"{name} {n}") for name, provider in (("1", one), ("2", other)) for n in range(3)]
        done = anyio.Event()
        with anyio.fail_after(150):
            async with anyio.create_task_group() as tasks:
                for writer in writers:
                    tasks.start_soon(writer.write_until, done)
                await _progress(writers)
                await disturb()
                await _progress(writers)
                done.set()
        records = (await listed(one)).records
        assert {record.key: record.version for record in records} == {w.key: w.acknowledged for w in writers}
        assert {record.text for record in records} == {f"text {writer.acknowledged}" for writer in writers}
    return writers


async def _progress(writers: list[_Writer]) -> None:
    """Wait until every writer has got on."""
    before = [writer.acknowledged for writer in writers]
    for writer, then in zip(writers, before, strict=True):
        await writer.reaches(then + 2)


async def test_writers_whose_connections_are_ended_again_and_again_notice_nothing() -> None:
    store = fresh_store()

    async def end_all() -> None:
        for _ in range(10):
            await anyio.to_thread.run_sync(fetch, store.admin_url, END_ALL)
            await anyio.sleep(0.05)

    writers = await _disturb(store.url, PATIENT, end_all)
    assert [error for writer in writers for error in writer.errors] == []


@pytest.mark.parametrize("how", ["stop", "crash"])
async def test_a_database_that_restarts_under_writers_loses_nothing_that_it_acknowledged(how: str) -> None:
    with own_server() as (server, cluster):

        async def restart() -> None:
            for _ in range(2):
                await anyio.to_thread.run_sync(getattr(server, how))
                await anyio.to_thread.run_sync(server.start)
                await anyio.sleep(0.2)

        writers = await _disturb(cluster.fresh().url, PATIENT, restart)
        errors = [error for writer in writers for error in writer.errors]
        # Only what a crash leaves unknown for good is told; all else is waited for.
        assert all("cannot say whether it did" in str(error) for error in errors)


async def test_while_the_database_is_away_callers_are_told_and_then_served_again() -> None:
    with own_server() as (server, cluster):
        async with open_postgres(cluster.fresh().url, limits=HURRIED) as provider:
            record = await remember(provider, "office", "Lyon")
            cursor = (await provider.changes(None)).cursor
            await anyio.to_thread.run_sync(server.stop)
            for ask in (listed(provider), remember(provider, "home", "Nice"), provider.changes(cursor)):
                with pytest.raises(StoreUnavailable, match="Try again; what was acknowledged is kept") as told:
                    await ask
                assert cluster.role not in str(told.value)
            await anyio.to_thread.run_sync(server.start)
            assert (await listed(provider)).records == (record,)
            await remember(provider, "home", "Nice")
            assert (await provider.changes(cursor)).gap
        _no_session_is_left(server, cluster)


def _no_session_is_left(server: Server, cluster: Cluster) -> None:
    query = "SELECT count(*) FROM pg_stat_activity WHERE usename = $1"
    assert fetch(server.url, query, cluster.role)[0][0] == 0


# --- limits -------------------------------------------------------------------------------------------------


async def test_who_finds_all_connections_in_use_is_told_so() -> None:
    async with _database(HURRIED) as (database, _), anyio.create_task_group() as tasks:
        done = anyio.Event()

        async def wait(db: Transaction) -> None:
            await db.value("SELECT 1")
            await done.wait()

        for _ in range(HURRIED.pool_size):
            tasks.start_soon(database.read, (), wait)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(StoreBusy, match=r"has no connection free; waited 0\.3 s and wrote nothing"):
            await database.read((), lambda db: db.value("SELECT 1"))
        done.set()
    async with _database(HURRIED) as (database, _):
        assert await database.read((), lambda db: db.value("SELECT 1")) == 1


async def test_who_does_not_wait_at_all_is_served_where_nobody_is_in_the_way() -> None:
    async with open_postgres(fresh_store().url, limits=Limits(busy_timeout_s=0)) as provider:
        for number in range(3):
            await remember(provider, "office", f"Lyon {number}", at=number)
            assert texts((await listed(provider)).records) == [f"Lyon {number}"]
            assert len(await provider.search(question("Lyon"))) == 1


@asynccontextmanager
async def _locked(provider: PostgresProvider) -> AsyncGenerator[None]:
    """A writer of that provider stands at the scope of Ann, and keeps others waiting."""
    database: Database = provider._database  # pyright: ignore[reportPrivateUsage]
    locked, done = anyio.Event(), anyio.Event()

    async def lock(db: Transaction) -> None:
        await db.run("SELECT FROM scope WHERE scope_id = $1 FOR UPDATE", place_of(ANN))
        locked.set()
        await done.wait()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(database.write, [place_of(ANN)], lock)
        await locked.wait()
        yield
        done.set()


async def test_who_waits_too_long_for_another_writer_is_told_so() -> None:
    store = fresh_store()
    async with open_postgres(store.url, limits=HURRIED) as provider, open_postgres(store.url) as other:
        await remember(provider, "office", "Lyon")
        async with _locked(other):
            with pytest.raises(StoreBusy, match="is locked by another process"):
                await remember(provider, "office", "Nice")
            assert texts((await listed(provider)).records) == ["Lyon"]  # who reads does not wait
        await remember(provider, "office", "Nice")


@pytest.mark.parametrize("statement", ["SELECT pg_sleep(30)", "SELECT 1"])
async def test_an_operation_that_takes_too_long_is_ended_and_changes_nothing(statement: str) -> None:
    """One statement that does, and the whole of many that do not."""
    async with _database(HURRIED) as (database, _):

        async def dawdle(db: Transaction) -> None:
            await db.run("INSERT INTO note VALUES ('name', 'value')")
            while True:
                await db.run(statement)

        with anyio.fail_after(10), pytest.raises(StoreBusy, match="did not answer in time"):
            await database.write((), dawdle)
        assert await database.read((), lambda db: db.value("SELECT count(*) FROM note")) == 0


async def test_maintenance_has_no_limit_of_time_and_leaves_none_off() -> None:
    async with _database(Limits(busy_timeout_s=5, statement_timeout_s=0.2, pool_size=1)) as (database, _):
        await database.maintain(lambda db: db.run("SELECT pg_sleep(0.5)"))
        with pytest.raises(StoreBusy):
            await database.read((), lambda db: db.run("SELECT pg_sleep(0.5)"))


async def test_a_writer_that_is_cancelled_while_it_waits_leaves_nothing_behind() -> None:
    """Also by asyncio, which no shield of anyio's keeps off."""
    store = fresh_store()
    async with open_postgres(store.url, limits=PATIENT) as provider, open_postgres(store.url) as other:
        await remember(provider, "office", "Lyon")
        async with _locked(other):
            write = asyncio.create_task(provider.write(writing("office", "Nice", at=1)))
            await asyncio.sleep(0.2)
            write.cancel()
            with pytest.raises(asyncio.CancelledError):
                await write
        assert texts((await listed(provider)).records) == ["Lyon"]
        assert (await provider.write(writing("office", "Nice", at=1))).record.version == 2


# --- what is not told ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("INSERT INTO note VALUES ($1, 'one'), ($1, 'two')", ("somewhere-in-Lyon",)),
        ("SELECT $1::text::integer", ("somewhere-in-Lyon",)),
        ("SELECT $1::integer", ("somewhere-in-Lyon",)),
        ("SELECT $1::text", ("somewhere-in-Lyon \ud83d",)),
    ],
    ids=["unique", "cast", "argument", "surrogate"],
)
async def test_no_error_tells_a_value_that_the_driver_quotes(statement: str, values: tuple[str, ...]) -> None:
    async with _database() as (database, _):
        with anyio.fail_after(10), pytest.raises(StoreUnavailable, match="SQLSTATE") as told:
            await database.write((), lambda db: db.run(statement, *values))
        assert "somewhere-in-Lyon" not in "".join(traceback.format_exception(told.value))


async def test_a_database_that_takes_no_writes_is_read_and_says_so() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        await remember(provider, "office", "Lyon")
    ((database,),) = fetch(store.admin_url, "SELECT quote_ident(current_database())")
    run(store.admin_url, f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    async with open_postgres(store.url, limits=HURRIED) as provider:
        assert texts((await listed(provider)).records) == ["Lyon"]
        with pytest.raises(StoreUnavailable, match="takes no writes: it is a replica, or is set to read only"):
            await remember(provider, "office", "Nice")


async def test_a_role_that_may_not_is_told_to_the_operator() -> None:
    store = fresh_store()
    async with open_postgres(store.url) as provider:
        run(store.admin_url, "REVOKE SELECT ON mcp_memory.memory FROM PUBLIC, " + _role_of(store.url))
        with pytest.raises(StoreUnavailable, match=r"InsufficientPrivilegeError, SQLSTATE 42501.*migrate"):
            await listed(provider)


def _role_of(url: str) -> str:
    return url.removeprefix("postgresql://").partition(":")[0]
