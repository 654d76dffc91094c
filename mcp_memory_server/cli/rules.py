"""`rules`: what a person does with rules."""

from __future__ import annotations

from collections.abc import Sequence

import click

from mcp_memory_server.errors import InvalidInput, NotFound, echo
from mcp_memory_server.kinds.templates import filled
from mcp_memory_server.records import MemoryRecord, Rule, visible_line
from mcp_memory_server.service import Reach
from mcp_memory_server.service.kinds import Writer

from .columns import terminal_width
from .layout import author_of, record_json, table
from .placing import group, held_of_kind, placed
from .session import Session, in_session, reach_flags
from .writing import show_written


@click.command("list")
@in_session
async def _list(session: Session) -> None:
    """Show the rules that apply to you, and how they fared."""
    rules = await held_of_kind(session, "procedural")
    rows = [
        (rule.key, rule.text, *_fared(rule), rule.scope, author_of(rule.origin.author), _id(rule)) for rule in rules
    ]
    headings = ("KEY", "RULE", "PRIORITY", "WORKED", "FAILED", "SCOPE", "BY", "ID")
    shown = table(headings, rows, terminal_width(), flexible=1) if rows else "There is no rule yet."
    session.show({"rules": [record_json(rule) for rule in rules]}, shown)


def _fared(record: MemoryRecord) -> tuple[object, ...]:
    rule = record.rule
    return ("", "", "") if rule is None else (rule.priority, rule.success_count, rule.failure_count)


def _id(record: MemoryRecord) -> str:
    return record.id if record.status == "active" else f"{record.id} ({record.status})"


rules_command = group("rules", _list, "Show the rules, and state, try or fill in one.")


@rules_command.command("record")
@click.argument("key")
@click.option("--when", "condition", required=True, help="When it applies, without the word when.")
@click.option("--step", "steps", multiple=True, required=True, help="A step; give one after the other.")
@click.option("--priority", type=int, default=0, help="Of two rules that apply the higher goes first; default: 0.")
@click.option("--done-when", "success_criteria", help="How to tell that it worked.")
@placed
@in_session
async def _record(  # noqa: PLR0913  # click hands over one argument an option
    session: Session,
    *,
    key: str,
    condition: str,
    steps: tuple[str, ...],
    priority: int,
    success_criteria: str | None,
    writer: Writer,
) -> None:
    """State a rule: what to do, in order, whenever a condition holds. Steps may hold {variables}."""
    rule = Rule(condition=condition, steps=steps, priority=priority, success_criteria=success_criteria)
    show_written(session, await session.service.kinds.rules.record(session.person, key, rule, writer=writer))


@rules_command.command("report")
@click.argument("id")
@click.argument("outcome", type=click.Choice(["worked", "failed"]))
@placed
@in_session
async def _report(session: Session, id: str, outcome: str, writer: Writer) -> None:
    """Count that following the rule of that ID worked, or failed."""
    done = await session.service.kinds.rules.report(session.person, id, succeeded=outcome == "worked", writer=writer)
    worked, failed = _fared(done.record)[1:]
    said = f"{echo(done.record.key)} worked {worked} times and failed {failed}."
    if done.promoted:
        said += " It has proven itself and is shown from now on."
    session.show({"counted": done.counted, "promoted": done.promoted, "record": record_json(done.record)}, said)


@rules_command.command("fill")
@click.argument("key")
@click.argument("values", nargs=-1, metavar="NAME=VALUE...")
@reach_flags
@in_session
async def _fill(session: Session, key: str, values: Sequence[str], reach: Reach) -> None:
    """Show a rule's steps with a value in the place of each {variable}."""
    record = await session.record(key, None, reach)
    if record.rule is None:
        raise NotFound("rule", key, "See `mcp-memory-server rules`.")
    rule = filled(record.rule, _pairs(values))
    lines = [f"When {rule.condition}:", *(f"{number}. {step}" for number, step in enumerate(rule.steps, start=1))]
    if rule.success_criteria:
        lines.append(f"Done when {rule.success_criteria}")
    session.show({"rule": rule.model_dump(mode="json")}, "\n".join(map(visible_line, lines)))


def _pairs(values: Sequence[str]) -> dict[str, str]:
    if wrong := next((value for value in values if "=" not in value), None):
        raise InvalidInput.of("values", f"holds {echo(wrong)}; write NAME=VALUE")
    return dict(value.split("=", 1) for value in values)
