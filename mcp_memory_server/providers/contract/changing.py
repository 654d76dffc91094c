"""The change feed: nothing that changed is missed in silence."""

from mcp_memory_server.errors import Conflict
from mcp_memory_server.providers.base import Change, ChangeBatch, ForgetRequest, Group, PinRequest, RestoreRequest

from .refusals import refusal
from .registry import check
from .samples import ANN, BOB, EVERYONE, erasing, minute, raw_record, remember, writing
from .store import EveryGroup, Store, opened


async def _since(provider: EveryGroup, cursor: int) -> set[Change]:
    return set((await provider.changes(cursor)).changes)


@check(Group.CHANGES)
async def the_first_poll_gives_a_cursor_only(store: Store) -> None:
    async with opened(store) as provider:
        start = await provider.changes(None)
        assert (start.changes, start.gap) == ((), False)
        assert await provider.changes(start.cursor) == start


@check(Group.WRITE, Group.CHANGES)
async def writes_pins_and_erasures_are_reported_oldest_first(store: Store) -> None:
    async with opened(store) as provider:
        start = await provider.changes(None)
        first = await remember(provider, "a", "text", ANN)
        second = await remember(provider, "a", "text", BOB)
        batch = await provider.changes(start.cursor)
        assert batch.changes == (Change(ANN, first.id), Change(BOB, second.id))
        await remember(provider, "a", "other text", ANN, at=1)
        assert await _since(provider, batch.cursor) == {Change(ANN, first.id)}
        cursor = (await provider.changes(None)).cursor
        await provider.pin(PinRequest(BOB, second.id, pinned=True, at=minute(2)))
        assert await _since(provider, cursor) == {Change(BOB, second.id)}
        cursor = (await provider.changes(None)).cursor
        await provider.forget(erasing(first))
        assert await _since(provider, cursor) == {Change(ANN, first.id)}


@check(Group.WRITE, Group.CHANGES)
async def a_cursor_that_is_caught_up_has_nothing_new(store: Store) -> None:
    async with opened(store) as provider:
        start = await provider.changes(None)
        await remember(provider, "a", "text")
        batch = await provider.changes(start.cursor)
        assert await provider.changes(batch.cursor) == ChangeBatch(batch.cursor, ())
        assert await provider.changes(start.cursor) == batch


@check(Group.WRITE, Group.CHANGES)
async def what_left_everything_as_it_was_is_no_change(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "a", "text")
        start = await provider.changes(None)
        await remember(provider, "a", "text", at=1)
        await provider.pin(PinRequest(ANN, record.id, pinned=False, at=minute(1)))
        await provider.pin(PinRequest(ANN, "no-such-id", pinned=True, at=minute(1)))
        await provider.forget(ForgetRequest(EVERYONE, record.id, by="ann", at=minute(1)))
        await refusal(Conflict, provider.write(writing("a", "other text", if_version=7)))
        assert await provider.changes(start.cursor) == start


@check(Group.CHANGES)
async def a_cursor_that_the_store_never_gave_is_a_gap(store: Store) -> None:
    """As after the store's file was exchanged for an older one."""
    async with opened(store) as provider:
        now = (await provider.changes(None)).cursor
        batch = await provider.changes(now + 1_000)
        assert batch.gap
        assert batch.cursor == now
        assert not (await provider.changes(batch.cursor)).gap


@check(Group.WRITE, Group.RESTORE, Group.CHANGES)
async def thousands_of_changes_are_all_reported_or_said_to_be_a_gap(store: Store) -> None:
    async with opened(store) as provider:
        start = await provider.changes(None)
        records = [raw_record(f"id-{number}", f"key {number}", "text") for number in range(2_000)]
        await provider.restore(RestoreRequest(tuple((record,) for record in records), at=minute(1)))
        batch = await provider.changes(start.cursor)
        assert batch.gap or set(batch.changes) == {Change(ANN, record.id) for record in records}
        assert await provider.changes(batch.cursor) == ChangeBatch(batch.cursor, ())
