"""`Filter` over time: what was true on a day, and what was believed on one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import Filter, Group, HistoryRequest, PinRequest, RestoreRequest

from .refusals import refusal
from .registry import check
from .samples import ACME, ANN, erasing, listed, minute, question, raw_record, remember, texts, writing
from .store import EveryGroup, Store, opened


async def _listed(provider: EveryGroup, as_of: str | None = None, known_at: str | None = None) -> list[str]:
    return texts((await listed(provider, filter=Filter(as_of=as_of, known_at=known_at))).records)


@check(Group.WRITE, Group.HISTORY)
async def as_of_a_day_the_version_of_that_day_answers(store: Store) -> None:
    """ "lives in Lyon", then "moved to Porto": last month says Lyon."""
    async with opened(store) as provider:
        await remember(provider, "home", "Lyon", at=10)
        await remember(provider, "home", "Porto", at=20)
        await remember(provider, "home", "Turin", at=30)
        # What has no beginning has always been true, whenever it was written down.
        for at, expected in ((5, "Lyon"), (10, "Lyon"), (19, "Lyon"), (20, "Porto"), (29, "Porto"), (30, "Turin")):
            assert await _listed(provider, as_of=minute(at)) == [expected], at


@check(Group.WRITE, Group.HISTORY)
async def a_version_that_begins_in_the_past_wins_from_then_on(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "home", "Lyon", at=10)
        await remember(provider, "home", "Porto", at=30, valid_from=minute(20))
        for at, expected in ((19, "Lyon"), (20, "Porto"), (29, "Porto"), (30, "Porto")):
            assert await _listed(provider, as_of=minute(at)) == [expected], at


@check(Group.WRITE, Group.HISTORY)
async def a_version_ends_when_it_says_so_or_is_replaced(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "home", "Lyon", at=10, valid_from=minute(5), valid_to=minute(15))
        await remember(provider, "home", "Porto", at=20, valid_to=minute(40))
        await remember(provider, "home", "Turin", at=30, valid_from=minute(50))
        told = {at: await _listed(provider, as_of=minute(at)) for at in (4, 5, 14, 15, 19, 20, 29, 30, 49, 50)}
        assert told == {
            4: [], 5: ["Lyon"], 14: ["Lyon"], 15: [], 19: [], 20: ["Porto"], 29: ["Porto"], 30: [], 49: [],
            50: ["Turin"],
        }  # fmt: skip


@check(Group.WRITE, Group.HISTORY)
async def known_at_a_day_only_what_was_written_by_then_counts(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "home", "Lyon", at=10)
        await remember(provider, "home", "Porto", at=30, valid_from=minute(20))
        await remember(provider, "car", "none", at=25)
        assert await _listed(provider, known_at=minute(9)) == []
        assert await _listed(provider, known_at=minute(10)) == ["Lyon"]
        assert await _listed(provider, known_at=minute(29)) == ["none", "Lyon"]
        assert await _listed(provider, known_at=minute(30)) == ["Porto", "none"]


@check(Group.WRITE, Group.HISTORY)
async def the_two_clocks_are_asked_together(store: Store) -> None:
    """What was believed on one day about another: nobody knew of Porto before minute 30."""
    async with opened(store) as provider:
        await remember(provider, "home", "Lyon", at=10)
        await remember(provider, "home", "Porto", at=30, valid_from=minute(20))
        for as_of, known_at, expected in (
            (15, 15, ["Lyon"]), (25, 25, ["Lyon"]), (40, 25, ["Lyon"]), (25, 30, ["Porto"]), (19, 40, ["Lyon"]),
            (40, 5, []), (5, 40, ["Lyon"]),
        ):  # fmt: skip
            assert await _listed(provider, as_of=minute(as_of), known_at=minute(known_at)) == expected


@check(Group.WRITE, Group.HISTORY, Group.SEARCH)
async def an_old_version_is_found_by_its_own_words(store: Store) -> None:
    async with opened(store) as provider:
        old = await remember(provider, "home", "a flat in Lyon", at=10)
        await remember(provider, "home", "a house in Porto", at=20)
        await remember(provider, "work", "commutes by train", at=10)
        then = Filter(as_of=minute(15))
        (hit,) = await provider.search(replace(question("lyon"), filter=then))
        assert hit.record == old
        assert hit.score > 0
        assert await provider.search(replace(question("porto"), filter=then)) == ()
        assert await provider.search(question("lyon")) == ()


@check(Group.WRITE, Group.HISTORY, Group.SEARCH)
async def a_search_of_the_past_ranks_as_it_would_have_then(store: Store) -> None:
    async with opened(store) as provider:
        for number, text in enumerate(("budget meeting", "budget budget review", "weekly meeting", "travel plans")):
            await remember(provider, f"note {number}", text, at=number)
        asked = question("budget meeting")
        then = await provider.search(asked)
        for number in range(4):
            await remember(provider, f"note {number}", f"rewritten {number}", at=20 + number)
            await remember(provider, f"later {number}", "budget meeting", at=30 + number)
        now = await provider.search(replace(asked, filter=Filter(known_at=minute(10))))
        assert [(hit.record, hit.score) for hit in now] == [(hit.record, hit.score) for hit in then]


@check(Group.WRITE, Group.HISTORY)
async def keys_of_the_past_are_limited_and_counted_like_those_of_now(store: Store) -> None:
    async with opened(store) as provider:
        for number in range(5):
            await remember(provider, f"key {number}", f"before {number}", at=number)
            await remember(provider, f"key {number}", f"wide {number}", ACME, at=number)
        for number in (1, 3):
            await remember(provider, f"key {number}", f"after {number}", at=20 + number)
        pinned = await remember(provider, "pin", "pinned", at=9)
        await provider.pin(PinRequest(ANN, pinned.id, pinned=True, at=minute(9)))
        expected = ["pinned", *(f"{name} {number}" for number in (4, 3, 2, 1, 0) for name in ("before", "wide"))]
        for limit in range(7):
            listing = await listed(provider, ANN, ACME, filter=Filter(as_of=minute(15)), limit=limit)
            assert texts(listing.records) == expected[: max(limit * 2 - 1, 0)]
            assert (listing.keys, listing.pinned_keys) == (6, 1)
            alone = await listed(provider, filter=Filter(as_of=minute(15)), limit=limit)
            assert (alone.keys, len(alone.records)) == (6, min(limit, 6))
        only = await listed(provider, ANN, ACME, filter=Filter(as_of=minute(15)), keys=("key 1",))
        assert texts(only.records) == ["before 1", "wide 1"]


@check(Group.WRITE, Group.HISTORY, Group.SEARCH)
async def a_pin_of_the_past_brings_its_key_along(store: Store) -> None:
    async with opened(store) as provider:
        pinned = await remember(provider, "name", "Ann Lee", at=10)
        await provider.pin(PinRequest(ANN, pinned.id, pinned=True, at=minute(10)))
        await remember(provider, "name", "A. Lee", ACME, at=10)
        await remember(provider, "name", "Ann Ray", at=20)
        asked = replace(question("zenzizenzic", ANN, ACME), filter=Filter(as_of=minute(15)))
        hits = await provider.search(asked)
        assert [(hit.record.text, dict(hit.signals)) for hit in hits] == [
            ("Ann Lee", {"pin": 0}),
            ("A. Lee", {"pin": 0}),
        ]


@check(Group.WRITE, Group.HISTORY, Group.SEARCH)
async def every_version_comes_closed_when_it_is_asked_for(store: Store) -> None:
    async with opened(store) as provider:
        first = await remember(provider, "home", "office in Lyon", at=10, valid_to=minute(12))
        await remember(provider, "home", "office in Porto", at=20)
        await remember(provider, "home", "office in Turin", at=30)
        versions = await provider.history(HistoryRequest((ANN,), first.id))
        asked = Filter(include_superseded=True, at=minute(59))
        listing = await listed(provider, filter=asked)
        assert listing.records == tuple(reversed(versions))
        assert listing.keys == 1
        hits = await provider.search(replace(question("office", limit=1), filter=asked))
        assert {hit.record.version: hit.record for hit in hits} == {version.version: version for version in versions}
        # It is for inspection: a question about a day is answered by the version of that day.
        assert await _listed(provider, as_of=minute(25)) == ["office in Porto"]
        together = Filter(include_superseded=True, as_of=minute(25))
        assert texts((await listed(provider, filter=together)).records) == ["office in Porto"]
        known = Filter(include_superseded=True, known_at=minute(20))
        assert [record.superseded_by for record in (await listed(provider, filter=known)).records] == [None, first.id]


@check(Group.WRITE, Group.HISTORY)
async def options_are_about_the_version_that_answers(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "home", "Lyon", at=10, tags=("old",), owner="agent")
        await remember(provider, "home", "Porto", at=20, tags=("new",))
        then, now = minute(15), minute(25)
        for as_of, tag, expected in ((then, "old", ["Lyon"]), (then, "new", []), (now, "new", ["Porto"])):
            found = await listed(provider, filter=Filter(as_of=as_of, tags=(tag,)))
            assert (texts(found.records), found.keys) == (expected, len(expected))
        by_owner = await listed(provider, filter=Filter(as_of=then, owners=("agent",)))
        assert texts(by_owner.records) == ["Lyon"]
        recent = await listed(provider, filter=Filter(include_superseded=True, since=minute(15)))
        assert texts(recent.records) == ["Porto"]


@check(Group.WRITE, Group.HISTORY, Group.SEARCH)
async def an_old_version_is_kept_from_whom_the_new_one_is_kept_from(store: Store) -> None:
    """Whoever declares a fact secret does not want it read in last month's digest."""
    async with opened(store) as provider:
        await remember(provider, "salary", "office pays 40", at=10)
        await remember(provider, "salary", "office pays 50", at=20, sensitivity="secret")
        for past in (Filter(as_of=minute(15)), Filter(known_at=minute(15)), Filter(include_superseded=True)):
            asked = replace(past, max_sensitivity="internal")
            assert (await listed(provider, filter=asked)).keys == 0
            assert await provider.search(replace(question("office"), filter=asked)) == ()
            assert (await listed(provider, filter=past)).keys == 1


@check(Group.WRITE, Group.HISTORY, Group.SEARCH)
async def what_is_forgotten_is_in_no_past(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "home", "Lyon", at=10)
        record = await remember(provider, "home", "Porto", at=20)
        await provider.forget(erasing(record))
        for asked in (Filter(as_of=minute(15)), Filter(known_at=minute(15)), Filter(include_superseded=True)):
            assert (await listed(provider, filter=asked)).records == ()
            assert await provider.search(replace(question("lyon"), filter=asked)) == ()


@check(Group.WRITE, Group.RESTORE)
async def what_is_taken_in_keeps_its_own_times(store: Store) -> None:
    """An import is no news of today: the past is asked for by the times in the file."""
    async with opened(store) as provider:
        old = raw_record("id 1", "home", "Lyon", at=10)
        new = raw_record("id 1", "home", "Porto", at=20, version=2)
        await provider.restore(RestoreRequest(((old, new),), at=minute(55)))
        assert await _listed(provider, as_of=minute(15)) == ["Lyon"]
        assert await _listed(provider, known_at=minute(30)) == ["Porto"]
        assert await _listed(provider, known_at=minute(5)) == []


@check(Group.WRITE, Group.HISTORY)
async def a_record_that_takes_another_one_s_place_closes_it(store: Store) -> None:
    async with opened(store) as provider:
        old = await remember(provider, "home", "lives in Lyon", at=10)
        new = await remember(provider, "residence", "lives in Porto", at=20, supersedes=old.id)
        assert new.supersedes == old.id
        first, closing = await provider.history(HistoryRequest((ANN,), old.id))
        assert first == old.model_copy(update={"superseded_by": old.id, "valid_to": minute(20)})
        assert closing == old.model_copy(
            update={"version": 2, "updated_at": minute(20), "valid_to": minute(20), "superseded_by": new.id}
        )
        assert texts((await listed(provider, filter=Filter(at=minute(30)))).records) == ["lives in Porto"]
        assert await _listed(provider, known_at=minute(15)) == ["lives in Lyon"]
        assert await _listed(provider, as_of=minute(15)) == ["lives in Lyon"]
        assert await _listed(provider, as_of=minute(20)) == ["lives in Porto"]
        again = await remember(provider, "residence", "lives in Gaia", at=30)
        assert again.supersedes == old.id
        reopened = await remember(provider, "home", "lives in Lyon after all", at=40)
        assert (reopened.superseded_by, reopened.valid_to) == (None, None)


@check(Group.WRITE)
async def a_place_can_be_taken_of_an_active_record_at_the_scope_only(store: Store) -> None:
    async with opened(store) as provider:
        own = await remember(provider, "home", "Lyon")
        foreign = await remember(provider, "home", "Porto", ACME)
        waiting = await remember(provider, "car", "none", status="quarantined")
        for id in ("no such id", foreign.id, waiting.id, "half \ud800"):
            await refusal(InvalidInput, provider.write(writing("residence", "Turin", at=5, supersedes=id)))
        await refusal(InvalidInput, provider.write(writing("home", "Turin", at=5, supersedes=own.id)))
        assert (await listed(provider)).records == (own,)
        proposed = await provider.write(writing("residence", "Turin", at=5, supersedes=own.id, status="quarantined"))
        assert proposed.record.supersedes == own.id
        assert (await listed(provider)).records == (own,)


@check(Group.WRITE)
async def sensitivity_stays_until_a_write_names_another(store: Store) -> None:
    async with opened(store) as provider:
        assert (await remember(provider, "salary", "40")).sensitivity == "internal"
        assert (await remember(provider, "salary", "40", sensitivity="secret")).version == 2
        assert (await remember(provider, "salary", "50")).sensitivity == "secret"
        assert (await provider.write(writing("salary", "50", sensitivity="secret"))).status == "unchanged"
        assert (await remember(provider, "salary", "50", sensitivity="public")).sensitivity == "public"


@check(Group.WRITE, Group.RESTORE)
async def a_fact_that_ends_before_it_begins_is_refused_with_both_times(store: Store) -> None:
    async with opened(store) as provider:
        backwards: dict[str, Any] = {"valid_from": minute(20), "valid_to": minute(10)}
        told = await refusal(InvalidInput, provider.write(writing("home", "Lyon", **backwards)))
        taken = raw_record("id 1", "home", "Lyon", **backwards)
        also = await refusal(InvalidInput, provider.restore(RestoreRequest(((taken,),), at=minute(55))))
        for error in (told, also):
            assert minute(20) in str(error)
            assert minute(10) in str(error)
        assert (await listed(provider)).records == ()
        moment: dict[str, Any] = {"valid_from": minute(10), "valid_to": minute(10)}
        assert (await remember(provider, "home", "Lyon", **moment)).valid_to == minute(10)


@check(Group.WRITE, Group.HISTORY)
async def a_version_that_was_replaced_before_it_began_has_never_held(store: Store) -> None:
    async with opened(store) as provider:
        first = await remember(provider, "home", "Lyon", at=5, valid_from=minute(30))
        await remember(provider, "home", "Porto", at=10)
        closed, _ = await provider.history(HistoryRequest((ANN,), first.id))
        assert (closed.valid_from, closed.valid_to) == (minute(30), minute(30))
        assert [await _listed(provider, as_of=minute(at)) for at in (5, 15, 40)] == [[], ["Porto"], ["Porto"]]
