"""The journal: what each turn was shown, by reference, for the actor alone."""

from dataclasses import replace

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import (
    Group,
    JournaledDigest,
    JournaledEntry,
    JournalLookup,
    PruneRequest,
    VersionRef,
)

from .refusals import refusal
from .registry import check
from .samples import ANN, EVERYONE, HALF_PAIR, LONGEST, minute
from .store import EveryGroup, Store, opened


def _digest(digest_id: str, actor_id: str = "ann", at: int = 0, turn_id: str | None = None) -> JournaledDigest:
    return JournaledDigest(
        digest_id=digest_id,
        actor_id=actor_id,
        at=minute(at),
        scopes=(ANN, EVERYONE),
        entries=(
            JournaledEntry(
                VersionRef("id-2", 3), pinned=True, overrides=(VersionRef("id-9", 1), VersionRef("id-8", 2))
            ),
            JournaledEntry(VersionRef("id-1", 1), pinned=False),
        ),
        omitted=4,
        pinned_omitted=1,
        recalled=True,
        turn_id=turn_id,
        query_hash="f00d",
    )


async def _held(provider: EveryGroup, *digest_ids: str) -> list[str]:
    """Which of Ann's digests the journal holds."""
    found = [await provider.journaled(JournalLookup("ann", digest_id=digest_id)) for digest_id in digest_ids]
    return [digest.digest_id for digest in found if digest is not None]


@check(Group.JOURNAL, Group.HISTORY)
async def a_journaled_digest_comes_back_whole(store: Store) -> None:
    full = _digest("d-1", turn_id="turn 🎉 1")
    bare = JournaledDigest("d-2", "ann", minute(1), (), (), omitted=0, pinned_omitted=0, recalled=False)
    async with opened(store) as provider:
        await provider.journal([full, bare])
        await provider.journal([])
        assert await provider.journaled(JournalLookup("ann", digest_id="d-1")) == full
        assert await provider.journaled(JournalLookup("ann", turn_id="turn 🎉 1")) == full
        assert await provider.journaled(JournalLookup("ann", digest_id="d-2")) == bare


@check(Group.JOURNAL, Group.HISTORY)
async def only_the_actor_s_own_entries_are_found(store: Store) -> None:
    async with opened(store) as provider:
        await provider.journal([_digest("d-1", "bob", turn_id="turn 1")])
        for actor in ("ann", "Bob", "bob ", ""):
            assert await provider.journaled(JournalLookup(actor, digest_id="d-1")) is None
            assert await provider.journaled(JournalLookup(actor, turn_id="turn 1")) is None
        assert await provider.journaled(JournalLookup("bob", turn_id="turn 1")) is not None


@check(Group.JOURNAL, Group.HISTORY)
async def what_was_never_journaled_is_not_found(store: Store) -> None:
    async with opened(store) as provider:
        await provider.journal([_digest("d-1")])
        assert await provider.journaled(JournalLookup("ann", digest_id="d-2")) is None
        assert await provider.journaled(JournalLookup("ann", turn_id="d-1")) is None


@check(Group.JOURNAL, Group.HISTORY)
async def a_turn_keeps_the_digest_that_it_was_journaled_with_first(store: Store) -> None:
    first = _digest("d-1", turn_id="turn 1")
    async with opened(store) as provider:
        await provider.journal([first, _digest("d-2", turn_id="turn 1")])
        await provider.journal([_digest("d-3", at=1, turn_id="turn 1"), _digest("d-4", at=1)])
        assert await provider.journaled(JournalLookup("ann", turn_id="turn 1")) == first
        assert await _held(provider, "d-1", "d-2", "d-3", "d-4") == ["d-1", "d-4"]


@check(Group.JOURNAL, Group.HISTORY)
async def a_digest_is_journaled_once(store: Store) -> None:
    first = _digest("d-1")
    async with opened(store) as provider:
        await provider.journal([first, replace(first, omitted=9)])
        await provider.journal([replace(first, omitted=10)])
        assert await provider.journaled(JournalLookup("ann", digest_id="d-1")) == first


@check(Group.JOURNAL, Group.HISTORY)
async def two_actors_may_have_a_turn_of_one_name(store: Store) -> None:
    async with opened(store) as provider:
        await provider.journal([_digest("d-1", "ann", turn_id="1"), _digest("d-2", "bob", turn_id="1")])
        for actor, digest_id in (("ann", "d-1"), ("bob", "d-2")):
            found = await provider.journaled(JournalLookup(actor, turn_id="1"))
            assert found is not None
            assert found.digest_id == digest_id


@check(Group.JOURNAL, Group.HISTORY)
async def pruning_drops_what_is_older_than_asked(store: Store) -> None:
    async with opened(store) as provider:
        await provider.journal([_digest(f"d-{number}", at=number) for number in range(5)])
        assert await provider.prune_journal(PruneRequest(before=minute(2), keep=100)) == 2
        assert await _held(provider, *(f"d-{number}" for number in range(5))) == ["d-2", "d-3", "d-4"]
        assert await provider.prune_journal(PruneRequest(before=minute(2), keep=100)) == 0


@check(Group.JOURNAL, Group.HISTORY)
async def pruning_keeps_the_newest_of_too_many(store: Store) -> None:
    async with opened(store) as provider:
        await provider.journal([_digest(f"d-{number}", at=number) for number in (3, 0, 4, 1, 2)])
        assert await provider.prune_journal(PruneRequest(before=minute(1), keep=2)) == 3
        assert await _held(provider, *(f"d-{number}" for number in range(5))) == ["d-3", "d-4"]
        assert await provider.prune_journal(PruneRequest(before=minute(0), keep=0)) == 2


@check(Group.JOURNAL, Group.HISTORY)
async def counting_what_pruning_would_drop_drops_nothing(store: Store) -> None:
    async with opened(store) as provider:
        await provider.journal([_digest(f"d-{number}", at=number) for number in (3, 0, 4, 1, 2)])
        for before, keep, expected in ((2, 100, 2), (1, 2, 3), (0, 0, 5), (0, 9, 0)):
            asked = PruneRequest(before=minute(before), keep=keep, count_only=True)
            assert await provider.prune_journal(asked) == expected
        assert len(await _held(provider, *(f"d-{number}" for number in range(5)))) == 5


@check(Group.JOURNAL, Group.HISTORY)
async def a_pruned_turn_can_be_journaled_again(store: Store) -> None:
    async with opened(store) as provider:
        await provider.journal([_digest("d-1", turn_id="turn 1")])
        await provider.prune_journal(PruneRequest(before=minute(1), keep=10))
        await provider.journal([_digest("d-2", at=2, turn_id="turn 1")])
        assert await _held(provider, "d-1", "d-2") == ["d-2"]


@check(Group.JOURNAL, Group.HISTORY)
async def the_secret_stays_the_same(store: Store) -> None:
    async with opened(store) as provider:
        secret = await provider.journal_secret()
        assert len(secret) >= 32
        assert await provider.journal_secret() == secret
    async with opened(store) as provider:
        assert (await provider.journal_secret() == secret) is store.durable


@check(Group.JOURNAL, Group.HISTORY)
async def half_of_a_surrogate_pair_names_no_turn(store: Store) -> None:
    async with opened(store) as provider:
        await refusal(InvalidInput, provider.journal([_digest("d-1"), _digest("d-2", turn_id=HALF_PAIR)]))
        assert await _held(provider, "d-1") == []
        assert await provider.journaled(JournalLookup("ann", turn_id=HALF_PAIR)) is None
        assert await provider.journaled(JournalLookup("ann", digest_id=HALF_PAIR)) is None


@check(Group.JOURNAL, Group.HISTORY)
async def half_of_a_surrogate_pair_is_refused_wherever_a_digest_has_it(store: Store) -> None:
    async with opened(store) as provider:
        for odd in (
            replace(_digest("d-1"), query_hash=HALF_PAIR),
            replace(_digest("d-1"), signals={"mode": HALF_PAIR}),
            replace(_digest("d-1"), scopes=(HALF_PAIR,)),
            replace(_digest("d-1"), entries=(JournaledEntry(VersionRef(HALF_PAIR, 1), pinned=False),)),
        ):
            await refusal(InvalidInput, provider.journal([odd]))
        assert await _held(provider, "d-1") == []


@check(Group.JOURNAL, Group.HISTORY)
async def a_turn_s_name_may_be_as_long_as_an_index_holds(store: Store) -> None:
    longest = _digest(LONGEST, turn_id=LONGEST)
    async with opened(store) as provider:
        await provider.journal([longest])
        for odd in (_digest(f"{LONGEST}x"), _digest("d-1", turn_id=f"{LONGEST}x")):
            await refusal(InvalidInput, provider.journal([odd]))
        assert await provider.journaled(JournalLookup("ann", turn_id=LONGEST)) == longest
        assert await provider.journaled(JournalLookup("ann", turn_id=f"{LONGEST}x")) is None
        assert await _held(provider, "d-1", f"{LONGEST}x") == []
