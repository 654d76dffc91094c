"""Selective recall, turn by turn: what a selector is shown, and which of the three outcomes a turn comes to."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory_server.digest import resolve_digest
from mcp_memory_server.providers.base import Hit, WriteRequest
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.recall import (
    RECALL_CAVEAT,
    Block,
    BodyLimits,
    Degrade,
    ManifestLimits,
    NothingNew,
    Outcome,
    SelectionRequest,
    encode_surfaced_key,
)
from mcp_memory_server.records import MemoryOrigin, MemoryRecord
from mcp_memory_server.service import MemoryService
from mcp_memory_server.service.search import SearchOptions
from mcp_memory_server.service.search_selector import Search, SearchSelector
from mcp_memory_server.service.selective import SelectiveLimits, SelectiveRequest, recall_selectively
from mcp_memory_server.service.selector_guard import SelectorGuard
from tests.block_lines import block_lines
from tests.people import ANN
from tests.recall.notes import NOW, entry, hostile, hostile_entries, note

SCOPES = ("actor:ann", "tenant:acme", "global")


class Picks:
    """A selector that answers what it was told to, and keeps what it was asked."""

    def __init__(self, answer: Any = (), choose: Callable[[SelectionRequest], Any] | None = None) -> None:
        self._answer = answer
        self._choose = choose
        self.asked: list[SelectionRequest] = []

    async def select(self, request: SelectionRequest) -> Any:
        self.asked.append(request)
        return self._choose(request) if self._choose else self._answer

    @property
    def guard(self) -> SelectorGuard:
        return SelectorGuard(self, trusted=True)


def request(*records: MemoryRecord, **more: Any) -> SelectiveRequest:
    return SelectiveRequest("what about the office?", records, NOW, **more)


def shown(outcome: Outcome) -> list[str | None]:
    assert isinstance(outcome, Block)
    return [line.key for line in block_lines(outcome.text) if line.key is not None]


def keys_of(*records: MemoryRecord) -> frozenset[str]:
    return frozenset(encode_surfaced_key(record.scope, record.id) for record in records)


OFFICE, EDITOR = note("n1", "office", "Lyon, see [[door]]"), note("n2", "editor", "vim")
DOOR, LAMP = note("n3", "door", "The code is on the [[lamp]]"), note("n4", "lamp", "by the window")
ALL = (OFFICE, EDITOR, DOOR, LAMP)


# --- blocks -------------------------------------------------------------------------------------------


async def test_the_picked_notes_and_those_they_name_are_shown_and_surfaced() -> None:
    outcome = await recall_selectively(request(*ALL), Picks(["n1"]).guard)
    assert shown(outcome) == ["office", "door"]
    assert outcome.surfaced == keys_of(OFFICE, DOOR)


async def test_a_selector_is_told_what_it_goes_by() -> None:
    selector = Picks()
    limits = SelectiveLimits(max_selected=2)
    await recall_selectively(request(*ALL, recent_tools=("grep",), limits=limits), selector.guard)
    (asked,) = selector.asked
    assert (asked.objective, asked.recent_tools, asked.max_notes) == ("what about the office?", ("grep",), 2)
    assert [line.split()[1] for line in asked.manifest.text.splitlines()] == ["n1", "n2", "n3", "n4"]


async def test_what_was_shown_before_is_neither_offered_to_the_selector_nor_shown_again() -> None:
    selector = Picks(["n1", "n2"])
    outcome = await recall_selectively(request(*ALL, seen=keys_of(OFFICE, DOOR)), selector.guard)
    assert [header.id for header in selector.asked[0].manifest.listed] == ["n2", "n4"]
    assert shown(outcome) == ["editor"]
    assert outcome.surfaced == keys_of(EDITOR)


async def test_a_link_to_what_was_shown_before_is_not_followed() -> None:
    outcome = await recall_selectively(request(*ALL, seen=keys_of(DOOR)), Picks(["n1"]).guard)
    assert shown(outcome) == ["office"]


async def test_pinned_notes_are_shown_unasked_and_once() -> None:
    pinned = note("n9", "rule", "No deploys on Friday", pinned=True)
    selector = Picks(["n2"])
    first = await recall_selectively(request(*ALL, pinned), selector.guard)
    assert shown(first) == ["rule", "editor"]
    assert "n9" not in selector.asked[0].manifest.text
    second = await recall_selectively(request(*ALL, pinned, seen=first.surfaced), Picks(["n4"]).guard)
    assert shown(second) == ["lamp"]


async def test_where_only_pinned_notes_are_left_no_selector_is_asked() -> None:
    selector = Picks()
    outcome = await recall_selectively(request(note(pinned=True)), selector.guard)
    assert shown(outcome) == ["office"]
    assert selector.asked == []


async def test_to_pick_nothing_shows_what_there_is_and_surfaces_nothing() -> None:
    outcome = await recall_selectively(request(*ALL), Picks([]).guard)
    assert isinstance(outcome, Block)
    assert "- n4 (semantic, today) lamp" in outcome.text
    assert outcome.surfaced == frozenset()


async def test_to_pick_nothing_is_nothing_new_where_there_is_no_index() -> None:
    limits = SelectiveLimits(body=BodyLimits(index=None))
    assert await recall_selectively(request(*ALL, limits=limits), Picks([]).guard) == NothingNew()


async def test_the_whole_caveat_can_be_left_to_the_first_block_of_a_conversation() -> None:
    limits = SelectiveLimits(repeat_caveat=False)
    first = await recall_selectively(request(*ALL, limits=limits), Picks(["n2"]).guard)
    second = await recall_selectively(request(*ALL, limits=limits, seen=first.surfaced), Picks(["n4"]).guard)
    assert isinstance(first, Block)
    assert isinstance(second, Block)
    assert RECALL_CAVEAT in first.text
    assert RECALL_CAVEAT not in second.text
    assert "verify one before you act on it" in second.text
    again = await recall_selectively(request(*ALL, seen=first.surfaced), Picks(["n4"]).guard)
    assert isinstance(again, Block)
    assert RECALL_CAVEAT in again.text


async def test_several_scopes_are_one_recall_and_ids_count_with_their_scope() -> None:
    mine, theirs = note("n1", "office", "Lyon"), note("n1", "policy", "Badges", scope="tenant:acme")

    def by_name(asked: SelectionRequest) -> Sequence[str]:
        return [line.split()[1] for line in asked.manifest.text.splitlines() if line.endswith("policy")]

    first = await recall_selectively(request(mine, theirs), Picks(choose=by_name).guard)
    assert shown(first) == ["policy"]
    assert first.surfaced == keys_of(theirs)
    second = await recall_selectively(request(mine, theirs, seen=first.surfaced), Picks(["n1"]).guard)
    assert shown(second) == ["office"]


async def test_a_picked_note_brings_the_wider_value_that_it_outranks() -> None:
    records = [note("n1", "office", "Lyon"), note("n2", "office", "Paris", scope="tenant:acme", author="human")]
    digest = resolve_digest(records, SCOPES)
    outcome = await recall_selectively(request(*digest.entries), Picks(["n1"]).guard)
    assert isinstance(outcome, Block)
    assert "    ↳ [tenant:acme] person: Paris" in outcome.text


# --- nothing new and degrading ------------------------------------------------------------------------


async def test_when_everything_was_shown_there_is_nothing_new_and_no_selector_is_asked() -> None:
    selector = Picks()
    assert await recall_selectively(request(*ALL, seen=keys_of(*ALL)), selector.guard) == NothingNew()
    assert selector.asked == []


async def test_an_empty_scope_degrades() -> None:
    assert await recall_selectively(request(), Picks().guard) == Degrade("empty_scope")


async def test_without_a_manifest_recall_degrades() -> None:
    limits = SelectiveLimits(manifest=ManifestLimits(max_lines=1))
    assert await recall_selectively(request(*ALL, limits=limits), Picks().guard) == Degrade("no_manifest")


async def test_a_selector_that_names_only_what_is_not_there_degrades() -> None:
    assert await recall_selectively(request(*ALL), Picks(["n7", "n8"]).guard) == Degrade("selector_invented")
    assert shown(await recall_selectively(request(*ALL), Picks(["n7", "n2"]).guard)) == ["editor"]


async def test_a_selector_that_fails_degrades_and_the_next_turn_loses_nothing() -> None:
    def boom(asked: SelectionRequest) -> Any:
        raise RuntimeError("boom")

    failed = await recall_selectively(request(*ALL), SelectorGuard(Picks(choose=boom)))
    assert failed == Degrade("selector_failed")
    assert failed.surfaced == frozenset()
    assert shown(await recall_selectively(request(*ALL, seen=failed.surfaced), Picks(["n2"]).guard)) == ["editor"]


async def test_a_selector_that_hangs_degrades_in_time() -> None:
    class Hangs:
        async def select(self, request: SelectionRequest) -> Sequence[str]:
            await anyio.sleep_forever()
            return ()

    with anyio.fail_after(30):
        outcome = await recall_selectively(request(*ALL), SelectorGuard(Hangs(), 0.05))
    assert outcome == Degrade("selector_timed_out")


# --- conversations ------------------------------------------------------------------------------------


@settings(max_examples=40)  # each is a whole conversation
@given(st.lists(hostile_entries, min_size=1, max_size=12), st.data())
def test_over_a_conversation_nothing_is_shown_twice_and_everything_can_be_reached(
    entries: list[MemoryRecord], data: st.DataObject
) -> None:
    unique = list({(held.scope, held.id): held for held in entries}.values())
    selector = Picks(choose=lambda asked: [asked.manifest.named[0][1], data.draw(hostile)])

    async def converse() -> Sequence[frozenset[str]]:
        turns: list[frozenset[str]] = []
        while True:
            outcome = await recall_selectively(request(*unique, seen=frozenset().union(*turns)), selector.guard)
            if isinstance(outcome, NothingNew):
                return turns
            assert isinstance(outcome, Block)
            assert outcome.surfaced
            turns.append(outcome.surfaced)

    turns = anyio.run(converse)
    assert sum(map(len, turns)) == len(unique)
    assert frozenset().union(*turns) == keys_of(*unique)


# --- the built-in selector ----------------------------------------------------------------------------


async def searching(*facts: tuple[str, str, str]) -> tuple[Search, Sequence[MemoryRecord]]:
    """The search of a store with facts of (scope, key, text), and what applies of them."""
    provider = InMemoryProvider()
    for scope, key, text in facts:
        await provider.write(WriteRequest(scope, key, text, MemoryOrigin(author="agent"), "2026-11-01T00:00:00.000Z"))
    service = MemoryService(provider)

    async def search(query: str, top_k: int) -> Sequence[Hit]:
        return await service.search(ANN, SearchOptions(query=query, top_k=top_k))

    return search, (await service.peek(ANN, 100)).entries


async def test_the_stores_search_picks_what_it_ranks_first() -> None:
    search, entries = await searching(
        ("actor:ann", "office", "The office is in Lyon"), ("actor:ann", "editor", "vim"), ("global", "tea", "green")
    )
    guard = SelectorGuard(SearchSelector(search), trusted=True)
    asked = replace(request(*entries), objective="where is the office?")
    assert shown(await recall_selectively(asked, guard)) == ["office"]
    for blank in ("", "   "):
        nothing = await recall_selectively(replace(asked, objective=blank), guard)
        assert nothing.surfaced == frozenset()


async def test_the_stores_search_finds_a_note_by_the_wider_value_that_it_outranks() -> None:
    search, entries = await searching(
        ("actor:ann", "colour", "blue"), ("tenant:acme", "colour", "vermilion"), ("actor:ann", "tea", "green")
    )
    asked = replace(request(*entries), objective="vermilion")
    outcome = await recall_selectively(asked, SelectorGuard(SearchSelector(search), trusted=True))
    assert shown(outcome) == ["colour"]


async def test_the_stores_search_looks_no_further_down_than_it_was_told() -> None:
    search, entries = await searching(
        *(("actor:ann", f"tea-{number}", f"tea {'tea ' * number}") for number in range(6))
    )
    asked = replace(request(*entries), objective="tea")
    guard = SelectorGuard(SearchSelector(search, depth=2), trusted=True)
    first = await recall_selectively(asked, guard)
    assert len(shown(first)) == 2
    assert (await recall_selectively(replace(asked, seen=first.surfaced), guard)).surfaced == frozenset()


@pytest.mark.parametrize("records", [ALL, tuple(entry(record) for record in ALL)])
async def test_records_and_digest_entries_are_recalled_alike(records: tuple[MemoryRecord, ...]) -> None:
    assert shown(await recall_selectively(request(*records), Picks(["n4"]).guard)) == ["lamp"]
