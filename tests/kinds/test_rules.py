"""Rules: what a write of one must hold, its variables, and when an induced one has proven itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.kinds.rules import is_proven, normal_rule, rule_text, with_outcome
from mcp_memory_server.kinds.templates import filled, variables_of
from mcp_memory_server.records import MemoryOrigin, MemoryRecord, Provenance, Rule

RELEASE = Rule(
    condition="a release of {package} is asked for",
    steps=("Run make check", "Tag {package} {version}", "Write {{braces}} as they are"),
    priority=2,
    success_criteria="{version} is on the index",
)


def refusal(rule: Rule, max_fact_chars: int = 240) -> str:
    with pytest.raises(InvalidInput) as refused:
        normal_rule(rule, max_fact_chars)
    return str(refused.value)


# --- what is written ---------------------------------------------------------------------------------


def test_a_rule_says_when_what_in_which_order_and_how_success_is_told() -> None:
    """9.1: `procedural` rule (`condition`, `priority`, ordered `steps` with `{variables}`, `success_criteria`)."""
    assert normal_rule(RELEASE, 240) == RELEASE
    assert rule_text(RELEASE) == (
        "When a release of {package} is asked for: 1. Run make check; 2. Tag {package} {version}; "
        "3. Write {{braces}} as they are; done when {version} is on the index"
    )


def test_every_part_is_one_visible_line() -> None:
    rule = Rule(condition=" a\nb ", steps=("c\u202ed",), success_criteria="e\tf")
    assert normal_rule(rule, 240) == Rule(condition="a b", steps=("cd",), success_criteria="e f")


def test_everything_that_is_wrong_is_named_at_once_with_its_limit() -> None:
    said = refusal(Rule(condition=" ", steps=("fine", "x" * 11, "{"), priority=101, success_criteria="\ud800"), 10)
    assert "condition is blank" in said
    assert "step 2 has 11 characters and the limit is 10" in said
    assert "step 3 holds '{' at position 0" in said
    assert "priority is 101, outside -100 to 100" in said
    assert "success_criteria holds half of a surrogate pair" in said


@pytest.mark.parametrize("count", [0, 21])
def test_a_rule_has_1_to_20_steps(count: int) -> None:
    assert f"steps has {count} entries; a rule has 1 to 20" in refusal(Rule(condition="c", steps=("s",) * count))


def test_a_rule_that_is_too_long_in_all_is_refused_with_both_numbers() -> None:
    said = refusal(Rule(condition="c", steps=("s" * 200,) * 6))
    assert "steps make a rule of 1236 characters and the limit is 1000; nothing was stored" in said


@pytest.mark.parametrize("text", ["{", "}", "{}", "{a b}", "{1st}", "{a{b}}", "{é}", "{" + "n" * 41 + "}", "a } b"])
def test_braces_that_are_no_variable_are_refused(text: str) -> None:
    assert "write a variable like {name}" in refusal(Rule(condition="c", steps=(text,)))


# --- variables ---------------------------------------------------------------------------------------


def test_the_variables_of_a_rule_are_listed_in_order_of_their_first_place() -> None:
    assert variables_of(RELEASE) == ("package", "version")


def test_values_take_the_place_of_variables_and_doubled_braces_become_single() -> None:
    done = filled(RELEASE, {"version": "1.2", "package": "{version}"})
    assert done.condition == "a release of {version} is asked for"  # a value is no template
    assert done.steps == ("Run make check", "Tag {version} 1.2", "Write {braces} as they are")
    assert done.success_criteria == "1.2 is on the index"


def test_missing_and_unknown_values_are_named() -> None:
    with pytest.raises(InvalidInput) as refused:
        filled(RELEASE, {"package": "p", "colour": "red"})
    assert str(refused.value) == (
        "values gives no value for 'version' and names 'colour', which the rule does not have."
    )


@given(st.text(alphabet="{}ab_1 ", max_size=12))
def test_what_the_gate_lets_through_can_be_filled(step: str) -> None:
    try:
        rule = normal_rule(Rule(condition="c", steps=(step,)), 240)
    except InvalidInput:
        return
    done = filled(rule, dict.fromkeys(variables_of(rule), "x"))
    assert done.steps[0].count("{") == rule.steps[0].count("{{")
    assert done.steps[0].count("}") == rule.steps[0].count("}}")


# --- outcomes ----------------------------------------------------------------------------------------


def test_successes_and_failures_are_counted() -> None:
    rule = with_outcome(RELEASE, succeeded=True, thread_id="a")
    rule = with_outcome(with_outcome(rule, succeeded=False, thread_id="a"), succeeded=True, thread_id="b")
    assert (rule.success_count, rule.failure_count) == (2, 1)


def test_a_conversation_proves_a_rule_once() -> None:
    """An agent must not talk its own rule out of quarantine by repeating itself."""
    once = with_outcome(RELEASE, succeeded=True, thread_id="a")
    assert with_outcome(once, succeeded=True, thread_id="a") == once


@pytest.mark.parametrize(
    ("provenance", "successes", "failures", "proven"),
    [
        ("induction", 3, 0, True),
        ("induction", 3, 2, True),
        ("induction", 2, 0, False),
        ("induction", 3, 3, False),
        ("imported", 9, 0, False),
        ("user", 9, 0, False),
    ],
)
def test_an_induced_rule_is_proven_by_its_successes(
    provenance: Provenance, successes: int, failures: int, proven: bool
) -> None:
    """9.1: a rule induced from a trajectory is promoted after a configured number of recorded successes."""
    record = MemoryRecord(
        id="1",
        key="release",
        text="t",
        scope="actor:ann",
        origin=MemoryOrigin(author="agent"),
        updated_at="2026-03-01T09:00:00Z",
        kind="procedural",
        provenance=provenance,
        rule=Rule(condition="c", steps=("s",), success_count=successes, failure_count=failures),
    )
    assert is_proven(record, promote_after=3) is proven
    assert not is_proven(record.model_copy(update={"rule": None}), promote_after=1)
