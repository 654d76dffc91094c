"""What a tool is here: its definition, its handler, and the call that a handler answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import mcp_types as types

from mcp_memory_server.errors import Problem
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.policy import Action
from mcp_memory_server.server.identity import Ctx
from mcp_memory_server.service import MemoryService

ID: Final = {"type": "string", "maxLength": 200}
"""The schema of an argument that names something by its id."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: on whose behalf, with which arguments of the published types, in which request.

    `elevated` is the host's word that the person behind it may act as an administrator, where they are asked.
    """

    service: MemoryService
    context: RequestContext
    given: dict[str, Any]
    request: Ctx
    params: types.CallToolRequestParams
    elevated: bool = False


Result = types.CallToolResult | types.InputRequiredResult
"""The answer, or a question to the person that comes before it."""

Handler = Callable[[Call], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class ServedTool:
    """A tool's definition and its handler. `writes` tells whether subscribers may have something to hear.

    `further_problems` looks at arguments of the right types for what the schema cannot say.
    """

    definition: types.Tool
    handler: Handler
    writes: bool
    further_problems: Callable[[MemoryService, Mapping[str, Any]], Sequence[Problem]] = lambda service, given: ()

    @property
    def action(self) -> Action:
        """What a caller has to be allowed to do for the tool to be there for them."""
        return "write" if self.writes else "read"


def text(text: str) -> list[types.ContentBlock]:
    """The content of an answer in words."""
    return [types.TextContent(type="text", text=text)]
