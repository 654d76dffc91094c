"""`page`, `scopes` and `stats`: everything held can be shown."""

from mcp_memory_server.providers.base import Group, PageCursor, PageRequest, PinRequest, ScopeCount

from .registry import check
from .samples import ACME, ANN, BOB, EVERYONE, erasing, minute, remember
from .store import EveryGroup, Store, opened


async def _pages(provider: EveryGroup, scope: str, limit: int) -> list[list[str]]:
    """The keys of every page, as a reader who goes on to the end sees them."""
    pages: list[list[str]] = []
    after = None
    while True:
        page = await provider.page(PageRequest(scope, limit, after))
        pages.append([record.key for record in page])
        if len(page) < limit:
            return pages
        after = PageCursor.behind(page[-1])


@check(Group.WRITE, Group.BROWSE)
async def pages_hold_every_record_once_in_order_of_key(store: Store) -> None:
    """By code point: the order must be one and the same in every store."""
    keys = ["b", "a", "B", "10", "2", "é", "z", "名前", "🎉", "\uffff", "a b", "a-b", "a"]
    async with opened(store) as provider:
        for number, key in enumerate(keys):
            await remember(provider, key, f"text {number}", at=number)
        expected = sorted(set(keys))
        for limit in (1, 5, 6, 12, 100):
            pages = await _pages(provider, ANN, limit)
            assert [key for page in pages for key in page] == expected


@check(Group.WRITE, Group.BROWSE)
async def a_page_begins_after_a_key_whether_or_not_it_is_still_held(store: Store) -> None:
    async with opened(store) as provider:
        for key in ("a", "c", "e"):
            await remember(provider, key, "text")
        for after, expected in (("", ["a", "c", "e"]), ("b", ["c", "e"]), ("c", ["e"]), ("e", []), ("z", [])):
            page = await provider.page(PageRequest(ANN, limit=9, after=PageCursor(after)))
            assert [record.key for record in page] == expected


@check(Group.WRITE, Group.BROWSE)
async def several_records_of_one_key_are_paged_one_by_one(store: Store) -> None:
    """A page may end between them: the next begins with the one behind, whichever of them is still held."""
    async with opened(store) as provider:
        await remember(provider, "a", "before")
        same = [await remember(provider, "b", "active")]
        same += [await remember(provider, "b", f"waiting {n}", status="quarantined") for n in range(4)]
        await remember(provider, "c", "behind")
        for limit in (1, 2, 3, 4, 100):
            assert [key for page in await _pages(provider, ANN, limit) for key in page] == ["a", *"bbbbb", "c"]
        ids = sorted(record.id for record in same)
        behind = await provider.page(PageRequest(ANN, limit=9, after=PageCursor("b", ids[1])))
        assert [record.id for record in behind[:-1]] == ids[2:]
        await provider.forget(erasing(next(record for record in same if record.id == ids[1])))
        assert await provider.page(PageRequest(ANN, limit=9, after=PageCursor("b", ids[1]))) == behind
        assert [record.key for record in await provider.page(PageRequest(ANN, 9, PageCursor("b")))] == ["c"]


@check(Group.WRITE, Group.BROWSE)
async def pages_hold_whole_records_of_every_status_and_no_other_scope(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "a", "active", tags=("t",))
        waiting = await remember(provider, "b", "waiting", status="quarantined")
        await remember(provider, "c", "foreign", BOB)
        await remember(provider, "d", "wider", EVERYONE)
        assert await provider.page(PageRequest(ANN, limit=9)) == (active, waiting)
        assert await provider.page(PageRequest("actor:nobody", limit=9)) == ()


@check(Group.WRITE, Group.BROWSE)
async def scopes_are_those_that_hold_a_record(store: Store) -> None:
    async with opened(store) as provider:
        assert await provider.scopes() == ()
        await remember(provider, "a", "text", EVERYONE)
        await remember(provider, "a", "text", ANN)
        await remember(provider, "a", "text", BOB, status="quarantined")
        await remember(provider, "b", "text", ANN)
        assert await provider.scopes() == (ANN, BOB, EVERYONE)


@check(Group.WRITE, Group.BROWSE)
async def stats_count_records_versions_pins_kinds_and_statuses(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "a", "one", ANN, at=1)
        replaced = await remember(provider, "a", "two", ANN, at=2)
        await provider.pin(PinRequest(ANN, replaced.id, pinned=True, at=minute(8)))
        await remember(provider, "b", "rule", ANN, at=3, kind="procedural", status="quarantined")
        await remember(provider, "a", "wide", EVERYONE, at=4)
        await remember(provider, "a", "foreign", BOB, at=9)
        stats = await provider.stats((EVERYONE, ANN, ACME))
    assert (stats.records, stats.pinned, stats.versions) == (3, 1, 4)
    assert stats.by_scope == (ScopeCount(EVERYONE, 1), ScopeCount(ANN, 2))
    assert dict(stats.by_kind) == {"semantic": 2, "procedural": 1}
    assert dict(stats.by_status) == {"active": 2, "quarantined": 1}
    assert (stats.last_write, stats.pending_erasures) == (minute(4), 0)


@check(Group.WRITE, Group.BROWSE)
async def stats_up_to_a_sensitivity_tell_nothing_of_what_lies_above(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "a", "kept", at=1)
        await remember(provider, "b", "before", at=2)
        before = await provider.stats((ANN,))
        hidden = await remember(provider, "b", "secret now", at=3, sensitivity="secret", kind="semantic")
        await provider.pin(PinRequest(ANN, hidden.id, pinned=True, at=minute(4)))
        stats = await provider.stats((ANN,), "internal")
        assert (stats.records, stats.versions, stats.pinned, stats.last_write) == (1, 1, 0, minute(1))
        assert (dict(stats.by_kind), stats.by_scope) == ({"semantic": 1}, (ScopeCount(ANN, 1),))
        assert (await provider.stats((ANN,), "public")).by_scope == ()
        assert (await provider.stats((ANN,))).records == before.records == 2


@check(Group.BROWSE)
async def an_empty_store_counts_nothing(store: Store) -> None:
    async with opened(store) as provider:
        for scopes in ((), (ANN,)):
            stats = await provider.stats(scopes)
            assert (stats.records, stats.pinned, stats.versions, stats.by_scope) == (0, 0, 0, ())
            assert (dict(stats.by_kind), dict(stats.by_status), stats.last_write) == ({}, {}, None)
            assert stats.last_maintenance is None
