"""Episodes and insights, and the gate for records that come from elsewhere."""

from typing import Any

import pytest

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.kinds import normal_kind
from mcp_memory_server.kinds.episodes import normal_episode
from mcp_memory_server.kinds.insights import normal_insight, with_vote
from mcp_memory_server.records import Episode, Insight, MemoryOrigin, MemoryRecord, Rule, WorkingBlock


def record(**fields: Any) -> MemoryRecord:
    held: dict[str, Any] = {"text": "text", "origin": MemoryOrigin(author="agent"), **fields}
    return MemoryRecord(id="1", key="key", scope="actor:ann", updated_at="2026-03-01T09:00:00Z", **held)


# --- episodes ----------------------------------------------------------------------------------------


def test_an_episode_has_a_beginning_and_may_have_an_end() -> None:
    """9.1: `episodic` summary (`started_at`, `ended_at`); any offset is accepted, and stored as UTC."""
    episode = normal_episode("2026-03-01T10:00:00+01:00", "2026-03-01T09:00:00Z")
    assert (episode.started_at, episode.ended_at) == ("2026-03-01T09:00:00.000Z", "2026-03-01T09:00:00.000Z")
    assert normal_episode("2026-03-01T09:00:00Z").ended_at is None


def test_an_end_before_the_beginning_is_refused_with_both_values() -> None:
    with pytest.raises(InvalidInput) as refused:
        normal_episode("2026-03-02T00:00:00Z", "2026-03-01T23:59:59Z")
    assert str(refused.value) == (
        "ended_at (2026-03-01T23:59:59.000Z) is before started_at (2026-03-02T00:00:00.000Z); swap or drop one."
    )


def test_both_times_are_named_when_both_are_wrong() -> None:
    with pytest.raises(InvalidInput) as refused:
        normal_episode("2026-03-01T09:00:00", "soon")
    assert [problem.argument for problem in refused.value.problems] == ["started_at", "ended_at"]
    assert "has no time zone" in str(refused.value)


# --- insights ----------------------------------------------------------------------------------------


def test_an_insight_starts_with_salience_2_and_cites_each_memory_once() -> None:
    """9.1: `insight` (`cites`; `salience` starts at 2)."""
    assert normal_insight(["a", " b ", "a"]) == Insight(cites=("a", "b"), salience=2)


@pytest.mark.parametrize("count", [0, 17])
def test_an_insight_without_citations_is_refused(count: int) -> None:
    """9.1: `cites` at least one existing id, mandatory."""
    with pytest.raises(InvalidInput, match=f"cites names {count} memories; an insight cites 1 to 16"):
        normal_insight(map(str, range(count)))


@pytest.mark.parametrize("id", ["", "a\nb", "x" * 201, "\ud800"])
def test_what_can_be_no_id_is_refused(id: str) -> None:
    with pytest.raises(InvalidInput, match="cites holds what is no id"):
        normal_insight(["fine", id])


def test_votes_move_salience_up_to_10() -> None:
    """9.1: votes move it."""
    insight = normal_insight(["a"])
    assert with_vote(insight, 1).salience == 3
    assert with_vote(with_vote(insight, -1), -1).salience == 0
    assert with_vote(insight.model_copy(update={"salience": 10}), 1).salience == 10
    for vote in (0, 2, -2):
        with pytest.raises(InvalidInput, match=f"vote is {vote}; it is 1"):
            with_vote(insight, vote)


# --- records from elsewhere --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "held",
    [
        record(kind="semantic"),
        record(kind="procedural", text="a rule in words"),
        record(
            kind="procedural",
            text=f"When c: 1. {'x' * 240}; 2. {'x' * 240}; 3. a {{b}}; done when d",
            rule=Rule(condition="c", steps=("x" * 240, "x" * 240, "a {b}"), success_criteria="d", success_count=7),
        ),
        record(kind="working", text="x" * 2_000, working=WorkingBlock(value="x" * 2_000, char_limit=2_000)),
        record(kind="episodic", episode=Episode(started_at="2026-03-01T09:00:00Z")),
        record(kind="insight", insight=Insight(cites=("gone",), salience=-3)),
    ],
)
def test_what_a_write_stored_passes_the_gate_as_it_is(held: MemoryRecord) -> None:
    assert normal_kind(held, 240) == held


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (record(rule=Rule(condition="c", steps=("s",))), "rule belongs to the kind procedural"),
        (record(kind="insight", working=WorkingBlock(value="", char_limit=1)), "working belongs to the kind working"),
        (record(kind="procedural", rule=Rule(condition="c")), "steps has 0 entries"),
        (record(kind="working", working=WorkingBlock(value="ab", char_limit=1)), "the block's limit is 1"),
        (record(kind="insight", insight=Insight(cites=("a\nb",))), "no id"),
        (record(kind="episodic", text="x" * 241), "text has 241 characters and the limit is 240"),
        (record(kind="session"), "origin.thread_id is missing: a note of the kind session is one conversation's"),
        (record(subject="x" * 101), "subject has 101 characters and the limit is 100"),
        (record(object="\n"), "object is blank"),
    ],
)
def test_a_record_that_no_write_could_have_stored_is_refused(held: MemoryRecord, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        normal_kind(held, 240)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("held", "text"),
    [
        (
            record(kind="procedural", text="Run the tests", rule=Rule(condition="c", steps=("send it",))),
            "When c: 1. send it",
        ),
        (record(kind="working", text="milk", working=WorkingBlock(value="a\n  b", char_limit=9)), "a b"),
    ],
)
def test_the_text_of_a_record_from_elsewhere_says_what_its_parts_say(held: MemoryRecord, text: str) -> None:
    """A person reviews the text, and models are shown the parts."""
    assert normal_kind(held, 240).text == text
