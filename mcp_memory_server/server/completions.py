"""Completing the variables of resource templates and the arguments of prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import mcp_types as types

from mcp_memory_server.identity import RequestContext
from mcp_memory_server.service import MemoryService
from mcp_memory_server.service.wiring import MAX_MEMORIES_CEILING

_MOST: Final = 100  # the protocol's limit


async def complete(
    service: MemoryService, context: RequestContext, argument: types.CompletionArgument
) -> types.Completion:
    """Values that continue what was typed: the caller's own scopes, the ids and keys that they see.

    They are given as they are; a client that puts one into a URI percent-encodes it there.
    """
    candidates: Sequence[str] = ()
    if argument.name == "scope":
        candidates = await service.scopes(context)
    elif argument.name in ("id", "query"):
        entries = (await service.peek(context, MAX_MEMORIES_CEILING)).entries
        candidates = [entry.id if argument.name == "id" else entry.key for entry in entries]
    elif argument.name == "label":
        candidates = [block.key for block in await service.kinds.blocks.all(context)]
    typed = argument.value.casefold()
    matching = [value for value in candidates if value.casefold().startswith(typed)]
    return types.Completion(values=matching[:_MOST], total=len(matching), has_more=len(matching) > _MOST)
