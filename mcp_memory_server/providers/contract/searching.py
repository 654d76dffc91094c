"""`search`: which records come along, and what may influence it."""

from dataclasses import replace

from mcp_memory_server.providers.base import Group, Hit, PinRequest

from .registry import check
from .samples import ANN, BOB, EVERYONE, HALF_PAIR, minute, question, remember
from .store import EveryGroup, Store, opened


def _keys(hits: tuple[Hit, ...]) -> list[str]:
    """The keys of the hits in order, each once."""
    return list(dict.fromkeys(hit.record.key for hit in hits))


async def _pin(provider: EveryGroup, key: str, text: str, scope: str = ANN) -> None:
    record = await remember(provider, key, text, scope)
    await provider.pin(PinRequest(scope, record.id, pinned=True, at=minute(1)))


@check(Group.WRITE, Group.SEARCH)
async def a_hit_is_the_current_record(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "editor", "Writes Python in Vim")
        record = await remember(provider, "editor", "Writes Python in Emacs", at=1, tags=("tools",))
        hits = await provider.search(question("python"))
        assert [hit.record for hit in hits] == [record]
        assert hits[0].score > 0
        assert await provider.search(question("vim")) == ()


@check(Group.WRITE, Group.SEARCH)
async def key_and_tags_are_searched_like_the_text(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "fiscal-year", "Starts in April", tags=("bookkeeping",))
        await remember(provider, "office", "Lyon")
        for query in ("fiscal", "april", "bookkeeping"):
            assert _keys(await provider.search(question(query))) == ["fiscal-year"]


@check(Group.WRITE, Group.SEARCH)
async def the_better_match_comes_first(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "drink", "Likes tea in the morning")
        await remember(provider, "meeting", "Team meeting in the morning about the budget")
        await remember(provider, "lunch", "Eats at noon")
        keys = _keys(await provider.search(question("budget meeting in the morning")))
    assert keys[0] == "meeting"


@check(Group.WRITE, Group.SEARCH)
async def nothing_comes_when_nothing_matches(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "Lyon")
        for query in ("", "   ", "zenzizenzic", "\x00", "🤷", HALF_PAIR[-1]):
            assert await provider.search(question(query)) == ()
        assert await provider.search(question("lyon", EVERYONE)) == ()
        assert await provider.search(question("lyon", limit=0)) == ()


@check(Group.WRITE, Group.SEARCH)
async def what_is_unrelated_comes_after_the_rest_when_it_is_asked_for(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "Lyon")
        await remember(provider, "lunch", "Eats at noon")
        await remember(provider, "editor", "Helix", BOB)
        asked = replace(question("where is the office?"), with_unrelated=True)
        assert _keys(await provider.search(asked)) == ["office", "lunch"]
        assert _keys(await provider.search(replace(asked, limit=1))) == ["office"]


@check(Group.WRITE, Group.SEARCH)
async def signals_that_nobody_asks_for_change_nothing_else(store: Store) -> None:
    async with opened(store) as provider:
        for number in range(5):
            await remember(provider, f"note {number}", f"{'invoice ' * number} for Lyon", at=number)
        asked = question("invoice lyon")
        told = await provider.search(asked)
        untold = await provider.search(replace(asked, with_signals=False))
        assert all(hit.signals for hit in told)
        assert [(hit.record, hit.score) for hit in untold] == [(hit.record, hit.score) for hit in told]


@check(Group.WRITE, Group.SEARCH)
async def limit_counts_keys_and_a_smaller_one_cuts_the_same_order(store: Store) -> None:
    async with opened(store) as provider:
        for number in range(8):
            await remember(provider, f"note {number}", f"invoice {'invoice ' * number} number {number}", at=number)
        everything = _keys(await provider.search(question("invoice", limit=100)))
        assert len(everything) == 8
        for limit in range(1, 9):
            assert _keys(await provider.search(question("invoice", limit=limit))) == everything[:limit]


@check(Group.WRITE, Group.SEARCH)
async def every_record_of_a_returned_key_comes_along(store: Store) -> None:
    """Half of a conflict would show the wider default as the answer."""
    async with opened(store) as provider:
        await remember(provider, "currency", "Invoices are in euro", EVERYONE)
        await remember(provider, "currency", "Swiss francs", ANN)
        await remember(provider, "currency", "Pounds", BOB)
        await remember(provider, "other", "Invoices go out on Friday", EVERYONE)
        hits = await provider.search(question("in which currency are invoices, euro?", ANN, EVERYONE, limit=1))
        assert {hit.record.scope for hit in hits} == {ANN, EVERYONE}
        assert _keys(hits) == ["currency"]
        hits = await provider.search(question("invoices", ANN, EVERYONE))
        assert [hit.record.key for hit in hits].count("currency") == 2
        assert len(_runs(hits)) == 2


def _runs(hits: tuple[Hit, ...]) -> list[str]:
    """The keys of the hits in order, once for each unbroken run."""
    keys = [hit.record.key for hit in hits]
    return [key for place, key in enumerate(keys) if place == 0 or keys[place - 1] != key]


@check(Group.WRITE, Group.SEARCH)
async def pinned_keys_come_along_and_do_not_count(store: Store) -> None:
    async with opened(store) as provider:
        await _pin(provider, "name", "Ann Lee")
        await remember(provider, "name", "A. Lee", EVERYONE)
        await _pin(provider, "language", "Answers are in French", EVERYONE)
        for number in range(4):
            await remember(provider, f"note {number}", f"invoice number {number}", at=number)
        hits = await provider.search(question("invoice", ANN, EVERYONE, limit=2))
        assert _keys(hits) == ["note 3", "note 2", "name", "language"]
        assert [hit.record.text for hit in hits[2:]] == ["Ann Lee", "A. Lee", "Answers are in French"]


@check(Group.WRITE, Group.SEARCH)
async def a_pinned_key_that_matches_stands_where_it_ranks(store: Store) -> None:
    async with opened(store) as provider:
        await _pin(provider, "invoices", "every invoice goes to accounting, each invoice twice")
        await remember(provider, "parking", "the accounting car park")
        hits = await provider.search(question("invoice to accounting twice", limit=1))
        assert _keys(hits) == ["invoices", "parking"]
        assert hits[0].score > hits[1].score


@check(Group.WRITE, Group.SEARCH)
async def pinned_keys_come_along_when_nothing_matches(store: Store) -> None:
    async with opened(store) as provider:
        await _pin(provider, "name", "Ann Lee")
        await _pin(provider, "foreign", "Bob", BOB)
        await remember(provider, "office", "Lyon")
        for query in ("", "zenzizenzic"):
            hits = await provider.search(question(query))
            assert [(hit.record.key, hit.score) for hit in hits] == [("name", 0.0)]


@check(Group.WRITE, Group.SEARCH)
async def a_pin_that_is_cleared_comes_along_no_more(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "name", "Ann Lee")
        for pinned in (True, False):
            await provider.pin(PinRequest(ANN, record.id, pinned=pinned, at=minute(1)))
            assert len(await provider.search(question("zenzizenzic"))) == int(pinned)


@check(Group.WRITE, Group.SEARCH)
async def only_active_records_are_found(store: Store) -> None:
    async with opened(store) as provider:
        waiting = await remember(provider, "office", "Lyon", status="quarantined")
        await provider.pin(PinRequest(ANN, waiting.id, pinned=True, at=minute(1)))
        assert await provider.search(question("lyon")) == ()
        active = await remember(provider, "office", "Lyon again", at=2)
        await remember(provider, "office", "Lyon for good", at=3, status="quarantined")
        assert [hit.record for hit in await provider.search(question("lyon"))] == [active]


@check(Group.WRITE, Group.SEARCH)
async def foreign_records_have_no_influence_on_order_or_score(store: Store) -> None:
    """A word that is rare in one's own scope stays rare, whatever others write."""
    async with opened(store) as provider:
        for number, text in enumerate(("budget meeting", "budget budget review", "weekly meeting", "travel plans")):
            await remember(provider, f"note {number}", text, ANN, at=number)
        queries = ("budget", "meeting review", "budget meeting travel")
        alone = [await provider.search(question(query)) for query in queries]
        for number in range(60):
            await remember(provider, f"note {number}", f"budget budget travel {number}", BOB, at=number)
            await remember(provider, f"more {number}", "meeting", EVERYONE, at=number)
        beside = [await provider.search(question(query)) for query in queries]
    assert alone == beside
    assert all(alone)


@check(Group.WRITE, Group.SEARCH)
async def a_search_follows_every_change(store: Store) -> None:
    async with opened(store) as provider:
        for number in range(40):
            await remember(provider, f"note {number % 10}", f"draft {number} about herons", at=number)
            found = await provider.search(question(f"draft {number} herons", limit=1))
            assert found[0].record.text == f"draft {number} about herons"
        hits = await provider.search(question("herons", limit=100))
        assert sorted(_keys(hits)) == [f"note {number}" for number in range(10)]
        assert {hit.record.version for hit in hits} == {4}
