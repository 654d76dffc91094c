"""The toolset `search`: `search_memories` with every option, and `memory_history`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import mcp_types as types

from mcp_memory_server.block import harmless_key, harmless_scope, harmless_text
from mcp_memory_server.providers.base import Hit
from mcp_memory_server.recall import MIN_TOKENS
from mcp_memory_server.recall.budget import excerpt, largest
from mcp_memory_server.records import KINDS, OWNERS, MemoryRecord
from mcp_memory_server.server.schemas import BOOLEAN, HISTORY, HITS, STRING, Schema, arguments, array
from mcp_memory_server.service import History, MemoryService, SearchOptions
from mcp_memory_server.service.offered import cut_text
from mcp_memory_server.service.why import reasons_of_hits
from mcp_memory_server.service.wiring import MAX_MEMORIES_CEILING

from .served import ID, Call, ServedTool, text

_READS: Final = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def search_tools(service: MemoryService) -> Sequence[ServedTool]:
    return (ServedTool(_SEARCH, _search, writes=False), ServedTool(_HISTORY, _history, writes=False))


def _flag(description: str) -> Schema:
    return {**BOOLEAN, "description": description}


def _choices(values: Sequence[str], description: str) -> Schema:
    return {**array({"type": "string", "enum": list(values)}), "description": description}


_SEARCH: Final = types.Tool(
    name="search_memories",
    title="Search memories",
    description=(
        "Search what is remembered with filters, and see why each memory was found. Use recall_digest for what "
        "applies to a task; use this to look something up by tag, kind or time, in the past, or among replaced facts. "
        "Every scope's answer to a key comes. Without a query, all that the filters let through."
    ),
    input_schema=arguments(
        {
            "query": {**STRING, "description": "A question or topic in plain words."},
            "top_k": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_MEMORIES_CEILING,
                "description": "How many keys at most; 10 if absent.",
            },
            "max_tokens": {"type": "integer", "minimum": MIN_TOKENS, "description": "Ceiling on the text."},
            "tags": {**array(STRING), "description": "Only those with all of these tags."},
            "since": {**STRING, "description": "Only those written at this time or later; ISO 8601 with a zone."},
            "until": {**STRING, "description": "Only those written before this time."},
            "kinds": _choices(KINDS, "Only these kinds."),
            "owner": _choices(OWNERS, "Only these owners."),
            "as_of": {**STRING, "description": "What was true then instead of now."},
            "known_at": {**STRING, "description": "What was remembered then."},
            "include_superseded": _flag("Also facts that were replaced or ended; not with as_of."),
            "include_quarantined": _flag("Also what waits for review: do not rely on it."),
            "include_archived": _flag("Also what maintenance set aside."),
            "expand": _flag("Then what else is known about the people and things in the memories found."),
        }
    ),
    output_schema=HITS,
    annotations=_READS,
)

_HISTORY: Final = types.Tool(
    name="memory_history",
    title="History of a memory",
    description=(
        "Every version of one memory with when it was written and when it held, and the memories under other keys that "
        "it took the place of or that took its own. Use it when the user asks what they said before, or when a fact "
        "changed. Give exactly one of id and key."
    ),
    input_schema=arguments(
        {
            "id": {**ID, "description": "The memory's id, as recall_digest shows it."},
            "key": {**STRING, "description": "The memory's key: its answer at the narrowest scope."},
        }
    ),
    output_schema=HISTORY,
    annotations=_READS,
)


async def _search(call: Call) -> types.CallToolResult:
    given = dict(call.given)
    budget = call.service.budget(given.pop("max_tokens", None))
    options = SearchOptions(**given)
    hits = await call.service.search(call.context, options)
    count = len(hits) if budget is None else largest(len(hits), lambda first: budget.holds(_hits_text(hits, first)))
    shown, told = hits[:count], _hits_text(hits, count)
    reasons = reasons_of_hits([hit.record for hit in shown], options.query or "")
    found = [_hit_json(hit, why) for hit, why in zip(shown, reasons, strict=True)]
    if budget and hits and not shown:
        told, chars = excerpt(hits[0].record, len(hits) - 1, budget.holds)
        found = [_cut_json(hits[0], chars)]
    answer = {"hits": found} | ({"omitted": len(hits) - len(found)} if budget else {})
    return types.CallToolResult(content=text(told), structured_content=answer)


def _hits_text(hits: Sequence[Hit], shown: int) -> str:
    """The first so many hits as text, and how many there are besides."""
    missing = f" The first {shown} of them fit:" if shown < len(hits) else ""
    head = f"{len(hits)} found.{missing}" if hits else "Nothing was found."
    return "\n".join([head, *(_line(hit.record) for hit in hits[:shown])])


def _cut_json(hit: Hit, chars: int) -> dict[str, Any]:
    """A hit of which the text shows the beginning only."""
    parts = {"id", "key", "scope", "origin", "version", "updated_at"}
    record = hit.record.model_dump(mode="json", include=parts) | {"text": cut_text(hit.record.text, chars), "cut": True}
    return {"record": record, "score": round(hit.score, 4), "signals": {}, "why": {}}


def _hit_json(hit: Hit, why: dict[str, Any]) -> dict[str, Any]:
    return {
        "record": hit.record.model_dump(mode="json"),
        "score": round(hit.score, 4),
        "signals": {name: round(share, 4) for name, share in hit.signals.items()},
        "why": why,
    }


async def _history(call: Call) -> types.CallToolResult:
    story = await call.service.history(call.context, **call.given)
    return types.CallToolResult(content=text(_told(story)), structured_content=history_json(story))


def history_json(story: History) -> dict[str, Any]:
    """A record's history as structured content, versions oldest first."""
    parts = {"versions": story.versions, "supersedes": story.supersedes, "superseded_by": story.superseded_by}
    return {name: [record.model_dump(mode="json") for record in records] for name, records in parts.items()}


def _told(story: History) -> str:
    current = story.versions[-1]
    lines = [f"{len(story.versions)} versions, oldest first." if len(story.versions) > 1 else "One version."]
    lines += [f"{version.version}. {_line(version)}" for version in story.versions]
    lines += [f"It took the place of {_line(record)}" for record in story.supersedes]
    lines += [f"Its place was taken by {_line(record)}" for record in story.superseded_by]
    if current.status == "quarantined":
        lines.append("It waits for a person's review.")
    return "\n".join(lines)


def _line(record: MemoryRecord) -> str:
    """A record as data on one line: what it says, when it was written, and what is out of the ordinary about it."""
    notes = [f"written {record.updated_at}"]
    if record.valid_from is not None:
        notes.append(f"from {record.valid_from}")
    if record.valid_to is not None:
        notes.append(f"until {record.valid_to}")
    if record.superseded_by is not None:
        notes.append("replaced" if record.superseded_by == record.id else "superseded")
    if record.status != "active":
        notes.append(record.status)
    if record.archived_at is not None:
        notes.append("archived")
    fact = f"[{harmless_scope(record.scope)}] {harmless_key(record.key)}: {harmless_text(record.text)}"
    return f"{fact} ({', '.join(notes)})"
