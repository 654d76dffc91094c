"""Rules: a condition, the steps to follow when it holds, and how often that worked."""

from __future__ import annotations

from typing import Final

from mcp_memory_server.errors import InvalidInput, Problem, echo
from mcp_memory_server.records import MemoryRecord, Rule, normal_text

from .gate import Gate
from .templates import check_template

MAX_STEPS: Final = 20
MAX_RULE_CHARS: Final = 1_000
MAX_PRIORITY: Final = 100
_KEPT_THREADS: Final = 32


def normal_rule(rule: Rule, max_fact_chars: int) -> Rule:
    """A rule as it is stored: its condition, each step and what tells success are one visible line each.

    Raises:
        InvalidInput: a part is blank or longer than a fact, no steps or more than 20, a malformed `{variable}`, a
            priority outside -100 to 100, or more than 1,000 characters in all.
    """
    gate = Gate()

    def line(argument: str, text: str) -> str:
        normal = normal_text(text, max_fact_chars, argument)
        check_template(normal, argument)
        return normal

    condition = gate.take(lambda: line("condition", rule.condition), "")
    steps = tuple(
        gate.take(lambda name=f"step {number}", step=step: line(name, step), "")
        for number, step in enumerate(rule.steps[: MAX_STEPS + 1], start=1)
    )
    criteria = rule.success_criteria
    if criteria is not None:
        criteria = gate.take(lambda text=criteria: line("success_criteria", text), None)
    gate.take(lambda: _check_extent(rule), None)
    gate.close()
    normal = rule.model_copy(update={"condition": condition, "steps": steps, "success_criteria": criteria})
    if (length := len(rule_text(normal))) > MAX_RULE_CHARS:
        raise InvalidInput.of(
            "steps",
            f"make a rule of {length} characters and the limit is {MAX_RULE_CHARS}; nothing was stored. "
            "Shorten them, or split the rule in two",
        )
    return normal


def _check_extent(rule: Rule) -> None:
    problems: list[Problem] = []
    if not 1 <= len(rule.steps) <= MAX_STEPS:
        problems.append(Problem("steps", f"has {len(rule.steps)} entries; a rule has 1 to {MAX_STEPS}"))
    if not -MAX_PRIORITY <= rule.priority <= MAX_PRIORITY:
        problems.append(Problem("priority", f"is {echo(rule.priority)}, outside -{MAX_PRIORITY} to {MAX_PRIORITY}"))
    if problems:
        raise InvalidInput(*problems)


def rule_text(rule: Rule) -> str:
    """All of a rule on one line."""
    steps = "; ".join(f"{number}. {step}" for number, step in enumerate(rule.steps, start=1))
    done = f"; done when {rule.success_criteria}" if rule.success_criteria else ""
    return f"When {rule.condition}: {steps}{done}"


def rule_words(rule: Rule) -> tuple[str, ...]:
    """What a rule says: each part, and all of them in a row."""
    parts = (rule.condition, *rule.steps, rule.success_criteria or "")
    return (*parts, " ".join(parts))


def with_outcome(rule: Rule, *, succeeded: bool, thread_id: str | None) -> Rule:
    """The rule after one more trial. Of a thread the first success counts; after a further one the rule is the same.

    What one conversation repeats would prove nothing, and an agent could talk its own rule out of quarantine.
    """
    if not succeeded:
        return rule.model_copy(update={"failure_count": rule.failure_count + 1})
    if thread_id is not None and thread_id in rule.succeeded_in:
        return rule
    threads = rule.succeeded_in if thread_id is None else (*rule.succeeded_in, thread_id)[-_KEPT_THREADS:]
    return rule.model_copy(update={"success_count": rule.success_count + 1, "succeeded_in": threads})


def is_proven(record: MemoryRecord, promote_after: int) -> bool:
    """Whether an induced rule has worked often enough to leave quarantine: more often than it failed, at least."""
    rule = record.rule
    return (
        rule is not None
        and record.provenance == "induction"
        and rule.success_count >= promote_after
        and rule.success_count > rule.failure_count
    )
