"""The tool `recall_digest`."""

from __future__ import annotations

from typing import Any, Final

import mcp_types as types

from mcp_memory_server.derived import Derived
from mcp_memory_server.digest import DigestEntry
from mcp_memory_server.server.schemas import DIGEST, arguments
from mcp_memory_server.service import MemoryService, Offered
from mcp_memory_server.service.wiring import MAX_MEMORIES_CEILING

from .served import ID, Call, ServedTool, text


def recall_tool(service: MemoryService) -> ServedTool:
    return ServedTool(_definition(service), _recall, writes=False)


def _definition(service: MemoryService) -> types.Tool:
    return types.Tool(
        name="recall_digest",
        title="Recall what is remembered",
        description=(
            "What is remembered about the user and their organisation, as a block of attributed facts. Call it at the "
            "start of a task and whenever the user refers to something from before. With a query it returns the facts "
            "that answer it best, pinned ones always; without one the most specific and newest."
        ),
        input_schema=arguments(
            {
                "query": {"type": "string", "description": "A question or topic in plain words."},
                "max_memories": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_MEMORIES_CEILING,
                    "description": f"How many facts at most; {service.limits.max_memories} if absent.",
                },
                "as_of": {"type": "string", "description": "What was true then instead of now; ISO 8601 with a zone."},
                "known_at": {"type": "string", "description": "What was remembered then, whatever came after."},
                "turn_id": {**ID, "description": "Your id of this turn: asking again with it repeats the answer."},
                "digest_id": {**ID, "description": "Repeat an earlier digest as it was shown."},
            }
        ),
        output_schema=DIGEST,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


async def _recall(call: Call) -> types.CallToolResult:
    offered = await call.service.offer(call.context, **call.given)
    return types.CallToolResult(content=text(call.service.block(offered)), structured_content=digest_json(offered))


def _made_entry_json(entry: DigestEntry) -> dict[str, Any]:
    return entry.model_dump(mode="json")


_entry_json: Final = Derived[DigestEntry, dict[str, Any]](_made_entry_json)


def digest_json(offered: Offered) -> dict[str, Any]:
    """A digest as structured content, each entry with why it is there, unless it is a replay.

    `erased` only where something was; `withheld` for administrators only.
    """
    digest = offered.digest
    entries = [_entry_json(entry) for entry in digest.entries]
    if why := offered.why():
        entries = [shown | {"why": why[entry.id]} for entry, shown in zip(digest.entries, entries, strict=True)]
    shown = digest.model_copy(update={"entries": ()}).model_dump(mode="json")
    shown |= {"entries": entries, "journaled": offered.journaled}
    if offered.withheld is not None:
        shown["withheld"] = offered.withheld
    return shown | {"erased": offered.erased} if offered.erased else shown
