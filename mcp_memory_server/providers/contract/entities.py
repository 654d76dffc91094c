"""Entities: the names in triples, and the ledger that says which of them mean the same."""

from typing import Any

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import (
    Entity,
    EntityRequest,
    Group,
    LedgerRequest,
    MentionRequest,
    Merge,
    MergeRequest,
    RestoreRequest,
    SettleRequest,
    UnmergeRequest,
)
from mcp_memory_server.records import MemoryRecord

from .refusals import refusal
from .registry import check
from .samples import ANN, BOB, EVERYONE, HALF_PAIR, erasing, minute, raw_record, remember
from .store import EveryGroup, Store, opened


async def _relate(
    provider: EveryGroup, subject: str, object: str | None = None, scope: str = ANN, **fields: Any
) -> MemoryRecord:
    key = str(fields.pop("key", f"about {subject} and {object}"))
    return await remember(provider, key, "says so", scope, subject=subject, predicate="knows", object=object, **fields)


async def _entities(provider: EveryGroup, *scopes: str, names: tuple[str, ...] | None = None) -> tuple[Entity, ...]:
    return await provider.entities(EntityRequest(scopes or (ANN,), names))


async def _names(provider: EveryGroup, *scopes: str) -> list[str]:
    return [entity.name for entity in await _entities(provider, *scopes)]


async def _one(provider: EveryGroup, name: str, scope: str = ANN) -> Entity:
    """The root of the entity of that name."""
    (root,) = (entity for entity in await _entities(provider, scope, names=(name,)) if entity.merged_into is None)
    return root


async def _merge(provider: EveryGroup, source: str, target: str, scope: str = ANN) -> Merge:
    known = {
        name: entity.id
        for entity in await _entities(provider, scope, names=(source, target))
        for name in (entity.name, *entity.aliases)
    }
    merge = await provider.merge(MergeRequest(scope, known[source], known[target], by="ann", at=minute(5)))
    assert merge is not None
    return merge


async def _unmerge(provider: EveryGroup, merge: Merge) -> Merge | None:
    return await provider.unmerge(UnmergeRequest(merge.scope, merge.id, by="bob", at=minute(6)))


async def _mentions(provider: EveryGroup, name: str, *scopes: str, limit: int = 10) -> tuple[str, ...]:
    within = scopes or (ANN,)
    ids = tuple(entity.id for entity in await _entities(provider, *within, names=(name,)))
    return await provider.mentions(MentionRequest(within, ids, limit))


@check(Group.WRITE, Group.ENTITIES)
async def subject_and_object_of_a_record_are_entities_of_its_scope(store: Store) -> None:
    async with opened(store) as provider:
        record = await _relate(provider, "Ann", "Acme")
        await remember(provider, "no triple", "text")
        await _relate(provider, "Lyon", scope=BOB)
        assert await _names(provider) == ["Acme", "Ann"]
        assert await _names(provider, BOB, ANN) == ["Lyon", "Acme", "Ann"]
        assert {entity.scope for entity in await _entities(provider)} == {ANN}
        assert await _mentions(provider, "Acme") == (record.id,)


@check(Group.WRITE, Group.ENTITIES)
async def names_that_differ_in_case_width_or_spacing_are_one_entity(store: Store) -> None:
    spellings = ("Acme  Corp", "ACME Corp", "acme corp", " acme\u00a0corp ", "Ａｃｍｅ Corp")
    async with opened(store) as provider:
        for number, spelling in enumerate(spellings):
            await _relate(provider, spelling, key=f"key {number}")
        await _relate(provider, "ACME Corp", key="once more")
        (entity,) = await _entities(provider)
        assert entity.name == "ACME Corp"
        assert entity.aliases == tuple(sorted(set(spellings) - {"ACME Corp"}))
        for spelling in (*spellings, "aCmE cOrP"):
            assert await _entities(provider, names=(spelling,)) == (entity,)
        assert await _entities(provider, names=("Acme", "Acme Corp.", "", HALF_PAIR)) == ()


@check(Group.WRITE, Group.ENTITIES)
async def letters_fold_as_unicode_says(store: Store) -> None:
    async with opened(store) as provider:
        for one, same in (("Straße", "STRASSE"), ("ΟΔΟΣ", "οδος"), ("e\u0301cole", "École"), ("ﬁnance", "Finance")):
            await _relate(provider, one, key=one)
            assert [entity.name for entity in await _entities(provider, names=(same,))] == [one]


@check(Group.WRITE, Group.ENTITIES)
async def an_entity_is_found_at_the_scopes_that_are_asked_for_alone(store: Store) -> None:
    async with opened(store) as provider:
        own = await _relate(provider, "Acme")
        wide = await _relate(provider, "Acme", scope=EVERYONE)
        here, there = await _entities(provider, ANN, EVERYONE)
        assert (here.scope, there.scope) == (ANN, EVERYONE)
        assert here.id != there.id
        assert await _entities(provider, BOB) == ()
        assert await provider.entities(EntityRequest((ANN,), ids=(there.id,))) == ()
        assert await _mentions(provider, "Acme", ANN) == (own.id,)
        assert set(await _mentions(provider, "Acme", ANN, EVERYONE)) == {own.id, wide.id}
        assert await provider.mentions(MentionRequest((ANN,), (there.id,), limit=10)) == ()
        assert await provider.merge(MergeRequest(ANN, here.id, there.id, by="ann", at=minute(0))) is None
        assert await provider.merges(LedgerRequest((ANN, EVERYONE))) == ()


@check(Group.WRITE, Group.ENTITIES)
async def records_that_name_an_entity_come_newest_first_and_at_most_so_many(store: Store) -> None:
    async with opened(store) as provider:
        records = [await _relate(provider, "Acme", f"part {number}", at=number) for number in range(4)]
        assert await _mentions(provider, "Acme", limit=3) == tuple(record.id for record in records[:0:-1])
        assert await _mentions(provider, "Acme", limit=0) == ()


@check(Group.WRITE, Group.ENTITIES)
async def what_is_merged_is_one_entity_with_all_its_names(store: Store) -> None:
    async with opened(store) as provider:
        first, second = await _relate(provider, "Acme"), await _relate(provider, "Acme Corp", at=1)
        merge = await _merge(provider, "Acme Corp", "Acme")
        root, merged = await _entities(provider, names=("acme corp",))
        assert (root.name, root.aliases, root.merged_into) == ("Acme", ("Acme Corp",), None)
        assert (merged.name, merged.aliases, merged.merged_into) == ("Acme Corp", (), root.id)
        assert (merge.source, merge.target, merge.by, merge.at) == (merged.id, root.id, "ann", minute(5))
        for name in ("Acme", "Acme Corp"):
            assert await _mentions(provider, name) == (second.id, first.id)


@check(Group.WRITE, Group.ENTITIES)
async def a_merged_entity_points_straight_at_a_root(store: Store) -> None:
    async with opened(store) as provider:
        for name in "ABCDE":
            await _relate(provider, name)
        for source, target in (("A", "B"), ("C", "D"), ("B", "C"), ("D", "E")):
            await _merge(provider, source, target)
        root, *merged = sorted(await _entities(provider), key=lambda entity: entity.merged_into is not None)
        assert (root.name, root.aliases) == ("E", ("A", "B", "C", "D"))
        assert {entity.merged_into for entity in merged} == {root.id}


@check(Group.WRITE, Group.ENTITIES)
async def merging_in_a_circle_is_refused(store: Store) -> None:
    async with opened(store) as provider:
        for name in "ABC":
            await _relate(provider, name)
        await _merge(provider, "A", "B")
        await _merge(provider, "B", "C")
        before = await _entities(provider)
        for source, target in (("A", "A"), ("B", "A"), ("C", "A"), ("A", "C")):
            await refusal(InvalidInput, _merge(provider, source, target))
        assert await _entities(provider) == before
        assert len(await provider.merges(LedgerRequest((ANN,)))) == 2


@check(Group.WRITE, Group.ENTITIES)
async def every_merge_and_unmerge_is_in_the_ledger(store: Store) -> None:
    async with opened(store) as provider:
        for name in "AB":
            await _relate(provider, name)
            await _relate(provider, name, scope=BOB)
        merge = await _merge(provider, "A", "B")
        undone = await _unmerge(provider, merge)
        assert undone is not None
        assert (undone.id, undone.by, undone.at) == (merge.id, "ann", minute(5))
        assert (undone.undone_by, undone.undone_at) == ("bob", minute(6))
        again = await _merge(provider, "A", "B")
        other = await _merge(provider, "A", "B", BOB)
        assert await provider.merges(LedgerRequest((ANN,))) == (undone, again)
        assert await provider.merges(LedgerRequest((BOB, ANN))) == (undone, again, other)


@check(Group.WRITE, Group.ENTITIES)
async def an_unmerge_leaves_all_as_if_it_had_never_been_merged(store: Store) -> None:
    async with opened(store) as provider:
        for name in "ABC":
            await _relate(provider, name)
        states = [await _entities(provider)]
        merges: list[Merge] = []
        for source, target in (("A", "B"), ("B", "C")):
            merges.append(await _merge(provider, source, target))
            states.append(await _entities(provider))
        for merge, state in zip(reversed(merges), reversed(states[:-1]), strict=True):
            await _unmerge(provider, merge)
            assert await _entities(provider) == state


@check(Group.WRITE, Group.ENTITIES)
async def a_merge_within_others_can_be_taken_back_on_its_own(store: Store) -> None:
    async with opened(store) as provider:
        for name in "ABC":
            await _relate(provider, name)
        first = await _merge(provider, "A", "B")
        await _merge(provider, "B", "C")
        await _unmerge(provider, first)
        assert (await _one(provider, "A")).aliases == ()
        assert (await _one(provider, "B")).aliases == ("B",)
        assert (await _one(provider, "B")).name == "C"


@check(Group.WRITE, Group.ENTITIES)
async def only_a_merge_that_is_in_force_at_the_scope_is_undone(store: Store) -> None:
    async with opened(store) as provider:
        for name in "AB":
            await _relate(provider, name)
        merge = await _merge(provider, "A", "B")
        for scope, id in ((BOB, merge.id), (ANN, "no such line"), (ANN, HALF_PAIR), (HALF_PAIR, merge.id)):
            assert await provider.unmerge(UnmergeRequest(scope, id, by="bob", at=minute(6))) is None
        assert await _unmerge(provider, merge) is not None
        assert await _unmerge(provider, merge) is None
        assert await provider.merge(MergeRequest(ANN, "unknown", merge.target, by="ann", at=minute(5))) is None


@check(Group.WRITE, Group.ENTITIES)
async def forgetting_a_record_erases_the_entities_that_it_alone_brought(store: Store) -> None:
    async with opened(store) as provider:
        gone = await _relate(provider, "Xylocarp", "Acme")
        await _relate(provider, "Ann", "acme")
        await provider.forget(erasing(gone))
        assert [(entity.name, entity.aliases) for entity in await _entities(provider)] == [("acme", ()), ("Ann", ())]
        assert await _entities(provider, names=("xylocarp",)) == ()
        assert not [path for path in store.files() if b"xylocarp" in path.read_bytes().lower()]


@check(Group.WRITE, Group.ENTITIES)
async def an_entity_that_is_gone_still_joins_what_was_merged_by_way_of_it(store: Store) -> None:
    async with opened(store) as provider:
        await _relate(provider, "A")
        gone = await _relate(provider, "B")
        await _relate(provider, "C")
        await _merge(provider, "A", "B")
        await _merge(provider, "C", "B")
        await provider.forget(erasing(gone))
        assert [entity.merged_into for entity in await _entities(provider)].count(None) == 1
        assert {(await _one(provider, name)).id for name in "AC"} == {(await _one(provider, "A")).id}
        assert len(await provider.merges(LedgerRequest((ANN,)))) == 2


@check(Group.WRITE, Group.ENTITIES)
async def a_corrected_record_keeps_the_entities_of_its_history(store: Store) -> None:
    """So that correcting it back finds them merged as they were."""
    async with opened(store) as provider:
        await _relate(provider, "A", key="key")
        await _relate(provider, "B", key="other")
        await _merge(provider, "A", "B")
        before = await _one(provider, "A")
        record = await _relate(provider, "C", key="key", at=1)
        assert (await _one(provider, "A")).id == before.id
        assert record.id in await _mentions(provider, "A")
        assert record.id in await _mentions(provider, "C")
        await provider.forget(erasing(record))
        assert await _names(provider) == ["B"]


@check(Group.WRITE, Group.ENTITIES, Group.REVIEW)
async def a_quarantined_record_brings_no_entity_before_it_is_approved(store: Store) -> None:
    async with opened(store) as provider:
        held = await _relate(provider, "Planted", status="quarantined")
        assert await _entities(provider) == ()
        await provider.settle(SettleRequest(ANN, held.id, "approve", at=minute(1), by="ann"))
        assert await _names(provider) == ["Planted"]


@check(Group.WRITE, Group.ENTITIES)
async def no_entity_is_derived_from_a_record_that_was_written_with_skip(store: Store) -> None:
    async with opened(store) as provider:
        await _relate(provider, "Private", extraction="skip")
        assert await _entities(provider) == ()
        await _relate(provider, "Public", extraction="allow")
        assert await _names(provider) == ["Public"]


@check(Group.WRITE, Group.ENTITIES, Group.RESTORE)
async def what_is_taken_in_brings_the_entities_of_all_its_versions(store: Store) -> None:
    old = raw_record("id-1", "employer", "text", subject="Ann", object="Acme")
    new = raw_record("id-1", "employer", "text", at=1, version=2, subject="Ann", object="Zenith")
    async with opened(store) as provider:
        await provider.restore(RestoreRequest(((old, new),), at=minute(9)))
        assert await _names(provider) == ["Acme", "Ann", "Zenith"]
        before = await _one(provider, "Ann")
        await provider.restore(RestoreRequest(((new,),), at=minute(9)))
        assert await _names(provider) == ["Ann", "Zenith"]
        assert await _one(provider, "Ann") == before


@check(Group.WRITE, Group.ENTITIES)
async def entities_and_their_ledger_are_there_when_the_store_is_opened_again(store: Store) -> None:
    async with opened(store) as provider:
        await _relate(provider, "A", "B")
        await _merge(provider, "A", "B")
        before, ledger = await _entities(provider), await provider.merges(LedgerRequest((ANN,)))
    async with opened(store) as provider:
        assert await _entities(provider) == (before if store.durable else ())
        assert await provider.merges(LedgerRequest((ANN,))) == (ledger if store.durable else ())
