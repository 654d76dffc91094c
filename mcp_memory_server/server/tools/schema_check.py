"""The tool `check_tool_schema`: a host asks before it lets a third party's schemas near its validator."""

from __future__ import annotations

import json
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types as types

from mcp_memory_server.errors import InvalidInput, echo
from mcp_memory_server.regexsafety import Witness, check_schema
from mcp_memory_server.regexsafety.listing import ListingReport, PlacedFinding, check_tools
from mcp_memory_server.regexsafety.report import verdict_label
from mcp_memory_server.server.schemas import SCHEMA_CHECK, arguments, array

from .served import Call, Handler, ServedTool

_MAX_JSON_CHARS: Final = 1_000_000
_MAX_FINDINGS: Final = 100
_MAX_NAMED: Final = 10
_MAX_PATTERN_CHARS: Final = 200
_MAX_TEXT_CHARS: Final = 1_000
_MAX_ATTACK_CHARS: Final = 2_000
_MAX_STEPS: Final = 2_000_000
"""For all schemas of a call: a few seconds at most."""


def check_tool() -> ServedTool:
    return ServedTool(_definition(), _checker(), writes=False)


def _definition() -> types.Tool:
    return types.Tool(
        name="check_tool_schema",
        title="Check tool schemas for regex denial of service",
        description=(
            "Find regular expressions in JSON Schemas that can freeze whoever validates with them. Call it before "
            "tools of a server that nobody vouches for are registered. It judges without running any pattern; each "
            "finding says where, how bad and why. Give exactly one of schema and tools."
        ),
        input_schema=arguments(
            {
                "schema": {"type": "object", "description": "One JSON Schema, of any draft."},
                "tools": {
                    **array({"type": "object"}),
                    "description": "Tools as tools/list returns them, with inputSchema and outputSchema.",
                },
            }
        ),
        output_schema=SCHEMA_CHECK,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def _checker() -> Handler:
    """The tool's handler for one server. It checks in a thread, one call at a time, so that memories stay quick."""
    one_at_a_time = anyio.CapacityLimiter(1)

    async def check(call: Call) -> types.CallToolResult:
        # A call that is cancelled waits all the same: threads left to themselves would no longer be one at a time.
        report = await anyio.to_thread.run_sync(_check, call.given, limiter=one_at_a_time)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=_summary(report))], structured_content=_document(report)
        )

    return check


def _check(given: dict[str, Any]) -> ListingReport:
    if len(given) != 1:
        raise InvalidInput.of("schema, tools", "are alternatives: give exactly one of them")
    ((name, value),) = given.items()
    try:
        size = len(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        raise InvalidInput.of(name, "is nested too deeply for anyone's validator: do not use it") from None
    if size > _MAX_JSON_CHARS:
        remedy = "check fewer tools at a time" if name == "tools" else "no tool needs such a schema: do not use it"
        raise InvalidInput.of(name, f"takes {size:,} characters of JSON and the limit is {_MAX_JSON_CHARS:,}; {remedy}")
    if name == "tools":
        return check_tools(value, most_steps=_MAX_STEPS)
    return ListingReport(tuple(PlacedFinding(finding) for finding in check_schema(value)))


def _document(report: ListingReport) -> dict[str, Any]:
    unsafe = report.unsafe
    document: dict[str, Any] = {
        "safe": not unsafe,
        "checked": report.checked,
        "findings": [_finding(placed) for placed in unsafe[:_MAX_FINDINGS]],
    }
    return document | {"omitted": len(unsafe) - _MAX_FINDINGS} if len(unsafe) > _MAX_FINDINGS else document


def _finding(placed: PlacedFinding) -> dict[str, Any]:
    finding = placed.finding
    shown: dict[str, Any] = {
        "pointer": _sendable(finding.pointer, _MAX_TEXT_CHARS),
        "verdict": finding.verdict,
        "pattern": _sendable(finding.pattern, _MAX_PATTERN_CHARS),
        "reason": _sendable(finding.reason, _MAX_TEXT_CHARS),
    }
    if placed.tool is not None:
        shown["tool"] = _sendable(placed.tool, _MAX_PATTERN_CHARS)
    if placed.place is not None:
        shown["place"] = placed.place
    if finding.degree is not None:
        shown["degree"] = finding.degree
    if finding.witness is not None:
        attack = _attack(finding.witness)
        if len(json.dumps(attack)) <= _MAX_ATTACK_CHARS:
            shown["attack"] = attack
    return shown


def _attack(witness: Witness) -> dict[str, object]:
    pumps = tuple((_sendable(fixed), _sendable(pump)) for fixed, pump in witness.pumps)
    return Witness(pumps, _sendable(witness.suffix)).as_json()


def _sendable(text: str, most: int | None = None) -> str:
    """At most so many characters, with halves of surrogate pairs, which no message can carry, as their escapes."""
    if most is not None and len(text) > most:
        text = text[: most - 1] + "…"
    return text.encode("utf-8", "backslashreplace").decode()


def _summary(report: ListingReport) -> str:
    tools = "" if report.tools is None else f", {report.tools} tools"
    counted = f"{report.checked} patterns{tools}"
    unsafe = report.unsafe
    if not unsafe:
        return f"Safe: none of the patterns can freeze a validator ({counted})."
    lines = [f"Not safe: {len(unsafe)} findings ({counted}).", *map(_line, unsafe[:_MAX_NAMED])]
    if len(unsafe) > _MAX_NAMED:
        lines.append(f"- and {len(unsafe) - _MAX_NAMED} more")
    return "\n".join(
        [*lines, "Do not register these schemas as they are: leave the tools out, or take the patterns out."]
    )


def _line(placed: PlacedFinding) -> str:
    """One finding. What it quotes is a third party's, so it is cut and made harmless."""
    finding = placed.finding
    tool = None if placed.tool is None else echo(placed.tool)
    where = " ".join(part for part in (tool, placed.place, echo(finding.pointer)) if part)
    seconds = finding.judged.length_for_one_second if finding.judged else None
    cost = "" if seconds is None else f", {seconds:,} characters cost a second"
    return f"- {where}: {verdict_label(finding.verdict, finding.degree)}{cost}"
