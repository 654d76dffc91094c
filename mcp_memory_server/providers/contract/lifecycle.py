"""Opening, closing, several at once, and being cancelled."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import anyio
from anyio.lowlevel import checkpoint

from mcp_memory_server.errors import Conflict, StoreError, StoreUnavailable
from mcp_memory_server.providers.base import (
    Group,
    HistoryRequest,
    RestoreRequest,
    can_journal,
    can_restore,
)

from .refusals import refusal
from .registry import CALLS, check
from .samples import ANN, listed, minute, raw_record, remember, requested, texts, writing
from .store import EveryGroup, Store, opened

_PATIENCE_S = 60


@check()
async def what_is_declared_is_there(store: Store) -> None:
    """Each declared group has all of its calls, and the groups that it builds on."""
    async with opened(store) as provider:
        declared = provider.capabilities
        for group in declared.groups:
            for name, arguments in CALLS[group].items():
                await getattr(provider, name)(*arguments)
        assert provider.capabilities == declared
        assert declared.provider
        assert can_journal(provider) is (Group.JOURNAL in declared.groups)
        assert can_restore(provider) is (Group.RESTORE in declared.groups)


@check()
async def a_closed_provider_says_that_the_store_is_unavailable(store: Store) -> None:
    async with opened(store) as provider:
        await provider.list(requested())
    await refusal(StoreUnavailable, provider.list(requested()))


@check(Group.WRITE)
async def what_was_acknowledged_is_there_when_the_store_is_opened_again(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "office", "Lyon", tags=("work",))
    async with opened(store) as provider:
        assert (await listed(provider)).records == ((record,) if store.durable else ())


@check(Group.WRITE)
async def a_body_that_fails_leaves_what_was_acknowledged(store: Store) -> None:
    with suppress(ZeroDivisionError):
        async with opened(store) as provider:
            await remember(provider, "office", "Lyon")
            raise ZeroDivisionError
    async with opened(store) as provider:
        assert texts((await listed(provider)).records) == (["Lyon"] if store.durable else [])


@check(Group.WRITE)
async def two_that_hold_one_store_see_each_other_s_writes(store: Store) -> None:
    async with opened(store) as first:
        record = await remember(first, "office", "Lyon")
        if not store.shared:
            await _assert_apart(store)
            return
        async with opened(store) as second:
            assert (await listed(second)).records == (record,)
            replaced = await remember(second, "office", "Porto", at=1)
            assert (await listed(first)).records == (replaced,)


async def _assert_apart(store: Store) -> None:
    """A store that is not shared is refused to a second one, or shows it nothing."""
    try:
        async with opened(store) as second:
            assert (await listed(second)).records == ()
    except StoreError:
        return


@check(Group.WRITE)
async def concurrent_writers_lose_nothing_though_one_of_them_fails(store: Store) -> None:
    conflicts: list[Conflict] = []

    async def write(provider: EveryGroup, number: int) -> None:
        try:
            await provider.write(writing(f"key {number}", "text", if_version=9 if number == 7 else None))
        except Conflict as conflict:
            conflicts.append(conflict)

    async with opened(store) as provider:
        with anyio.fail_after(_PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(write, provider, number)
        keys = {record.key for record in (await listed(provider)).records}
    assert keys == {f"key {number}" for number in range(20) if number != 7}
    assert [conflict.key for conflict in conflicts] == ["key 7"]


@check(Group.WRITE)
async def of_concurrent_writers_over_one_version_exactly_one_wins(store: Store) -> None:
    won: list[str] = []

    async def write(provider: EveryGroup, text: str) -> None:
        with suppress(Conflict):
            won.append((await provider.write(writing("office", text, at=1, if_version=1))).record.text)

    async with _several(store, 3) as providers:
        await remember(providers[0], "office", "Lyon")
        with anyio.fail_after(_PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                for number in range(12):
                    tasks.start_soon(write, providers[number % len(providers)], f"city {number}")
        assert texts((await listed(providers[0])).records) == won


@check(Group.WRITE, Group.HISTORY)
async def concurrent_corrections_of_one_fact_are_all_in_its_history(store: Store) -> None:
    async def write(provider: EveryGroup, number: int) -> None:
        await remember(provider, "office", f"city {number}", at=number)

    async with _several(store, 3) as providers:
        with anyio.fail_after(_PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                for number in range(12):
                    tasks.start_soon(write, providers[number % len(providers)], number)
        (current,) = (await listed(providers[0])).records
        history = await providers[0].history(HistoryRequest((ANN,), current.id))
    assert [version.version for version in history] == list(range(1, 13))
    assert sorted(texts(history)) == sorted(f"city {number}" for number in range(12))


@asynccontextmanager
async def _several(store: Store, count: int) -> AsyncGenerator[list[EveryGroup]]:
    """The store opened `count` times at once, or once where it cannot be shared."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(opened(store)) for _ in range(count if store.shared else 1)]


async def _cancelled_after(turns: int, call: Callable[[], Awaitable[object]]) -> None:
    """Start the call and cancel it when the event loop has gone round that many times."""

    async def run(scope: anyio.CancelScope) -> None:
        with scope:
            await call()

    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()
        tasks.start_soon(run, scope)
        for _ in range(turns):
            await checkpoint()
        scope.cancel()


_TURNS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987)


@check(Group.WRITE)
async def a_cancelled_write_leaves_the_old_or_the_new_state(store: Store) -> None:
    async with opened(store) as provider:
        current = await remember(provider, "office", "before")
        for turns in _TURNS:
            request = writing("office", f"after {turns} turns", at=1)
            with anyio.fail_after(_PATIENCE_S):
                await _cancelled_after(turns, lambda request=request: provider.write(request))
                (record,) = (await listed(provider)).records
                assert record in (current, current.model_copy(update=_replaced_by(request.text, current.version)))
                current = await remember(provider, "office", f"still usable after {turns}", at=2)
                assert (await listed(provider)).records == (current,)


def _replaced_by(text: str, version: int) -> dict[str, object]:
    return {"text": text, "version": version + 1, "updated_at": minute(1)}


@check(Group.WRITE, Group.RESTORE)
async def a_cancelled_restore_has_taken_in_all_or_nothing(store: Store) -> None:
    async with opened(store) as provider:
        for turns in _TURNS:
            scope = f"actor:{turns}"
            records = tuple((raw_record(f"{scope} {n}", f"key {n}", "text", scope),) for n in range(50))
            with anyio.fail_after(_PATIENCE_S):
                await _cancelled_after(
                    turns, lambda records=records: provider.restore(RestoreRequest(records, at=minute(1)))
                )
                assert len((await listed(provider, scope)).records) in {0, 50}
                assert await provider.restore(RestoreRequest(records, at=minute(2))) in {0, 50}


@check(Group.WRITE)
async def cancelling_one_writer_leaves_the_others_alone(store: Store) -> None:
    async def write(provider: EveryGroup, number: int, scope: anyio.CancelScope) -> None:
        with scope:
            await remember(provider, f"key {number}", "text")

    async with opened(store) as provider:
        with anyio.fail_after(_PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                scopes = [anyio.CancelScope() for _ in range(12)]
                for number, scope in enumerate(scopes):
                    tasks.start_soon(write, provider, number, scope)
                await checkpoint()
                for scope in scopes[::3]:
                    scope.cancel()
            keys = {record.key for record in (await listed(provider)).records}
    assert keys >= {f"key {number}" for number in range(12) if number % 3}
