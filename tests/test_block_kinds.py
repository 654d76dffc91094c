"""Kinds in the block: a section for each, and no kind's own parts can change the block's shape or size."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.block import MAX_CHARS_UNDER_ENTRIES, render_block
from mcp_memory_server.block.entries import MAX_NOTE_CHARS
from mcp_memory_server.block.sections import SECTIONS, section_of
from mcp_memory_server.digest import DigestEntry, Override, as_entry
from mcp_memory_server.identity import MAX_SCOPE_CHARS
from mcp_memory_server.records import (
    KINDS,
    MAX_KEY_CHARS,
    Author,
    Episode,
    Insight,
    MemoryOrigin,
    MemoryRecord,
    Rule,
    WorkingBlock,
)

from .block_lines import block_lines


def entry(key: str, author: Author = "agent", **fields: Any) -> DigestEntry:
    overrides = fields.pop("overrides", ())
    held: dict[str, Any] = {"id": f"id of {key}", "text": "text", "scope": "actor:ann", **fields}
    record = MemoryRecord(key=key, origin=MemoryOrigin(author=author), updated_at="2026-03-01T09:00:00Z", **held)
    return as_entry(record, pinned=False, overrides=overrides)


def rendered(*entries: DigestEntry, max_fact_chars: int | None = 240) -> str:
    return render_block(entries, writable=False, partial=False, max_fact_chars=max_fact_chars)


def lines_of(*entries: DigestEntry, max_fact_chars: int | None = 240) -> list[str]:
    """The lines of the only section, without its heading."""
    section = rendered(*entries, max_fact_chars=max_fact_chars).split("\n\n")[1]
    return [line for line in section.splitlines() if line[:1] in "- "]


WORKING = entry("plan", kind="working", working=WorkingBlock(value="one\n  two", char_limit=50, read_only=True))
RULE = entry(
    "release",
    "human",
    kind="procedural",
    rule=Rule(
        condition="a release is due",
        steps=("Run checks", "Tag {version}"),
        priority=3,
        success_criteria="it is out",
        success_count=2,
        failure_count=1,
    ),
)
EPISODE = entry(
    "move",
    kind="episodic",
    text="Moved",
    episode=Episode(started_at="2026-03-01T09:00:00Z", ended_at="2026-03-02T10:30:00Z"),
)
INSIGHT = entry("owl", kind="insight", text="Works late", insight=Insight(cites=("id of move", "gone"), salience=3))


def test_each_kind_has_its_section_in_this_order() -> None:
    entries = [
        INSIGHT,
        entry("note", kind="session"),
        EPISODE,
        entry("common", kind="shared"),
        entry("guess"),
        RULE,
        entry("stated", "human"),
        WORKING,
    ]
    keys = [line.key for line in block_lines(rendered(*entries)) if line.key]
    assert keys == ["plan", "stated", "release", "guess", "common", "move", "note", "owl"]
    headings = [section.heading for section in SECTIONS]
    assert all(heading in rendered(*entries) for heading in headings)
    assert not any(heading in rendered() for heading in headings)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_no_line_of_a_heading_looks_like_an_entry(section: Any) -> None:
    assert not any(line.lstrip().startswith(("- [", "↳ [", "| ")) for line in section.heading.splitlines())


def test_every_kind_is_in_one_section() -> None:
    authors: tuple[Author, ...] = ("human", "agent")
    assert {section_of(entry("k", author, kind=kind)) for kind in KINDS for author in authors} == {
        section.name for section in SECTIONS
    }


def test_a_working_block_shows_each_line_behind_a_bar_and_how_full_it_is() -> None:
    """9.1: `working` block: a named slot shown every turn."""
    assert lines_of(WORKING) == [
        "- [actor:ann] plan: (last edited by the assistant, 9 of 50 characters, read-only)",
        "    | one",
        "    |   two",
    ]


def test_a_rule_shows_its_condition_its_steps_and_how_often_it_worked() -> None:
    assert lines_of(RULE) == [
        "- [actor:ann] release: When a release is due (person, priority 3, worked 2 of 3 times)",
        "    1. Run checks",
        "    2. Tag {version}",
        "    Done when: it is out",
    ]


def test_rules_of_higher_priority_stand_first() -> None:
    rules = [
        entry(key, kind="procedural", rule=Rule(condition="c", steps=("s",), priority=priority))
        for key, priority in (("a", -1), ("b", 0), ("c", 7), ("d", 7))
    ]
    assert [line.key for line in block_lines(rendered(*rules))] == ["c", "d", "b", "a"]


def test_an_episode_shows_when_it_was() -> None:
    assert lines_of(EPISODE) == ["- [actor:ann] move: Moved (note, 2026-03-01 09:00Z to 2026-03-02 10:30Z)"]
    going_on = entry("trip", kind="episodic", episode=Episode(started_at="2026-03-01T09:00:00Z"))
    assert lines_of(going_on) == ["- [actor:ann] trip: text (note, since 2026-03-01 09:00Z)"]


def test_an_insight_names_what_it_cites_by_key_and_counts_what_is_not_shown() -> None:
    assert lines_of(INSIGHT)[-2:] == ["- [actor:ann] owl: Works late (note, salience 3)", "    from: 2 not shown here"]
    shown = rendered(EPISODE, INSIGHT)
    assert shown.endswith("    from: move, 1 more\n</memory>")
    many = entry("m", kind="insight", insight=Insight(cites=tuple(f"id of {n}" for n in range(6))))
    assert "    from: 0, 1, 2, 3 more\n" in rendered(*(entry(str(n)) for n in range(6)), many)


def test_an_insight_stands_below_another_that_it_cites() -> None:
    """9.1: ranked below the facts it cites."""
    above = entry("z", kind="insight", insight=Insight(cites=("elsewhere",)))
    below = entry("a", kind="insight", insight=Insight(cites=("id of z",)))
    assert [line.key for line in block_lines(rendered(below, above))] == ["z", "a"]


def test_a_kind_without_its_part_is_shown_by_its_text() -> None:
    """A foreign provider may hold such records."""
    for kind in ("procedural", "working", "episodic", "insight", "session", "shared"):
        assert lines_of(entry("k", "human", kind=kind)) == ["- [actor:ann] k: text (person)"]


def test_a_wider_answer_that_a_block_outranks_is_one_line_under_it() -> None:
    wider = Override(scope="global", text="all\nof it", author="human")
    block = entry("plan", kind="working", working=WorkingBlock(value="mine", char_limit=9), overrides=(wider,))
    assert lines_of(block)[1:] == ["    | mine", "    ↳ [global] person: all of it"]


def test_what_does_not_fit_under_entries_is_left_out_by_whole_lines_and_counted() -> None:
    blocks = [
        entry(name, kind="working", working=WorkingBlock(value="\n".join(["x" * 94] * 20), char_limit=2_000))
        for name in ("a", "b", "c")
    ]
    lines = lines_of(*blocks)
    assert sum(line.startswith("    | ") for line in lines) == MAX_CHARS_UNDER_ENTRIES // 101
    assert [line for line in lines if "left out" in line] == [
        "    … (left out: 1 lines, 100 characters)",
        "    … (left out: 20 lines, 2000 characters)",
    ]
    assert "left out" not in rendered(*blocks, max_fact_chars=None)


# --- what no record can do --------------------------------------------------------------------------

_HOSTILE = (
    "</memory>", "<memory>", "<\n/memory>", "\uff1cmemory", "<", "/", "memory", "mem\nory>", "- [global] key: text",
    "    ↳ [global] person: text", "    | line", "1. step", "\n", "\r", "\u2028", "\x85", "\x00", "\t", " ", "[", "]",
    ":", "\u202e", "\ud800", "\u200d", "a",
)  # fmt: skip
hostile = st.lists(st.one_of(st.sampled_from(_HOSTILE), st.text(max_size=3)), max_size=8).map("".join)
numbers = st.one_of(st.integers(-5, 5), st.integers(-(10**40), 10**40))
parts = st.fixed_dictionaries(
    {
        "rule": st.none()
        | st.builds(
            Rule,
            condition=hostile,
            steps=st.lists(hostile, max_size=3).map(tuple),
            priority=numbers,
            success_criteria=st.none() | hostile,
            success_count=st.integers(0, 10**40),
        ),
        "episode": st.none() | st.just(EPISODE.episode),
        "working": st.none() | st.builds(WorkingBlock, value=hostile, char_limit=st.integers(1, 10**40)),
        "insight": st.none()
        | st.builds(Insight, cites=st.lists(hostile, min_size=1, max_size=5).map(tuple), salience=numbers),
    }
)
entries = st.lists(
    st.tuples(
        hostile,
        st.sampled_from(("agent", "human")),
        hostile,
        hostile,
        st.sampled_from(("id", "memory", "- [", "a\nb")),
        st.sampled_from(KINDS),
        parts,
    ).map(
        lambda held: entry(
            held[0],
            held[1],
            text=held[2],
            scope=held[3],
            id=held[4],
            kind=held[5],
            **held[6],  # pyright: ignore[reportArgumentType]
        )
    ),
    max_size=6,
)


@given(entries)
def test_no_part_of_any_kind_makes_an_entry_a_section_or_a_fence(held: list[DigestEntry]) -> None:
    block = render_block(held, writable=True, partial=True, max_fact_chars=240)
    assert len(block_lines(block)) == len(held)
    block.encode()
    plain = render_block(
        [entry("k", one.origin.author, kind=one.kind) for one in held], writable=True, partial=True, max_fact_chars=240
    )
    assert _fixed(block) == _fixed(plain)


def _fixed(block: str) -> list[str]:
    """The lines that no entry makes: those at the margin that are no entry themselves."""
    return [line for line in block.splitlines() if line and not line.startswith(("- [", "    "))]


@given(entries, st.integers(1, 400))
def test_the_size_is_bounded_by_the_number_of_entries_and_one_allowance(held: list[DigestEntry], times: int) -> None:
    """5: the size of the block is bounded, whatever entries hold and of whatever kind they are."""
    long = [
        one.model_copy(
            update={
                "text": one.text * times,
                "rule": one.rule and one.rule.model_copy(update={"steps": one.rule.steps * times}),
                "working": one.working and one.working.model_copy(update={"value": one.working.value * times}),
                "insight": one.insight and one.insight.model_copy(update={"cites": one.insight.cites * times}),
            }
        )
        for one in held
    ]
    block = render_block(long, writable=True, partial=True, max_fact_chars=240)
    headings = [entry("k", author, kind=kind) for kind in KINDS for author in ("agent", "human")]  # pyright: ignore[reportArgumentType]
    fixed = len(render_block(headings, writable=True, partial=True))
    marks = len("- [] When :  ()\n… (cut, 123456 characters)\n    … (left out: 12345 lines, 12345678 characters)\n")
    each = 240 + MAX_KEY_CHARS + MAX_SCOPE_CHARS + MAX_NOTE_CHARS + marks
    assert len(block) <= fixed + len(long) * each + MAX_CHARS_UNDER_ENTRIES
