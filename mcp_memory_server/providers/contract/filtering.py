"""`Filter`, in lists and in searches alike: what is left out takes no place and is not counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mcp_memory_server.providers.base import SET_ASIDE_TOO, Filter, Group, Hit, Listing, PinRequest, SearchRequest
from mcp_memory_server.records import Episode, MemoryOrigin, MemoryRecord

from .registry import check
from .samples import ACME, ANN, BOB, EVERYONE, listed, minute, question, remember, texts
from .store import EveryGroup, Store, opened


async def _search(provider: EveryGroup, asked: Filter, *scopes: str, limit: int = 10) -> tuple[Hit, ...]:
    """Every record that the filter lets through, whatever it says."""
    request: SearchRequest = replace(question("office", *scopes, limit=limit), filter=asked, with_unrelated=True)
    return await provider.search(request)


async def _both(provider: EveryGroup, asked: Filter, *scopes: str) -> set[str]:
    """The texts that a list and a search agree on."""
    within = scopes or (ANN,)
    listing = await listed(provider, *within, filter=asked)
    hits = await _search(provider, asked, *within)
    found = {record.text for record in listing.records}
    assert {hit.record.text for hit in hits} == found
    assert listing.keys == len({record.key for record in listing.records})
    counted = await listed(provider, *within, filter=asked, limit=1)
    assert (counted.keys, counted.pinned_keys) == (listing.keys, listing.pinned_keys)
    return found


@check(Group.WRITE, Group.SEARCH)
async def what_does_not_hold_yet_or_any_more_is_left_out(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "a", "over", valid_to=minute(9))
        await remember(provider, "b", "ends now", valid_to=minute(10))
        await remember(provider, "c", "begins now", valid_from=minute(10))
        await remember(provider, "d", "to come", valid_from=minute(11))
        await remember(provider, "e", "always")
        everything = {"over", "ends now", "begins now", "to come", "always"}
        assert await _both(provider, Filter(at=minute(10))) == {"begins now", "always"}
        assert await _both(provider, Filter(at=minute(0))) == {"over", "ends now", "always"}
        assert await _both(provider, Filter(at=minute(30))) == {"begins now", "to come", "always"}
        assert await _both(provider, Filter()) == everything


@check(Group.WRITE, Group.SEARCH)
async def an_episode_counts_from_its_start(store: Store) -> None:
    async with opened(store) as provider:
        trip = Episode(started_at=minute(20), ended_at=minute(30))
        await remember(provider, "trip", "office outing", kind="episodic", episode=trip)
        assert await _both(provider, Filter(at=minute(19))) == set()
        assert await _both(provider, Filter(at=minute(20))) == {"office outing"}
        assert await _both(provider, Filter(at=minute(40))) == {"office outing"}
        assert await _both(provider, Filter(as_of=minute(19))) == set()
        assert await _both(provider, Filter(as_of=minute(25))) == {"office outing"}


@check(Group.WRITE, Group.SEARCH)
async def what_is_left_out_takes_no_place(store: Store) -> None:
    """Filtering comes before limiting and counting."""
    async with opened(store) as provider:
        for number in range(6):
            await remember(provider, f"old {number}", "office office office", at=20 + number, valid_to=minute(30))
        for number in range(3):
            await remember(provider, f"new {number}", f"the office is in town {number}", at=number)
        asked = Filter(at=minute(40))
        listing = await listed(provider, filter=asked, limit=2)
        assert (texts(listing.records), listing.keys) == (["the office is in town 2", "the office is in town 1"], 3)
        hits = await provider.search(replace(question("office", limit=3), filter=asked))
        assert sorted(hit.record.key for hit in hits) == ["new 0", "new 1", "new 2"]


@check(Group.WRITE, Group.SEARCH)
async def what_is_left_out_has_no_influence_on_order_or_score(store: Store) -> None:
    async with opened(store) as provider:
        for number, text in enumerate(("budget meeting", "budget budget review", "weekly meeting")):
            await remember(provider, f"note {number}", text, at=number)
        asked = replace(question("budget meeting"), filter=Filter(at=minute(30), max_sensitivity="internal"))
        alone = await provider.search(asked)
        for number in range(20):
            await remember(provider, f"gone {number}", f"budget review {number}", valid_to=minute(10))
            await remember(provider, f"kept back {number}", f"budget {number}", sensitivity="secret")
        assert await provider.search(asked) == alone
        assert alone


@check(Group.WRITE, Group.SEARCH)
async def a_wider_answer_stands_where_the_narrower_one_is_left_out(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "seconded to Porto", ANN, valid_to=minute(5))
        await remember(provider, "office", "everyone in Lyon", ACME)
        assert await _both(provider, Filter(at=minute(9)), ANN, ACME) == {"everyone in Lyon"}
        assert await _both(provider, Filter(at=minute(1)), ANN, ACME) == {"seconded to Porto", "everyone in Lyon"}


@check(Group.WRITE, Group.SEARCH)
async def a_pin_that_is_left_out_brings_nothing_along(store: Store) -> None:
    async with opened(store) as provider:
        pinned = await remember(provider, "office", "seconded to Porto", ANN, valid_to=minute(5))
        await provider.pin(PinRequest(ANN, pinned.id, pinned=True, at=minute(0)))
        await remember(provider, "office", "everyone in Lyon", ACME)
        request = question("zenzizenzic", ANN, ACME)
        assert len(await provider.search(replace(request, filter=Filter(at=minute(1))))) == 2
        assert await provider.search(replace(request, filter=Filter(at=minute(9)))) == ()
        listing = await listed(provider, ANN, ACME, filter=Filter(at=minute(9)))
        assert (texts(listing.records), listing.pinned_keys) == (["everyone in Lyon"], 0)


@check(Group.WRITE, Group.SEARCH)
async def tags_kinds_owners_and_dates_narrow_together(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "a", "plain", at=1)
        await remember(provider, "b", "one tag", at=2, tags=("work",))
        await remember(provider, "c", "both tags", at=3, tags=("home", "work", 'a "b", c'), owner="agent")
        await remember(provider, "d", "a rule", at=4, kind="procedural", owner="shared")
        await remember(provider, "e", "stated", at=5, owner="user")
        await remember(provider, "f", "foreign", BOB, at=3, tags=("home", "work"))
        for asked, expected in (
            (Filter(tags=("work",)), {"one tag", "both tags"}),
            (Filter(tags=("work", "home")), {"both tags"}),
            (Filter(tags=('a "b", c',)), {"both tags"}),
            (Filter(tags=("Work",)), set[str]()),
            (Filter(tags=("a",)), set[str]()),
            (Filter(kinds=("procedural",)), {"a rule"}),
            (Filter(kinds=("procedural", "semantic")), {"plain", "one tag", "both tags", "a rule", "stated"}),
            (Filter(owners=("user",)), {"plain", "one tag", "stated"}),
            (Filter(owners=("agent", "shared")), {"both tags", "a rule"}),
            (Filter(since=minute(3)), {"both tags", "a rule", "stated"}),
            (Filter(until=minute(3)), {"plain", "one tag"}),
            (Filter(since=minute(2), until=minute(4), tags=("work",), owners=("agent",)), {"both tags"}),
            (Filter(since=minute(2), until=minute(2)), set[str]()),
        ):
            assert await _both(provider, asked) == expected, asked


@check(Group.WRITE, Group.SEARCH)
async def a_ceiling_keeps_back_what_lies_above_it(store: Store) -> None:
    async with opened(store) as provider:
        for sensitivity in ("public", "internal", "secret"):
            await remember(provider, sensitivity, sensitivity, sensitivity=sensitivity)
        await remember(provider, "unsaid", "unsaid")
        for asked, expected in (
            (Filter(), {"public", "internal", "secret", "unsaid"}),
            (Filter(max_sensitivity="secret"), {"public", "internal", "secret", "unsaid"}),
            (Filter(max_sensitivity="internal"), {"public", "internal", "unsaid"}),
            (Filter(max_sensitivity="public"), {"public"}),
            (Filter(min_sensitivity="internal"), {"internal", "secret", "unsaid"}),
            (Filter(min_sensitivity="secret"), {"secret"}),
            (Filter(min_sensitivity="secret", max_sensitivity="internal"), set[str]()),
        ):
            assert await _both(provider, asked) == expected, asked


@check(Group.WRITE, Group.SEARCH)
async def what_is_of_one_thread_counts_in_it_alone(store: Store) -> None:
    async with opened(store) as provider:
        for thread in ("t1", "t2", None):
            origin = MemoryOrigin(author="agent", thread_id=thread)
            await remember(provider, "tone", f"session of {thread}", kind="session", origin=origin)
            await remember(provider, f"lasting {thread}", f"written in {thread}", origin=origin)
        lasting = {"written in t1", "written in t2", "written in None"}
        sessions = {"session of t1", "session of t2", "session of None"}
        for thread in ("t1", "t2", None):
            own = Filter(own_thread=True, thread_id=thread)
            assert await _both(provider, own) == {*lasting, f"session of {thread}"}
        assert await _both(provider, Filter(own_thread=True, thread_id="t3")) == lasting
        assert await _both(provider, Filter()) == lasting | sessions


@check(Group.WRITE, Group.SEARCH)
async def what_is_set_aside_comes_when_it_is_asked_for(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "a", "active")
        await remember(provider, "b", "archived", archived_at=minute(5))
        await remember(provider, "c", "waiting", status="quarantined")
        await remember(provider, "d", "waiting and archived", status="quarantined", archived_at=minute(5))
        assert await _both(provider, Filter()) == {"active"}
        assert await _both(provider, Filter(include_archived=True)) == {"active", "archived"}
        assert await _both(provider, Filter(include_quarantined=True)) == {"active", "waiting"}
        everything = {"active", "archived", "waiting", "waiting and archived"}
        assert await _both(provider, SET_ASIDE_TOO) == everything


@check(Group.WRITE, Group.SEARCH)
async def a_filter_never_reaches_beyond_the_scopes(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "Lyon", BOB, tags=("work",))
        await remember(provider, "office", "Porto", BOB, at=5, tags=("work",), sensitivity="secret")
        for options in _EVERY_OPTION:
            asked = Filter(**options)
            assert await listed(provider, ANN, EVERYONE, filter=asked) == Listing((), keys=0, pinned_keys=0)
            assert await _search(provider, asked, ANN, EVERYONE) == ()


_EVERY_OPTION: tuple[dict[str, Any], ...] = (
    {"at": minute(2)},
    {"as_of": minute(2)},
    {"known_at": minute(2)},
    {"as_of": minute(2), "known_at": minute(9)},
    {"since": minute(0), "until": minute(9)},
    {"tags": ("work",)},
    {"kinds": ("semantic",)},
    {"owners": ("user",)},
    {"max_sensitivity": "secret"},
    {"min_sensitivity": "secret"},
    {"include_superseded": True},
    {"include_quarantined": True, "include_archived": True},
)


@check(Group.WRITE, Group.SEARCH)
async def a_name_that_no_store_can_hold_matches_nothing(store: Store) -> None:
    async with opened(store) as provider:
        origin = MemoryOrigin(author="agent", thread_id="t1")
        record: MemoryRecord = await remember(provider, "a", "kept", kind="session", origin=origin)
        half = Filter(own_thread=True, thread_id="t1\ud800")
        assert await _both(provider, half) == set()
        assert (await listed(provider, filter=Filter())).records == (record,)
