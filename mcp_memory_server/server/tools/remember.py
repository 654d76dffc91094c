"""The tool `remember`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types

from mcp_memory_server.digest import Override
from mcp_memory_server.errors import Problem, echo
from mcp_memory_server.records import MAX_KEY_CHARS, MAX_TAGS, visible_line
from mcp_memory_server.server.schemas import REMEMBERED, Schema, arguments, array
from mcp_memory_server.service import MemoryService, Remembered
from mcp_memory_server.service.remember import problems_of

from .served import ID, Call, ServedTool, text


def remember_tool(service: MemoryService, project: str | None) -> ServedTool:
    """Offered where the store can be written to; with a project configured it gains `where`."""
    return ServedTool(_definition(service, project), _remember, writes=True, further_problems=_problems)


def _definition(service: MemoryService, project: str | None) -> types.Tool:
    properties: dict[str, Schema] = {
        "key": {
            "type": "string",
            "description": "What the fact is about, a short stable handle such as fiscal-year. "
            f"At most {MAX_KEY_CHARS} characters, no [ ] or :. The same key replaces.",
        },
        "fact": {
            "type": "string",
            "description": f"The fact in one line of at most {service.limits.max_fact_chars} characters.",
        },
        "tags": {**array({"type": "string"}), "description": f"At most {MAX_TAGS} short labels."},
        "valid_from": {"type": "string", "description": "When it begins to be true, ISO 8601 with a zone."},
        "valid_to": {"type": "string", "description": "When it stops being true."},
        "if_version": {
            "type": "integer",
            "minimum": 0,
            "description": "Write only over this version of the key; 0: only when there is none.",
        },
        "digest_id": {**ID, "description": "The digest that this was concluded from."},
    }
    if project is not None:
        properties["where"] = {
            "type": "string",
            "enum": ["everywhere", "project"],
            "description": "Whether it holds wherever the user works (default) or in this project only.",
        }
    return types.Tool(
        name="remember",
        title="Remember a fact",
        description=(
            "Record one lasting fact about the user or their work, for later conversations. Use it when they state "
            "a preference, a decision or a circumstance that will still matter, or correct one: writing a key again "
            "replaces its fact and keeps the old one as history. It is stored as your note, visible to the user. "
            "Never record passwords, keys or other secrets."
        ),
        input_schema=arguments(properties, ("key", "fact")),
        output_schema=REMEMBERED,
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


async def _remember(call: Call) -> types.CallToolResult:
    given = dict(call.given)
    done = await call.service.remember(call.context, given.pop("key"), given.pop("fact"), **given)
    structured: dict[str, Any] = {
        "status": done.status,
        "record": done.record.model_dump(mode="json"),
        "overrides": [override_json(value) for value in done.overrides],
        "similar_keys": list(done.similar_keys),
    }
    if done.previous is not None:
        structured["previous"] = done.previous.model_dump(mode="json")
    return types.CallToolResult(content=text(_remembered_text(done)), structured_content=structured)


def _problems(service: MemoryService, given: Mapping[str, Any]) -> Sequence[Problem]:
    return problems_of(given, service.limits.max_fact_chars)


def override_json(value: Override) -> dict[str, str]:
    return {"scope": value.scope, "text": value.text, "author": value.author}


def _remembered_text(done: Remembered) -> str:
    record = done.record
    if record.status == "quarantined":
        again = " already" if done.status == "unchanged" else ""
        return (
            f"Held for review, not remembered yet: {echo(record.key)} waits{again} at {record.scope}, id "
            f"{visible_line(record.id)} ({record.held_because}). No model is shown it until a person approves it with "
            "`mcp-memory-server review`. What was remembered under this key before still holds. Tell the user."
        )
    lines = [
        f"{done.status.capitalize()} {echo(record.key)} at {record.scope}, version {record.version}, "
        f"id {visible_line(record.id)}."
    ]
    if done.previous is not None:
        lines.append("The fact it replaced is kept in its history.")
        if done.previous.origin.author == "human" and record.origin.author == "agent":
            lines.append("It was stated by a person and is now your note: tell the user.")
    if done.validity_note is not None:
        lines.append(done.validity_note)
    if done.outranked_by:
        scopes = ", ".join(value.scope for value in done.outranked_by)
        lines.append(f"It does not take effect here: the key is answered more narrowly at {scopes}. Tell the user.")
    if done.overrides:
        scopes = ", ".join(value.scope for value in done.overrides)
        lines.append(f"It overrides a wider value at {scopes}: tell the user that their setting differs.")
    if done.similar_keys:
        keys = ", ".join(echo(key) for key in done.similar_keys)
        lines.append(f"These keys look like the same question: {keys}. If one is, write that key and forget this one.")
    return " ".join(lines)
