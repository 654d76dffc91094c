"""Which facts apply, which of them win, and in which order they stand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.block import render_block
from mcp_memory_server.digest import below_cited, resolve_digest
from mcp_memory_server.records import Author, Insight, MemoryOrigin, MemoryRecord

from .block_lines import block_lines
from .golden_cases import golden_cases

SCOPES = ("actor:ann#shop", "actor:ann", "tenant:acme", "global")
KEYS = ("office", "editor", "名前", "Office", "tz")


def record(
    id: str, key: str, scope: str, minute: int = 0, *, author: Author = "agent", pinned: bool = False
) -> MemoryRecord:
    return MemoryRecord(
        id=id,
        key=key,
        text=f"{key} at {scope}",
        scope=scope,
        origin=MemoryOrigin(author=author),
        updated_at=f"2026-03-01T09:{minute:02}:00.000Z",
        pinned=pinned,
    )


@pytest.mark.parametrize("case", golden_cases("digest.jsonl"))
def test_digests_and_their_blocks_are_the_golden_ones(case: dict[str, Any]) -> None:
    ceiling = {"max_memories": case["max_memories"]} if "max_memories" in case else {}
    records = [MemoryRecord.model_validate(held) for held in case["records"]]
    digest = resolve_digest(records, case["scopes"], **ceiling, ranked=case["ranked"])

    expected = case["expect"]
    assert [entry.id for entry in digest.entries] == [entry["id"] for entry in expected["entries"]]
    assert [entry.pinned for entry in digest.entries] == [entry.get("pinned", False) for entry in expected["entries"]]
    assert [[value.model_dump() for value in entry.overrides] for entry in digest.entries] == [
        entry.get("overrides", []) for entry in expected["entries"]
    ]
    assert (digest.omitted, digest.pinned_omitted) == (expected["omitted"], expected["pinned_omitted"])
    block = render_block(digest.entries, writable=True, partial=digest.partial)
    assert [str(line) for line in block_lines(block)] == case["order"]


places = st.tuples(st.sampled_from(KEYS), st.sampled_from((*SCOPES, "actor:bob")))
held_records = st.dictionaries(places, st.tuples(st.integers(0, 5), st.booleans()), max_size=15).map(
    lambda held: [
        record(f"id-{number}", key, scope, minute, pinned=pinned)
        for number, ((key, scope), (minute, pinned)) in enumerate(held.items())
    ]
)
ceilings = st.integers(-1, 8)


@given(held_records, ceilings, st.booleans(), st.randoms())
def test_the_order_of_records_means_nothing_unless_they_are_ranked(
    records: list[MemoryRecord], ceiling: int, ranked: bool, random: Any
) -> None:
    shuffled = random.sample(records, len(records))
    assert resolve_digest(shuffled, SCOPES, ceiling) == resolve_digest(records, SCOPES, ceiling)
    assert resolve_digest(records, SCOPES, ceiling, ranked) == resolve_digest(records, SCOPES, ceiling, ranked)


@given(held_records, ceilings, st.booleans())
def test_every_key_at_the_scopes_is_an_entry_an_override_or_counted_as_omitted(
    records: list[MemoryRecord], ceiling: int, ranked: bool
) -> None:
    digest = resolve_digest(records, SCOPES, ceiling, ranked)
    keys = {held.key for held in records if held.scope in SCOPES}
    shown = [entry.key for entry in digest.entries]
    assert len(shown) == len(set(shown)) == min(len(keys), max(ceiling, 0))
    assert len(shown) + digest.omitted == len(keys)
    for entry in digest.entries:
        scopes = [entry.scope, *(value.scope for value in entry.overrides)]
        held = {held.scope: held for held in records if held.key == entry.key and held.scope in SCOPES}
        assert scopes == [scope for scope in SCOPES if scope in held]
        assert entry.pinned == any(answer.pinned for answer in held.values())
        assert entry.text == held[entry.scope].text
    assert digest.partial == (ranked or digest.omitted > 0)


@given(held_records, ceilings, st.booleans())
def test_pins_are_selected_first_and_the_rendering_order_ignores_age_and_relevance(
    records: list[MemoryRecord], ceiling: int, ranked: bool
) -> None:
    digest = resolve_digest(records, SCOPES, ceiling, ranked)
    order = [(not entry.pinned, SCOPES.index(entry.scope), entry.key) for entry in digest.entries]
    assert order == sorted(order)
    if digest.pinned_omitted:
        assert all(entry.pinned for entry in digest.entries)


def test_the_narrowest_scope_wins_and_the_beaten_ones_stand_widest_last() -> None:
    records = [
        record("3", "office", "global", author="human", pinned=True),
        record("1", "office", "actor:ann"),
        record("2", "office", "tenant:acme", author="human"),
    ]
    (entry,) = resolve_digest(records, SCOPES).entries
    assert (entry.id, entry.pinned) == ("1", True)
    assert [value.model_dump() for value in entry.overrides] == [
        {"scope": "tenant:acme", "text": "office at tenant:acme", "author": "human"},
        {"scope": "global", "text": "office at global", "author": "human"},
    ]
    assert [(value.id, value.version) for value in entry.overrides] == [("2", 1), ("3", 1)]


def test_a_provider_that_returns_two_answers_at_one_scope_is_taken_at_its_newest_word() -> None:
    records = [
        record("old", "office", "global", 1),
        record("new", "office", "global", 2),
        record("older", "office", "global"),
    ]
    (entry,) = resolve_digest(records, SCOPES).entries
    assert (entry.id, entry.overrides) == ("new", ())


def test_a_ranked_key_is_as_relevant_as_its_best_placed_record() -> None:
    records = [
        record("1", "tz", "global"),
        record("2", "office", "actor:ann", 9),
        record("3", "tz", "actor:ann"),
        record("4", "editor", "actor:ann", 5, pinned=True),
    ]
    digest = resolve_digest(records, SCOPES, max_memories=2, ranked=True)
    assert [entry.id for entry in digest.entries] == ["4", "3"]
    assert (digest.omitted, digest.pinned_omitted, digest.recalled) == (1, 0, True)


def test_a_scope_named_twice_counts_where_it_stands_first() -> None:
    records = [record("1", "office", "global"), record("2", "office", "actor:ann")]
    digest = resolve_digest(records, ("actor:ann", "global", "actor:ann"))
    assert [entry.id for entry in digest.entries] == ["2"]


def test_what_is_empty_is_left_out_of_json() -> None:
    digest = resolve_digest([record("1", "office", "global")], ["global"])
    dumped = digest.model_dump()
    assert "digest_id" not in dumped
    assert "overrides" not in dumped["entries"][0]


# --- kinds ------------------------------------------------------------------------------------------


def insight(id: str, *cites: str, minute: int = 9, salience: int = 2, pinned: bool = False) -> MemoryRecord:
    held = record(id, f"insight {id}", "actor:ann", minute, pinned=pinned)
    return held.model_copy(update={"kind": "insight", "insight": Insight(cites=cites, salience=salience)})


def selected(records: list[MemoryRecord], ranked: bool, max_memories: int) -> set[str]:
    return {entry.id for entry in resolve_digest(records, SCOPES, max_memories, ranked=ranked).entries}


@pytest.mark.parametrize("ranked", [True, False])
def test_a_working_block_comes_along_like_a_pin(ranked: bool) -> None:
    """9.1: a named slot shown every turn."""
    block = record("block", "plan", "global").model_copy(update={"kind": "working"})
    digest = resolve_digest(
        [record(str(n), f"fact {n}", "actor:ann", n) for n in range(3)] + [block], SCOPES, 2, ranked
    )
    assert [(entry.id, entry.pinned) for entry in digest.entries][:1] == [("block", True)]
    assert (digest.omitted, digest.pinned_omitted) == (2, 0)
    assert resolve_digest([block], SCOPES, 0, ranked).pinned_omitted == 1


@pytest.mark.parametrize("ranked", [True, False])
def test_an_insight_ranks_below_the_facts_it_cites(ranked: bool) -> None:
    """9.1: ranked below the facts it cites, however new it is and however well it answers."""
    facts = [record(str(n), f"fact {n}", "actor:ann", 5 - n) for n in range(3)]
    records = [insight("i", "1", "gone"), *facts]
    assert [selected(records, ranked, n) for n in (1, 2, 3)] == [{"0"}, {"0", "1"}, {"0", "1", "i"}]


@pytest.mark.parametrize("ranked", [True, False])
def test_insights_that_cite_each_other_stand_below_everything_else(ranked: bool) -> None:
    records = [insight("a", "b"), insight("b", "a"), insight("c", "c"), record("0", "fact", "actor:ann")]
    assert selected(records, ranked, 2) == {"0", "c"}
    assert selected(records, ranked, 4) == {"a", "b", "c", "0"}


def test_a_pin_outweighs_what_an_insight_cites() -> None:
    assert selected([insight("i", "0", pinned=True), record("0", "fact", "actor:ann")], False, 1) == {"i"}


@pytest.mark.parametrize("salience", [0, -1])
def test_an_insight_without_salience_is_gone_at_once(salience: int) -> None:
    """9.1: pruned at 0 or less."""
    digest = resolve_digest([insight("i", "0", salience=salience), insight("j", "0", salience=1)], SCOPES, 5)
    assert [entry.id for entry in digest.entries] == ["j"]
    assert digest.omitted == 0


@given(st.lists(st.lists(st.integers(0, 7), max_size=3), min_size=1, max_size=8))
def test_nothing_is_lost_or_raised_by_sorting_insights(cites: list[list[int]]) -> None:
    records = [
        insight(str(n), *map(str, cited)) if cited else record(str(n), str(n), "actor:ann")
        for n, cited in enumerate(cites)
    ]
    ordered = below_cited(records)
    assert sorted(held.id for held in ordered) == sorted(held.id for held in records)
    facts = [held.id for held in records if held.insight is None]
    assert [held.id for held in ordered if held.insight is None] == facts
    place = {held.id: number for number, held in enumerate(ordered)}
    for held in ordered:
        if held.insight is not None:
            assert all(place[held.id] > place[cited] for cited in held.insight.cites if cited in facts)
