"""A whole store into another one: every pair of providers, stopped and written meanwhile, merged and refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from mcp_memory_server.errors import NotSupported, Refused
from mcp_memory_server.providers.base import (
    PARTS,
    AuditLine,
    CarryRequest,
    EntityRequest,
    ForgetRequest,
    Group,
    JournaledDigest,
    JournaledEntry,
    JournalLookup,
    ListRequest,
    MemoryProvider,
    MergeRequest,
    PageRequest,
    PinRequest,
    RecordVectors,
    RestoreRequest,
    ReviseRequest,
    SearchRequest,
    Surfaced,
    SurfaceRequest,
    UnmergeRequest,
    VectorsWrite,
    VersionRef,
    VersionsRequest,
)
from mcp_memory_server.providers.contract.samples import (
    ANN,
    BOB,
    EVERYONE,
    erasing,
    minute,
    raw_record,
    remember,
    writing,
)
from mcp_memory_server.providers.contract.store import EveryGroup, Store, opened
from mcp_memory_server.records import MemoryOrigin, MemoryRecord
from mcp_memory_server.service.copying import Copied, CopyRequest, Progress, copy_store
from tests.providers.matrix import STORES
from tests.watched_provider import WatchedProvider

THREAD = MemoryOrigin(author="agent", thread_id="talk")
SCOPES = (ANN, BOB, EVERYONE)
ODD = "odd ↳ 🎉 key"


def stores(folder: Path, *schemes: str) -> tuple[Store, ...]:
    """A fresh store of each scheme."""
    made: list[Store] = []
    for number, scheme in enumerate(schemes):
        place = folder / str(number)
        place.mkdir()
        made.append(STORES[scheme](place))
    return tuple(made)


def _unheard(_: Progress) -> None:
    pass


async def copy(source: MemoryProvider, target: MemoryProvider, **fields: Any) -> Copied:
    report: Callable[[Progress], None] = fields.pop("report", _unheard)
    return await copy_store(CopyRequest(source, target, by="operator", now=lambda: minute(59), **fields), report)


async def fill(provider: EveryGroup) -> dict[str, MemoryRecord]:
    """Something of everything that a store holds."""
    # In an order in which neither keys nor ids come.
    held = {
        key: await remember(provider, key, f"{key} says so", scope, at, **fields)
        for key, scope, at, fields in (
            ("zebra", ANN, 1, {"origin": THREAD, "tags": ("animals",)}),
            ("apple", ANN, 2, {"origin": THREAD, "valid_to": minute(50)}),
            ("mango", ANN, 3, {"origin": THREAD, "sensitivity": "secret"}),
            (ODD, BOB, 4, {"extraction": "skip", "importance": 0.1}),
            ("works", ANN, 5, {"subject": "Ann", "predicate": "works at", "object": "ACME"}),
            ("plays", ANN, 6, {"subject": "ann  smith", "predicate": "plays", "object": "Acme"}),
            ("house", EVERYONE, 7, {}),
        )
    }
    held["apple"] = await remember(provider, "apple", "apples no more", ANN, 8, origin=THREAD)
    held["apple"] = await remember(provider, "apple", "apples again", ANN, 9, origin=THREAD)
    await provider.pin(PinRequest(EVERYONE, held["house"].id, pinned=True, at=minute(10)))
    waiting = await provider.write(writing("apple", "says another", at=11, status="quarantined", provenance="imported"))
    for thread in ("one", "two"):
        origin = MemoryOrigin(author="human", thread_id=thread)
        await provider.write(writing("apple", f"in {thread}", at=12, kind="session", origin=origin))
    gone = await remember(provider, "gone", "nobody may know", BOB, 13)
    await provider.forget(ForgetRequest(BOB, gone.id, by="bob", at=minute(14), reason="asked to"))
    aside = held["works"].model_copy(update={"archived_at": minute(15), "archived_because": "a test"})
    await provider.revise(ReviseRequest(aside, minute(15)))
    one, *others = await provider.entities(EntityRequest((ANN,)))
    lines = [await provider.merge(MergeRequest(ANN, other.id, one.id, by="ann", at=minute(16))) for other in others]
    assert lines[-1] is not None
    await provider.unmerge(UnmergeRequest(ANN, lines[-1].id, by="bob", at=minute(17)))
    refs = VersionRef(held["apple"].id, 2), VersionRef(waiting.record.id, 1)
    entries = (JournaledEntry(refs[0], pinned=False, overrides=(refs[1],)),)
    digest = JournaledDigest(
        "digest-1", "ann", minute(18), (ANN,), entries, 1, 0, recalled=True, turn_id="turn", query_hash="f00d"
    )
    await provider.journal([digest])
    shown = tuple(Surfaced(held[key].scope, held[key].id, 1) for key in ("zebra", "house"))
    await provider.surface(SurfaceRequest("ann", "talk", minute(19), shown))
    vectors = RecordVectors(BOB, VersionRef(held[ODD].id, 1), bytes(16), b"tokens")
    await provider.put_vectors(VectorsWrite("toy", (vectors,)))
    await provider.record_maintenance(minute(20))
    return held


async def everything(provider: EveryGroup) -> dict[str, Any]:
    """All that the seam tells of a store, in an order that does not depend on the kind of store."""
    told: dict[str, Any] = {"scopes": await provider.scopes(), "secret": await provider.journal_secret()}
    told["maintained"] = (await provider.stats(())).last_maintenance
    for scope in told["scopes"]:
        records = await provider.page(PageRequest(scope, 1000))
        refs = [VersionRef(record.id, version) for record in records for version in range(1, record.version + 1)]
        versions = await provider.versions(VersionsRequest((scope,), tuple(refs)))
        told[scope] = [versions[ref] for ref in refs if ref in versions]
        told[f"entities {scope}"] = await provider.entities(EntityRequest((scope,)))
    for part in PARTS:
        told[part] = sorted(map(repr, (await provider.carried(CarryRequest(part, 1000))).rows))
    return told


async def recalled(provider: EveryGroup) -> list[tuple[str, float]]:
    """What a question finds, in which order and with which scores."""
    found = await provider.search(SearchRequest(SCOPES, "who says so about apples?", 10, at=minute(30)))
    return [(hit.record.id, hit.score) for hit in found]


PAIRS = [(one, other) for one in STORES for other in STORES]


@pytest.mark.parametrize(("here", "there"), PAIRS)
async def test_everything_arrives_and_comes_back(here: str, there: str, tmp_path: Path) -> None:
    first, second, third = stores(tmp_path, here, there, here)
    async with opened(first) as source, opened(second) as target, opened(third) as back:
        await fill(source)
        held = await everything(source)
        copied = await copy(source, target)
        assert (copied.same, copied.source_digest) == (True, copied.target_digest)
        assert (copied.records, copied.scopes, copied.written) == (10, 3, 0)
        assert copied.restored == copied.records < copied.versions
        assert [beside.rows for beside in copied.beside] == [3, 2, 1, 1, 1, 1]
        assert await everything(target) == held
        assert await recalled(target) == await recalled(source)
        assert (await copy(target, back)).source_digest == copied.source_digest
        assert await everything(back) == held


@pytest.mark.parametrize("scheme", STORES)
async def test_a_copy_run_again_takes_what_changed_and_erases_what_was_forgotten(scheme: str, tmp_path: Path) -> None:
    one, other = stores(tmp_path, scheme, scheme)
    async with opened(one) as source, opened(other) as target:
        held = await fill(source)
        await copy(source, target)
        again = await copy(source, target)
        assert (again.same, again.restored, again.forgotten) == (True, 0, 0)
        await remember(source, "zebra", "zebras changed", ANN, 30, origin=THREAD)
        await remember(source, "new", "new here", BOB, 31)
        await source.pin(PinRequest(EVERYONE, held["house"].id, pinned=False, at=minute(32)))
        await source.forget(ForgetRequest(ANN, held["mango"].id, by="ann", at=minute(33), reason="private"))
        await remember(source, "mango", "quite another one", ANN, 34)
        copied = await copy(source, target)
        assert (copied.same, copied.restored, copied.forgotten, copied.own) == (True, 4, 1, 0)
        assert await everything(target) == await everything(source)
        assert await recalled(target) == await recalled(source)
        assert await target.audited(ANN, [held["mango"].id]) == (
            AuditLine(ANN, held["mango"].id, "ann", minute(33), "private"),
        )


async def test_the_bytes_of_what_was_forgotten_leave_the_copy_too(tmp_path: Path) -> None:
    one, other = stores(tmp_path, "memory", "sqlite")
    async with opened(one) as source, opened(other) as target:
        record = await remember(source, "secret place", "behind-the-third-oak")
        await remember(source, "other", "stays")
        await copy(source, target)
        await source.forget(erasing(record))
        await copy(source, target)
        assert not [path for path in other.files() if b"behind-the-third-oak" in path.read_bytes()]


async def test_a_copy_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done > 900:
            raise Stopped

    one, other = stores(tmp_path, "sqlite", "sqlite")
    async with opened(one) as source:
        records = tuple(
            (raw_record(f"id-{number:04}", f"key {number % 7} {number}", "text"),) for number in range(1600)
        )
        await source.restore(RestoreRequest(tuple(reversed(records)), at=minute(1)))
        async with opened(other) as target:
            with pytest.raises(Stopped):
                await copy(source, target, report=stop)
            held = (await target.stats((ANN,))).records
            assert 0 < held < 1600
        async with opened(other) as target:
            copied = await copy(source, target)
            assert (copied.same, copied.records, copied.restored) == (True, 1600, 1600 - held)
            assert await order(target) == await order(source)


async def order(provider: EveryGroup) -> list[tuple[str, str]]:
    return [*(await provider.in_order(10_000)).names]


async def test_progress_is_told_in_records_and_ends_at_all_of_them(tmp_path: Path) -> None:
    source = InStep()
    for scope in (ANN, BOB):
        records = tuple((raw_record(f"{scope} {number}", f"key {number}", "text", scope),) for number in range(600))
        await source.store.restore(RestoreRequest(records, at=minute(1)))
    told: list[Progress] = []
    async with opened(stores(tmp_path, "memory")[0]) as target:
        await copy(cast("EveryGroup", source), target, report=told.append)
    steps = list(dict.fromkeys(progress.step for progress in told))
    assert steps == ["copying", "verifying", "carrying"]
    for step in steps:
        seen = [progress for progress in told if progress.step == step]
        assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
        assert seen[-1].done == seen[-1].total == (len(PARTS) if step == "carrying" else 1200)
    asked = [request.limit for name, request in source.calls if name in {"page", "carried"}]
    assert max(asked) <= 500


class InStep(WatchedProvider):
    """A source at which something happens just before the calls of one name, each thing once."""

    def __init__(self, without: tuple[Group, ...] = ()) -> None:
        super().__init__(without)
        self.before: dict[str, list[Callable[[], Awaitable[object]]]] = {}

    async def _call(self, name: str, *request: Any) -> Any:
        if self.before.get(name):
            await self.before[name].pop(0)()
        return await super()._call(name, *request)


@pytest.mark.parametrize("moment", ["in_order", "list", "versions", "page", "carried", "changes"])
async def test_what_is_written_and_forgotten_during_a_copy_is_taken_along(moment: str, tmp_path: Path) -> None:
    source = InStep()
    store = cast("EveryGroup", source.store)
    held = await fill(store)

    async def write() -> None:
        await remember(store, "zebra", "zebras changed", ANN, 40, origin=THREAD)
        await remember(store, "late", "came late", BOB, 41)

    async def forget() -> None:
        await store.forget(erasing(held["mango"]))
        await store.forget(erasing(held["house"]))

    async def write_and_forget() -> None:
        await write()
        await forget()

    # There is one page of names. The first `changes` comes before everything; the others while it is copied.
    plan = {"in_order": [write_and_forget], "changes": [write, write, forget, forget]}
    source.before[moment] = [*plan.get(moment, [write, forget])]
    async with opened(stores(tmp_path, "sqlite")[0]) as target:
        copied = await copy(cast("EveryGroup", source), target)
        assert copied.same
        for scope in SCOPES:
            assert await target.page(PageRequest(scope, 99)) == await store.page(PageRequest(scope, 99))
        assert await target.audited(ANN, [held["mango"].id])
        if moment == "carried":
            assert copied.written >= 4
        last = await copy(cast("EveryGroup", source), target)
        assert (last.same, last.written, last.restored) == (True, 0, 0)
        assert await everything(target) == await everything(store)


async def test_a_gap_in_the_change_feed_is_closed_by_comparing(tmp_path: Path) -> None:
    class Forgetful(InStep):
        async def _call(self, name: str, *request: Any) -> Any:
            answer = await super()._call(name, *request)
            if name == "changes" and request[0] is not None:
                return type(answer)(answer.cursor, (), gap=True)
            return answer

    source = Forgetful()
    store = cast("EveryGroup", source.store)
    held = await fill(store)
    source.before["in_order"] = [lambda: store.forget(erasing(held["house"]))]
    async with opened(stores(tmp_path, "memory")[0]) as target:
        copied = await copy(cast("EveryGroup", source), target)
        assert copied.same
        assert copied.written
        assert EVERYONE not in await target.scopes()


async def test_a_target_with_records_of_its_own_is_refused_untouched(tmp_path: Path) -> None:
    one, other = stores(tmp_path, "memory", "sqlite")
    async with opened(one) as source, opened(other) as target:
        await fill(source)
        await remember(target, "own", "was here before")
        before = await everything(target)
        with pytest.raises(Refused, match="--merge"):
            await copy(source, target)
        assert await everything(target) == before


async def test_merging_keeps_every_record_of_the_target(tmp_path: Path) -> None:
    one, other = stores(tmp_path, "memory", "sqlite")
    async with opened(one) as source, opened(other) as target:
        held = await fill(source)
        own = [await remember(target, key, "its own", scope) for key, scope in (("house", EVERYONE), ("own", BOB))]
        await target.restore(
            RestoreRequest(((raw_record(held["zebra"].id, "elsewhere", "x", "tenant:x"),),), minute(1))
        )
        copied = await copy(source, target, merge=True)
        assert (copied.same, copied.differing, copied.beaten, copied.own) == (False, 2, 1, 3)
        assert [difference.scope for difference in copied.differences] == [ANN, EVERYONE]
        for record in own:
            assert (await target.list(ListRequest((record.scope,), ids=(record.id,)))).records == (record,)
        assert (await target.stats(("tenant:x",))).records == 1
        assert (await target.stats((BOB,))).records == 2
        await source.forget(erasing(held[ODD]))
        assert (await copy(source, target, merge=True)).forgotten == 1
        assert (await target.stats((BOB,))).records == 1


async def test_what_was_written_at_the_target_after_the_switch_is_never_undone(tmp_path: Path) -> None:
    one, other = stores(tmp_path, "sqlite", "memory")
    async with opened(one) as source, opened(other) as target:
        held = await fill(source)
        await copy(source, target)
        newer = await remember(target, "zebra", "newer at the target", ANN, 40, origin=THREAD)
        own = await remember(target, "after", "after the switch", BOB, 41)
        await target.forget(erasing(held["house"]))
        before = await everything(target)
        copied = await copy(source, target)
        assert (copied.same, copied.newer, copied.own, copied.erased) == (False, 1, 1, 1)
        assert (copied.restored, copied.forgotten, copied.differing) == (0, 0, 3)
        assert await everything(target) == before
        back = await copy(target, source)  # the way back takes it all along
        assert (back.same, back.restored, back.forgotten) == (True, 2, 1)
        assert newer in await source.page(PageRequest(ANN, 99))
        assert own in await source.page(PageRequest(BOB, 99))


async def test_what_the_source_took_in_again_after_forgetting_it_is_copied_again(tmp_path: Path) -> None:
    one, other = stores(tmp_path, "memory", "memory")
    async with opened(one) as source, opened(other) as target:
        record = await remember(source, "key", "text")
        await copy(source, target)
        await source.forget(erasing(record))
        await copy(source, target)
        await source.restore(RestoreRequest(((record,),), minute(50)))
        copied = await copy(source, target)
        assert (copied.same, copied.restored, copied.erased) == (True, 1, 0)


async def test_a_target_that_does_not_hold_what_it_took_is_found_out(tmp_path: Path) -> None:
    class Lossy(WatchedProvider):
        async def _call(self, name: str, *request: Any) -> Any:
            if name == "restore":  # loses the history of Ann's records, and Bob's records altogether
                kept = tuple(versions[-1:] for versions in request[0].records if versions[-1].scope != BOB)
                request = (RestoreRequest(kept, request[0].at),)
            return await super()._call(name, *request)

    target = Lossy()
    async with opened(stores(tmp_path, "memory")[0]) as source:
        await fill(source)
        copied = await copy(source, target)
    assert not copied.same
    assert copied.source_digest != copied.target_digest
    found = [(difference.scope, difference.at_source, difference.at_target) for difference in copied.differences]
    assert found == [(ANN, 8, 8), (BOB, 1, 0)]
    assert [beside.part for beside in copied.beside if not beside.held] == ["vectors"]


async def test_between_stores_that_cannot_carry_the_records_are_copied_and_it_is_said(tmp_path: Path) -> None:
    target = WatchedProvider(without=[Group.CARRY, Group.HISTORY])
    async with opened(stores(tmp_path, "sqlite")[0]) as source:
        held = await fill(source)
        copied = await copy(source, target)
        assert (copied.records, copied.carries, copied.with_history) == (10, False, False)
        with pytest.raises(Refused, match="--merge"):
            await copy(source, target)
        await source.forget(erasing(held["house"]))
        again = await copy(source, target, merge=True)
        assert again.own == 1  # nobody can tell that it was the source's
    assert {"carry", "carried", "adopt_secret"}.isdisjoint(target.called())


async def test_a_source_without_a_change_feed_is_copied_and_it_is_said(tmp_path: Path) -> None:
    source = InStep(without=(Group.CHANGES,))
    store = cast("EveryGroup", source.store)
    held = await fill(store)
    source.before["page"] = [lambda: store.forget(erasing(held["house"]))]
    async with opened(stores(tmp_path, "memory")[0]) as target:
        copied = await copy(cast("EveryGroup", source), target)
        assert (copied.same, copied.follows, copied.written) == (True, False, 0)
        assert EVERYONE not in await target.scopes()


@pytest.mark.parametrize(
    ("end", "group"), [("source", Group.BROWSE), ("target", Group.BROWSE), ("target", Group.RESTORE)]
)
async def test_stores_that_cannot_be_copied_are_refused(end: str, group: Group) -> None:
    ends = {"source": WatchedProvider(), "target": WatchedProvider()}
    ends[end] = WatchedProvider(without=[group])
    with pytest.raises(NotSupported, match="Copy"):
        await copy(ends["source"], ends["target"])


async def test_a_long_history_and_one_with_gaps_arrive_whole(tmp_path: Path) -> None:
    one, other = stores(tmp_path, "sqlite", "memory")
    numbers = (*range(1, 80), 200, 3000)
    long = tuple(raw_record("id-1", "long", f"text {number}", version=number) for number in numbers)
    gapped = tuple(raw_record("id-2", "gapped", f"text {number}", version=number) for number in (3, 7, 20))
    async with opened(one) as source, opened(other) as target:
        await source.restore(RestoreRequest((long, gapped), minute(1)))
        copied = await copy(source, target)
        assert (copied.same, copied.versions) == (True, len(long) + len(gapped))


async def test_a_replay_at_the_target_shows_what_was_shown_at_the_source(tmp_path: Path) -> None:
    one, other = stores(tmp_path, "memory", "sqlite")
    async with opened(one) as source, opened(other) as target:
        await fill(source)
        await copy(source, target)
        lookup = JournalLookup("ann", turn_id="turn")
        digest = await target.journaled(lookup)
        assert digest is not None
        assert digest == await source.journaled(lookup)
        refs = tuple(ref for entry in digest.entries for ref in (entry.ref, *entry.overrides))
        request = VersionsRequest((ANN,), refs)
        assert dict(await target.versions(request)) == dict(await source.versions(request))
