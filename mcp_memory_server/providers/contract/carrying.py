"""What a store holds beside its records: read page by page, and taken in elsewhere."""

from __future__ import annotations

from dataclasses import replace

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import (
    PARTS,
    AuditLine,
    Carried,
    CarryRequest,
    EntityId,
    EntityRequest,
    Group,
    HeldVectors,
    JournaledDigest,
    JournalLookup,
    LedgerRequest,
    Merge,
    MergeRequest,
    Part,
    RecordVectors,
    RestoreRequest,
    Surfaced,
    SurfacedLookup,
    SurfaceRequest,
    UnmergeRequest,
    VectorCount,
    VectorsWrite,
    VersionRef,
)

from .refusals import refusal
from .registry import check
from .samples import ANN, BOB, HALF_PAIR, erasing, minute, raw_record, remember, writing
from .store import EveryGroup, Store, opened

_EMBEDDER = "toy:one"
_EVERY_PART = (
    *(Group.CARRY, Group.WRITE, Group.ENTITIES, Group.JOURNAL, Group.HISTORY, Group.SURFACED, Group.VECTORS),
    Group.SEARCH,
)
_MERGED = Merge("merge-1", ANN, "entity-1", "entity-2", "ann", minute(3))


def _digest(digest_id: str, actor_id: str = "ann", turn_id: str | None = None) -> JournaledDigest:
    return JournaledDigest(digest_id, actor_id, minute(1), (ANN,), (), 0, 0, recalled=False, turn_id=turn_id)


def _vectors(id: str, version: int = 1, pooled: bytes = b"\x01\x02") -> HeldVectors:
    return HeldVectors(_EMBEDDER, RecordVectors(ANN, VersionRef(id, version), pooled, b"tokens"))


async def _held(provider: EveryGroup, part: Part, limit: int = 100) -> list[Carried]:
    """The whole part, in pages of that size."""
    held: list[Carried] = []
    page = await provider.carried(CarryRequest(part, limit))
    held += page.rows
    while page.after is not None:
        page = await provider.carried(CarryRequest(part, limit, page.after))
        assert len(page.rows) <= limit
        held += page.rows
    return held


async def _fill(provider: EveryGroup) -> None:
    """Two rows or more of every part."""
    for number, scope in enumerate((ANN, ANN, BOB)):
        record = await remember(provider, f"key {number}", "says so", scope, subject=f"Name {number}", object="It")
        vectors = RecordVectors(scope, VersionRef(record.id, 1), bytes((number, 1)))
        await provider.put_vectors(VectorsWrite(_EMBEDDER, (vectors,)))
        shown = (Surfaced(scope, record.id, 1),)
        await provider.surface(SurfaceRequest("ann", f"talk {number}", minute(number), shown))
        await provider.journal([_digest(f"digest-{number}", f"actor {number}", "turn")])
        await provider.forget(erasing(await remember(provider, f"gone {number}", "goes", scope)))
    found = await provider.entities(EntityRequest((ANN,)))
    merges = [await provider.merge(MergeRequest(ANN, one.id, found[0].id, by="ann", at=minute(5))) for one in found[1:]]
    merge = merges[-1]
    assert merge is not None
    await provider.unmerge(UnmergeRequest(ANN, merge.id, by="bob", at=minute(6)))


@check(
    Group.CARRY, Group.WRITE, Group.ENTITIES, Group.JOURNAL, Group.HISTORY, Group.SURFACED, Group.VECTORS, Group.SEARCH
)
async def every_part_is_read_whole_in_pages_of_any_size(store: Store) -> None:
    async with opened(store) as provider:
        await _fill(provider)
        held = {part: await _held(provider, part) for part in PARTS}
        counts = {"entities": 5, "merges": 2, "audit": 3, "journal": 3, "surfaced": 3, "vectors": 3}
        assert {part: len(rows) for part, rows in held.items()} == counts
        for part in PARTS:
            for limit in (1, 2, len(held[part])):
                assert await _held(provider, part, limit) == held[part]
        assert held["merges"] == list(await provider.merges(LedgerRequest((ANN, BOB))))


@check(
    Group.CARRY, Group.WRITE, Group.ENTITIES, Group.JOURNAL, Group.HISTORY, Group.SURFACED, Group.VECTORS, Group.SEARCH
)
async def taking_in_what_is_held_changes_nothing(store: Store) -> None:
    async with opened(store) as provider:
        await _fill(provider)
        held = {part: await _held(provider, part) for part in PARTS}
        for rows in held.values():
            await provider.carry(rows)
        assert {part: await _held(provider, part) for part in PARTS} == held


@check(Group.CARRY, Group.WRITE, Group.ENTITIES)
async def an_entity_takes_its_id_along_into_the_ledger(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "key", "says so", subject="Ann", object="Bob")
        ann, bob = await provider.entities(EntityRequest((ANN,)))
        await provider.merge(MergeRequest(ANN, ann.id, bob.id, by="ann", at=minute(5)))
        unknown = EntityId(ANN, "nobody", "id-2"), EntityId(BOB, "ann", "id-3")
        await provider.carry([EntityId(ANN, "ann", "id-1"), *unknown])
        held = await provider.entities(EntityRequest((ANN,)))
        assert [(entity.name, entity.id, entity.merged_into) for entity in held] == [
            ("Ann", "id-1", bob.id),
            ("Bob", bob.id, None),
        ]
        (line,) = await provider.merges(LedgerRequest((ANN,)))
        assert (line.source, line.target) == ("id-1", bob.id)


@check(Group.CARRY, Group.WRITE, Group.ENTITIES)
async def lines_of_the_ledger_are_in_force_where_they_are_taken(store: Store) -> None:
    async with opened(store) as provider:
        ids = [EntityId(ANN, "ann", _MERGED.source), EntityId(ANN, "bob", _MERGED.target)]
        undone = replace(_MERGED, undone_by="bob", undone_at=minute(4))
        await remember(provider, "key", "says so", subject="Ann", object="Bob")
        for rows, root in (([*ids, _MERGED], "entity-2"), ([undone], None), ([_MERGED], None)):
            await provider.carry(rows)
            held = await provider.entities(EntityRequest((ANN,), names=("ann",)))
            assert [entity.merged_into for entity in held if entity.id == "entity-1"] == [root]
        assert await provider.merges(LedgerRequest((ANN,))) == (undone,)


@check(Group.CARRY, Group.ENTITIES)
async def a_line_of_the_ledger_is_taken_at_a_scope_without_records(store: Store) -> None:
    async with opened(store) as provider:
        await provider.carry([_MERGED])
        assert await provider.merges(LedgerRequest((ANN,))) == (_MERGED,)


@check(Group.CARRY, Group.WRITE)
async def what_stays_of_a_forgotten_record_is_found_by_its_id(store: Store) -> None:
    async with opened(store) as provider:
        kept, gone = await remember(provider, "kept", "stays"), await remember(provider, "gone", "goes")
        await provider.forget(erasing(gone))
        line = AuditLine(ANN, gone.id, "ann", minute(59), "requested")
        assert await provider.audited(ANN, (kept.id, gone.id, "no-such-id")) == (line,)
        assert await provider.audited(BOB, (gone.id,)) == await provider.audited(ANN, ()) == ()
        assert await provider.audited(HALF_PAIR, (gone.id,)) == await provider.audited(ANN, (HALF_PAIR,)) == ()


@check(Group.CARRY)
async def an_audit_line_is_held_once(store: Store) -> None:
    async with opened(store) as provider:
        line = AuditLine(ANN, "id-1", "ann", minute(59), "requested")
        for rows in ([line], [line, line], [replace(line, at=minute(58))]):
            await provider.carry(rows)
        held = await _held(provider, "audit")
        assert len(held) == 2
        assert set(held) == {line, replace(line, at=minute(58))}


@check(Group.CARRY, Group.WRITE)
async def a_line_that_was_taken_along_before_its_record_is_erased_is_held_once(store: Store) -> None:
    async with opened(store) as provider:
        request = erasing(await remember(provider, "gone", "goes"))
        line = AuditLine(request.scope, request.id, request.by, request.at, request.reason)
        await provider.carry([line])
        await provider.forget(request)
        assert await provider.audited(ANN, (request.id,)) == (line,)


@check(Group.CARRY, Group.WRITE, Group.SURFACED)
async def a_conversation_s_set_is_taken_with_what_is_held(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        shown = (Surfaced(ANN, record.id, 1), Surfaced(ANN, "no-such-id", 1))
        await provider.carry([SurfaceRequest("ann", "talk", minute(1), shown)])
        assert list(await provider.surfaced(SurfacedLookup("ann", "talk"))) == [shown[0]]


@check(Group.CARRY, Group.WRITE, Group.VECTORS, Group.SEARCH)
async def vectors_are_taken_for_current_versions_that_have_none(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        await provider.carry([_vectors(record.id, version=2), _vectors("no-such-id")])
        assert await _held(provider, "vectors") == []
        await provider.carry([_vectors(record.id)])
        await provider.carry([_vectors(record.id, pooled=b"\x02\x01")])
        assert await _held(provider, "vectors") == [_vectors(record.id)]
        await provider.write(writing("key", "other"))
        assert await provider.count_vectors(_EMBEDDER) == VectorCount(searchable=1, embedded=0)


@check(Group.CARRY, Group.JOURNAL, Group.HISTORY)
async def digests_are_taken_as_by_journaling_and_all_or_none(store: Store) -> None:
    async with opened(store) as provider:
        first = _digest("digest-1", turn_id="turn")
        await provider.carry([first, _digest("digest-2", turn_id="turn")])
        await refusal(InvalidInput, provider.carry([_digest("digest-3"), _digest(HALF_PAIR)]))
        assert await _held(provider, "journal") == [first]
        assert await provider.journaled(JournalLookup("ann", turn_id="turn")) == first


@check(Group.CARRY, Group.JOURNAL, Group.HISTORY)
async def an_adopted_secret_is_the_store_s_from_then_on(store: Store) -> None:
    async with opened(store) as provider:
        assert await provider.journal_secret() != bytes(range(32))
        await provider.adopt_secret(bytes(range(32)))
        assert await provider.journal_secret() == bytes(range(32))
    async with opened(store) as provider:
        assert (await provider.journal_secret() == bytes(range(32))) is store.durable


async def _order(provider: EveryGroup, limit: int) -> list[tuple[str, str]]:
    page = await provider.in_order(limit)
    names = [*page.names]
    while page.after is not None:
        page = await provider.in_order(limit, page.after)
        names += page.names
    return names


@check(Group.CARRY, Group.WRITE)
async def records_are_told_in_the_order_in_which_they_were_first_written(store: Store) -> None:
    async with opened(store) as provider:
        keys = ("night", "noon", "day", "dawn", "dusk")
        records = [await remember(provider, key, "says so", at=9 - number) for number, key in enumerate(keys)]
        other = await remember(provider, "day", "says so", BOB)
        await provider.write(writing("noon", "something else"))
        for limit in (1, 2, 3, 6, 7):
            names = await _order(provider, limit)
            assert [name for name in names if name[0] == ANN] == [(ANN, record.id) for record in records]
            assert [name for name in names if name[0] != ANN] == [(BOB, other.id)]


@check(Group.CARRY, Group.RESTORE, Group.WRITE)
async def records_stand_in_the_order_in_which_they_were_restored_first(store: Store) -> None:
    async with opened(store) as provider:
        records = [raw_record(f"id-{number}", f"key {number}", "says so", at=number) for number in (3, 1, 2)]
        await provider.restore(RestoreRequest(tuple((record,) for record in records), at=minute(9)))
        new = records[0].model_copy(update={"version": 2, "text": "says otherwise"})
        await provider.restore(RestoreRequest(((records[0], new),), at=minute(10)))
        assert await _order(provider, 9) == [(ANN, "id-3"), (ANN, "id-1"), (ANN, "id-2")]
        taking = raw_record("id-4", "key 1", "says so")
        await provider.restore(RestoreRequest(((taking,),), at=minute(11)))
        assert await _order(provider, 9) == [(ANN, "id-3"), (ANN, "id-2"), (ANN, "id-4")]
