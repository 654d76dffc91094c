"""The tools: what they publish, and handlers that call one use case each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import mcp_types as types

from mcp_memory_server.errors import ConfigurationError, InvalidInput, echo
from mcp_memory_server.server.arguments import read_arguments
from mcp_memory_server.server.failures import as_tool_result, tool_error
from mcp_memory_server.service import MemoryService

from .forget import forget_tool
from .kinds import kinds_tools
from .knowledge import knowledge_tools
from .recall import digest_json, recall_tool
from .remember import remember_tool
from .review import review_tools
from .schema_check import check_tool
from .search import search_tools
from .served import Call, Result, ServedTool

__all__ = ["TOOLSETS", "Call", "Result", "ServedTool", "call_tool", "digest_json", "served_tools"]

TOOLSETS: Final[dict[str, Callable[[MemoryService], Sequence[ServedTool]]]] = {
    "search": search_tools,
    "kinds": kinds_tools,
    "review": review_tools,
    "knowledge": knowledge_tools,
}
"""Further tools by the name under which an operator switches them on; each gives what the provider allows."""


def served_tools(service: MemoryService, project: str | None, toolsets: Iterable[str] = ()) -> dict[str, ServedTool]:
    """The tools that the provider's capabilities allow, by name, in the order of the list.

    Raises:
        ConfigurationError: there is no toolset of one of these names.
    """
    tools = [recall_tool(service), forget_tool(service), check_tool()]
    if service.writable:
        tools.insert(0, remember_tool(service, project))
    for name in toolsets:
        if name not in TOOLSETS:
            raise ConfigurationError(f"There is no toolset {echo(name)}. There are: {', '.join(TOOLSETS)}.")
        tools.extend(TOOLSETS[name](service))
    return {tool.definition.name: tool for tool in tools}


async def call_tool(
    tools: dict[str, ServedTool],
    params: types.CallToolRequestParams,
    service: MemoryService,
    begin: Callable[[dict[str, Any]], Call],
) -> Result:
    """Check the arguments against the published schema and run the tool; `begin` makes the call of what was read."""
    tool = tools.get(params.name)
    if tool is None:
        return tool_error(f"There is no tool {echo(params.name)}. There are: {', '.join(tools)}.", "not_found")

    async def run() -> Result:
        given, problems = read_arguments(tool.definition.input_schema, params.arguments)
        if problems:  # name at once what the use case would find in the rest
            raise InvalidInput(*problems, *tool.further_problems(service, given))
        return await tool.handler(begin(given))

    return await as_tool_result(params.name, run)
