"""What a conversation was shown: by reference, for its actor alone, as long as the records are there."""

from __future__ import annotations

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import (
    Group,
    PruneRequest,
    RestoreRequest,
    Surfaced,
    SurfacedLookup,
    SurfaceRequest,
)
from mcp_memory_server.records import MemoryRecord

from .refusals import refusal
from .registry import check
from .samples import ANN, EVERYONE, HALF_PAIR, LONGEST, erasing, minute, raw_record, remember
from .store import EveryGroup, Store, opened


def _shown(record: MemoryRecord, version: int = 1) -> Surfaced:
    return Surfaced(record.scope, record.id, version)


async def _surface(
    provider: EveryGroup, *shown: Surfaced, actor_id: str = "ann", conversation_id: str = "talk", at: int = 0
) -> None:
    await provider.surface(SurfaceRequest(actor_id, conversation_id, minute(at), shown))


async def _held(provider: EveryGroup, actor_id: str = "ann", conversation_id: str = "talk") -> set[Surfaced]:
    return set(await provider.surfaced(SurfacedLookup(actor_id, conversation_id)))


@check(Group.SURFACED, Group.WRITE)
async def a_conversation_s_set_grows_and_is_there_again(store: Store) -> None:
    async with opened(store) as provider:
        one, other = await remember(provider, "one", "1"), await remember(provider, "other", "2", EVERYONE)
        await _surface(provider, _shown(one))
        await _surface(provider)
        await _surface(provider, _shown(other), _shown(one))
        held = {_shown(one), _shown(other)}
        assert await _held(provider) == held
        assert list(await provider.surfaced(SurfacedLookup("ann", "talk"))) == sorted(held, key=lambda s: s.scope)
    async with opened(store) as provider:
        assert await _held(provider) == (held if store.durable else set())


@check(Group.SURFACED, Group.WRITE)
async def of_two_versions_shown_the_higher_one_stays(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        for version in (2, 3, 1):
            await _surface(provider, _shown(record, version))
        assert await _held(provider) == {_shown(record, 3)}


@check(Group.SURFACED, Group.WRITE)
async def sets_of_other_actors_and_conversations_never_meet(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        await _surface(provider, _shown(record), actor_id="bob")
        await _surface(provider, _shown(record), conversation_id="talk 2")
        for actor, conversation in (("ann", "talk"), ("Bob", "talk"), ("bob ", "talk"), ("bob", "TALK"), ("", "")):
            assert await _held(provider, actor, conversation) == set()
        assert await _held(provider, "bob") == {_shown(record)}


@check(Group.SURFACED, Group.WRITE)
async def what_is_not_held_at_its_scope_is_not_added(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        elsewhere, unknown = Surfaced(EVERYONE, record.id, 1), Surfaced(ANN, "no-such-id", 1)
        odd = Surfaced(ANN, HALF_PAIR, 1)
        await _surface(provider, elsewhere, unknown, odd, _shown(record))
        assert await _held(provider) == {_shown(record)}


@check(Group.SURFACED, Group.WRITE)
async def forgetting_a_record_takes_it_out_of_every_set(store: Store) -> None:
    async with opened(store) as provider:
        kept, gone = await remember(provider, "kept", "stays"), await remember(provider, "gone", "goes")
        for conversation_id in ("talk", "talk 2"):
            await _surface(provider, _shown(kept), _shown(gone), conversation_id=conversation_id)
        await provider.forget(erasing(gone))
        await _surface(provider, _shown(gone))
        assert await _held(provider) == await _held(provider, conversation_id="talk 2") == {_shown(kept)}


@check(Group.SURFACED, Group.WRITE)
async def pruning_sets_drops_those_not_added_to_since(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        for number in range(4):
            await _surface(provider, _shown(record), conversation_id=f"talk {number}", at=number)
        await _surface(provider, conversation_id="talk 0", at=9)
        for before, keep, expected in ((2, 100, 1), (0, 2, 2), (0, 9, 0)):
            asked = PruneRequest(minute(before), keep, count_only=True)
            assert await provider.prune_surfaced(asked) == expected  # which drops nothing
        assert await provider.prune_surfaced(PruneRequest(minute(2), keep=100)) == 1
        held = [bool(await _held(provider, conversation_id=f"talk {number}")) for number in range(4)]
        assert held == [True, False, True, True]
        assert await provider.prune_surfaced(PruneRequest(minute(2), keep=100)) == 0


@check(Group.SURFACED, Group.WRITE)
async def pruning_sets_keeps_the_newest_of_too_many(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        for number in (3, 0, 2, 1):
            await _surface(provider, _shown(record), conversation_id=f"talk {number}", at=number)
        assert await provider.prune_surfaced(PruneRequest(minute(0), keep=2)) == 2
        held = [bool(await _held(provider, conversation_id=f"talk {number}")) for number in range(4)]
        assert held == [False, False, True, True]
        assert await provider.prune_surfaced(PruneRequest(minute(0), keep=0, actors="b")) == 0
        assert await provider.prune_surfaced(PruneRequest(minute(0), keep=0)) == 2
        await _surface(provider, conversation_id="talk 3")
        assert await _held(provider, conversation_id="talk 3") == set()


@check(Group.SURFACED)
async def half_of_a_surrogate_pair_names_no_conversation(store: Store) -> None:
    async with opened(store) as provider:
        for actor, conversation in ((HALF_PAIR, "talk"), ("ann", HALF_PAIR)):
            await refusal(InvalidInput, provider.surface(SurfaceRequest(actor, conversation, minute(0), ())))
            assert await provider.surfaced(SurfacedLookup(actor, conversation)) == ()


@check(Group.SURFACED, Group.RESTORE)
async def a_conversation_s_name_may_be_as_long_as_an_index_holds(store: Store) -> None:
    record = raw_record(LONGEST, "key", "text")
    async with opened(store) as provider:
        await provider.restore(RestoreRequest(((record,),), at=minute(0)))
        await _surface(provider, _shown(record), conversation_id=LONGEST)
        assert await _held(provider, conversation_id=LONGEST) == {_shown(record)}
        await refusal(InvalidInput, provider.surface(SurfaceRequest("ann", f"{LONGEST}x", minute(0), ())))
        assert await _held(provider, conversation_id=f"{LONGEST}x") == set()
