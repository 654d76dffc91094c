"""`write_many`: several writes that happen together."""

import anyio
from anyio.lowlevel import checkpoint

from mcp_memory_server.errors import Conflict, InvalidInput
from mcp_memory_server.providers.base import Group

from .refusals import refusal
from .registry import check
from .samples import ANN, EVERYONE, HALF_PAIR, listed, remember, texts, writing
from .store import Store, opened


@check(Group.WRITE, Group.BULK)
async def several_writes_answer_in_the_order_in_which_they_were_asked_for(store: Store) -> None:
    async with opened(store) as provider:
        old = await remember(provider, "editor", "Vim")
        stored, replaced, unchanged = await provider.write_many(
            [writing("office", "Lyon", EVERYONE), writing("editor", "Emacs", at=1), writing("editor", "Emacs", at=2)]
        )
        assert (stored.status, stored.record.scope, stored.record.version) == ("stored", EVERYONE, 1)
        assert (replaced.status, replaced.previous, replaced.record.version) == ("replaced", old, 2)
        assert (unchanged.status, unchanged.record) == ("unchanged", replaced.record)
        assert (await listed(provider, ANN, EVERYONE)).records == (replaced.record, stored.record)


@check(Group.WRITE, Group.BULK)
async def each_of_several_writes_sees_those_before_it(store: Store) -> None:
    """A version that an earlier one makes can be named by a later one."""
    async with opened(store) as provider:
        done = await provider.write_many(
            [writing("editor", text, at=version, if_version=version) for version, text in enumerate(("Vim", "Emacs"))]
        )
        assert [written.record.version for written in done] == [1, 2]
        assert done[1].record.id == done[0].record.id
        assert texts((await listed(provider)).records) == ["Emacs"]


@check(Group.WRITE, Group.BULK)
async def when_one_of_several_writes_fails_none_of_them_happens(store: Store) -> None:
    async with opened(store) as provider:
        held = await remember(provider, "editor", "Vim")
        good = [writing("editor", "Emacs", at=1), writing("office", "Lyon")]
        await refusal(Conflict, provider.write_many([*good, writing("office", "Porto", if_version=0)]))
        await refusal(InvalidInput, provider.write_many([*good, writing("key", HALF_PAIR)]))
        assert (await listed(provider, ANN, EVERYONE)).records == (held,)


@check(Group.WRITE, Group.BULK, Group.CHANGES)
async def writes_that_did_not_happen_are_no_change(store: Store) -> None:
    async with opened(store) as provider:
        cursor = (await provider.changes(None)).cursor
        await refusal(Conflict, provider.write_many([writing("office", "Lyon"), writing("tz", "UTC", if_version=3)]))
        assert (await provider.changes(cursor)).changes == ()
        await provider.write_many([writing("office", "Lyon"), writing("tz", "UTC")])
        assert len((await provider.changes(cursor)).changes) == 2


@check(Group.WRITE, Group.BULK)
async def no_writes_at_all_are_no_writes(store: Store) -> None:
    async with opened(store) as provider:
        assert await provider.write_many([]) == ()
        assert (await listed(provider)).keys == 0


@check(Group.WRITE, Group.BULK)
async def several_writes_that_are_cancelled_happen_whole_or_not_at_all(store: Store) -> None:
    async with opened(store) as provider:
        for attempt in range(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(provider.write_many, [writing(f"{attempt} {key}", "text") for key in range(20)])
                for _ in range(attempt):
                    await checkpoint()
                tasks.cancel_scope.cancel()
            held = [record.key for record in (await listed(provider)).records]
            assert sum(key.startswith(f"{attempt} ") for key in held) in {0, 20}
