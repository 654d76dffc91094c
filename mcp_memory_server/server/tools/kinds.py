"""The toolset `kinds`: working blocks, rules, episodes, insights and notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, get_args

import mcp_types as types

from mcp_memory_server.errors import InvalidInput, echo
from mcp_memory_server.kinds.insights import MAX_CITES
from mcp_memory_server.kinds.rules import MAX_PRIORITY, MAX_STEPS
from mcp_memory_server.kinds.working import DEFAULT_CHAR_LIMIT, MAX_CHAR_LIMIT, AppendLine, Edit, ReplaceText, SetValue
from mcp_memory_server.records import MemoryRecord, Rule, visible_line
from mcp_memory_server.server.schemas import BOOLEAN, STRING, WRITTEN, Schema, arguments, array
from mcp_memory_server.service import MemoryService, Remembered
from mcp_memory_server.service.kinds import Audience, Span, Writer

from .served import ID, Call, Handler, ServedTool, text


def kinds_tools(service: MemoryService) -> Sequence[ServedTool]:
    """Offered where the store can be written to."""
    return _TOOLS if service.writable else ()


_WRITES: Final = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_WHERE: Final[Schema] = {
    "type": "string",
    "enum": ["everywhere", "project"],
    "description": "Whether it holds everywhere (default) or in the configured project only.",
}
_KEY: Final[Schema] = {**STRING, "description": "What it is about, a short stable handle. The same key replaces."}


def _of(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _choice(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _tool(handler: Handler, name: str, title: str, description: str, schema: Schema) -> ServedTool:
    definition = types.Tool(
        name=name,
        title=title,
        description=description,
        input_schema=schema,
        output_schema=WRITTEN,
        annotations=_WRITES,
    )
    return ServedTool(definition, handler, writes=True)


# --- handlers -----------------------------------------------------------------------------------------


async def _edit_block(call: Call) -> types.CallToolResult:
    given = call.given
    writer = Writer(where=given.get("where"))
    done = await call.service.kinds.blocks.edit(
        call.context, given["label"], _edit(given), given.get("if_version"), writer
    )
    block = done.record.working
    filled = f"; {len(block.value)} of {block.char_limit} characters" if block else ""
    return _answer(done.record, done.status, f"{_said(done)}{filled}.")


def _edit(given: dict[str, Any]) -> Edit:
    """The edit that the arguments ask for; raises `InvalidInput` for those that belong to another action."""
    for name, action in (("old", "replace"), ("char_limit", "set")):
        if name in given and given["action"] != action:
            raise InvalidInput.of(name, f"belongs to the action {action}, not to {given['action']}")
    match given["action"]:
        case "set":
            return SetValue(given["text"], given.get("char_limit"))
        case "append":
            return AppendLine(given["text"])
        case _:
            if "old" not in given:
                raise InvalidInput.of("old", "is required to replace something; give the text as it stands there")
            return ReplaceText(given["old"], given["text"])


async def _record_rule(call: Call) -> types.CallToolResult:
    given = call.given
    rule = Rule(
        condition=given["condition"],
        steps=tuple(given["steps"]),
        priority=given.get("priority", 0),
        success_criteria=given.get("success_criteria"),
    )
    writer = Writer(where=given.get("where"))
    done = await call.service.kinds.rules.record(call.context, given["key"], rule, given.get("induced", False), writer)
    return _recorded(done)


async def _report_outcome(call: Call) -> types.CallToolResult:
    worked = call.given["outcome"] == "worked"
    outcome = await call.service.kinds.rules.report(call.context, call.given["id"], succeeded=worked)
    rule = outcome.record.rule
    said = "Counted" if outcome.counted else "This conversation has counted a success already"
    if rule is not None:
        said += f": {echo(outcome.record.key)} worked {rule.success_count} times and failed {rule.failure_count}."
    if outcome.promoted:
        said += " It has proven itself and is shown from now on."
    return _answer(outcome.record, "replaced" if outcome.counted else "unchanged", said)


async def _record_episode(call: Call) -> types.CallToolResult:
    given = call.given
    span = Span(given["started_at"], given.get("ended_at"))
    writer = Writer(where=given.get("where"))
    return _recorded(await call.service.kinds.notes.episode(call.context, given["key"], given["summary"], span, writer))


async def _record_insight(call: Call) -> types.CallToolResult:
    given = call.given
    writer = Writer(where=given.get("where"))
    return _recorded(
        await call.service.kinds.insights.record(call.context, given["key"], given["fact"], given["cites"], writer)
    )


async def _vote_insight(call: Call) -> types.CallToolResult:
    voted = await call.service.kinds.insights.vote(
        call.context, call.given["id"], 1 if call.given["vote"] == "up" else -1
    )
    salience = voted.insight.salience if voted.insight else 0
    said = f"Voted: {echo(voted.key)} has salience {salience}."
    if voted.archived_at is not None:
        said += " It is shown to nobody any more."
    return _answer(voted, "replaced", said)


async def _record_note(call: Call) -> types.CallToolResult:
    given = call.given
    writer = Writer(where=given.get("where"))
    return _recorded(
        await call.service.kinds.notes.note(call.context, given["key"], given["fact"], given["audience"], writer)
    )


def _recorded(done: Remembered) -> types.CallToolResult:
    return _answer(done.record, done.status, f"{_said(done)}.")


def _said(done: Remembered) -> str:
    record = done.record
    said = (
        f"{done.status.capitalize()} {echo(record.key)} at {record.scope}, version {record.version}, "
        f"id {visible_line(record.id)}"
    )
    before = done.previous
    if before is not None and before.origin.author == "human" and record.origin.author == "agent":
        said += "; what it replaced was stated by a person and is now your note: tell the user"
    if record.status == "quarantined":
        said += "; it waits for a person's review and is shown to nobody until then"
    return said


def _answer(record: MemoryRecord, status: str, said: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=text(said), structured_content={"status": status, "record": record.model_dump(mode="json")}
    )


# --- what is published --------------------------------------------------------------------------------


_TOOLS: Final[Sequence[ServedTool]] = tuple(
    _tool(*parts)
    for parts in (
        (
            _edit_block,
            "edit_block",
            "Edit a working block",
            "Change a working block: a named slot of a few lines that is shown in every memory block, such as the "
            "current plan. Several clients may append at once. It is refused, never cut, when it passes its limit.",
            arguments(
                {
                    "label": _of(STRING, "The block's name, such as plan."),
                    "action": _of(
                        _choice("set", "append", "replace"),
                        "set the whole value, append one line, or replace a piece that stands there once.",
                    ),
                    "text": _of(STRING, "The value, the line, or what takes the piece's place."),
                    "old": _of(STRING, "With replace: the piece, as it stands there."),
                    "char_limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MAX_CHAR_LIMIT,
                        "description": f"With set: the block's limit; {DEFAULT_CHAR_LIMIT} for a new one.",
                    },
                    "if_version": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "Only over this version; 0: only when there is none.",
                    },
                    "where": _WHERE,
                },
                ("label", "action", "text"),
            ),
        ),
        (
            _record_rule,
            "record_rule",
            "Record a rule",
            "Record how something is to be done whenever a condition holds: ordered steps, which may hold {variables}. "
            "Report with report_outcome how following it went.",
            arguments(
                {
                    "key": _KEY,
                    "condition": _of(STRING, "When it applies, without the word when."),
                    "steps": _of(array(STRING), f"1 to {MAX_STEPS} steps, one line each."),
                    "priority": {
                        "type": "integer",
                        "minimum": -MAX_PRIORITY,
                        "maximum": MAX_PRIORITY,
                        "description": "Of two rules that apply the higher goes first; 0 if absent.",
                    },
                    "success_criteria": _of(STRING, "How to tell that it worked."),
                    "induced": _of(
                        BOOLEAN, "True when you worked it out from how something went: it then has to prove itself."
                    ),
                    "where": _WHERE,
                },
                ("key", "condition", "steps"),
            ),
        ),
        (
            _report_outcome,
            "report_outcome",
            "Report how a rule worked",
            "Say whether following a rule worked, once you know. A conversation counts one success for a rule; enough "
            "of them let a rule that you worked out be shown without review.",
            arguments(
                {"id": _of(ID, "The rule's id."), "outcome": _of(_choice("worked", "failed"), "Whether it did.")},
                ("id", "outcome"),
            ),
        ),
        (
            _record_episode,
            "record_episode",
            "Record an episode",
            "Record one line about something that took place, with its time, such as a migration or an "
            "incident. What is true from then on belongs into remember.",
            arguments(
                {
                    "key": _KEY,
                    "summary": _of(STRING, "What happened, in one line."),
                    "started_at": _of(STRING, "When it began, ISO 8601 with a zone."),
                    "ended_at": _of(STRING, "When it ended; leave it out while it goes on."),
                    "where": _WHERE,
                },
                ("key", "summary", "started_at"),
            ),
        ),
        (
            _record_insight,
            "record_insight",
            "Record an insight",
            "Record what you infer from several memories, naming them. It is shown below them, and waits for a "
            "person's review first where the operator has not said otherwise.",
            arguments(
                {
                    "key": _KEY,
                    "fact": _of(STRING, "The inference, in one line."),
                    "cites": _of(array(ID), f"Ids of the 1 to {MAX_CITES} memories that it rests on."),
                    "where": _WHERE,
                },
                ("key", "fact", "cites"),
            ),
        ),
        (
            _vote_insight,
            "vote_insight",
            "Vote on an insight",
            "Vote an insight up when it proved right and down when it did not; when its votes are used "
            "up it is shown to nobody.",
            arguments(
                {"id": _of(ID, "The insight's id."), "vote": _of(_choice("up", "down"), "Whether it proved right.")},
                ("id", "vote"),
            ),
        ),
        (
            _record_note,
            "record_note",
            "Record a note",
            "Record one line for this conversation only (session), or for the other agents that work for this person "
            "(shared). What is lasting about the person belongs into remember.",
            arguments(
                {
                    "key": _KEY,
                    "fact": _of(STRING, "The note, in one line."),
                    "audience": _of(_choice(*get_args(Audience)), "Whom it is for."),
                    "where": _WHERE,
                },
                ("key", "fact", "audience"),
            ),
        ),
    )
)
