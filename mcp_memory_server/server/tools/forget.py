"""The tool `forget`."""

from __future__ import annotations

from typing import Any

import mcp_types as types

from mcp_memory_server.server.schemas import FORGOTTEN, arguments
from mcp_memory_server.service import MemoryService

from .served import ID, Call, ServedTool, text


def forget_tool(service: MemoryService) -> ServedTool:
    """Always offered: whatever a store cannot do, it can forget."""
    return ServedTool(_definition(service.writable), _forget, writes=True)


def _definition(writable: bool) -> types.Tool:
    correct = "To correct a fact, call remember with its key instead. " if writable else ""
    return types.Tool(
        name="forget",
        title="Forget a fact",
        description=(
            "Erase one remembered fact for good, with its history; there is no undo. Use it when the user asks for "
            f"something to be forgotten. {correct}"
            "Give exactly one of id and key."
        ),
        input_schema=arguments(
            {
                "id": {**ID, "description": "The fact's id, as recall_digest shows it."},
                "key": {"type": "string", "description": "The fact's key."},
            }
        ),
        output_schema=FORGOTTEN,
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    )


async def _forget(call: Call) -> types.CallToolResult:
    gone = await call.service.forget(call.context, **call.given)
    structured: dict[str, Any] = {"forgotten": True, "id": gone.id, "key": gone.key, "erasure": gone.erasure}
    if gone.still_at:
        structured["still_at"] = list(gone.still_at)
    if gone.cited_by:
        structured["cited_by"] = list(gone.cited_by)
    return types.CallToolResult(content=text(gone.told()), structured_content=structured)
