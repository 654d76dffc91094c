"""The tools: what they publish, and handlers that call one use case each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import mcp_types as types

from mcp_memory_server.digest import Override
from mcp_memory_server.errors import InvalidInput, Problem, echo
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.records import MAX_KEY_CHARS, MAX_TAGS, visible_line
from mcp_memory_server.service import MemoryService, Offered, Remembered
from mcp_memory_server.service.remember import problems_of
from mcp_memory_server.service.wiring import MAX_MEMORIES_CEILING

from .arguments import read_arguments
from .failures import as_tool_result, tool_error
from .schema_check import check_tool, schema_checker
from .schemas import DIGEST, FORGOTTEN, REMEMBERED, Schema, arguments, array

Handler = Callable[[MemoryService, RequestContext, dict[str, Any]], Awaitable[types.CallToolResult]]

_ID: Final = {"type": "string", "maxLength": 200}


@dataclass(frozen=True, slots=True)
class ServedTool:
    """A tool's definition and its handler. `writes` tells whether subscribers may have something to hear.

    `further_problems` looks at arguments of the right types for what the schema cannot say.
    """

    definition: types.Tool
    handler: Handler
    writes: bool
    further_problems: Callable[[MemoryService, Mapping[str, Any]], Sequence[Problem]] = lambda service, given: ()


def _text(text: str) -> list[types.ContentBlock]:
    return [types.TextContent(type="text", text=text)]


# --- remember -----------------------------------------------------------------------------------------


def _remember_tool(service: MemoryService, project: str | None) -> types.Tool:
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
        "digest_id": {**_ID, "description": "The digest that this was concluded from."},
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


async def _remember(service: MemoryService, context: RequestContext, given: dict[str, Any]) -> types.CallToolResult:
    done = await service.remember(context, given.pop("key"), given.pop("fact"), **given)
    structured: dict[str, Any] = {
        "status": done.status,
        "record": done.record.model_dump(mode="json"),
        "overrides": [_override(value) for value in done.overrides],
        "similar_keys": list(done.similar_keys),
    }
    if done.previous is not None:
        structured["previous"] = done.previous.model_dump(mode="json")
    return types.CallToolResult(content=_text(_remembered_text(done)), structured_content=structured)


def _remember_problems(service: MemoryService, given: Mapping[str, Any]) -> Sequence[Problem]:
    return problems_of(given, service.limits.max_fact_chars)


def _override(value: Override) -> dict[str, str]:
    return {"scope": value.scope, "text": value.text, "author": value.author}


def _remembered_text(done: Remembered) -> str:
    record = done.record
    lines = [
        f"{done.status.capitalize()} {echo(record.key)} at {record.scope}, version {record.version}, "
        f"id {visible_line(record.id)}."
    ]
    if done.previous is not None:
        lines.append("The fact it replaced is kept in its history.")
        if done.previous.origin.author == "human" and record.origin.author == "agent":
            lines.append("It was stated by a person and is now your note: tell the user.")
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


# --- recall_digest ------------------------------------------------------------------------------------


def _recall_tool(service: MemoryService) -> types.Tool:
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
                "turn_id": {**_ID, "description": "Your id of this turn: asking again with it repeats the answer."},
                "digest_id": {**_ID, "description": "Repeat an earlier digest as it was shown."},
            }
        ),
        output_schema=DIGEST,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


async def _recall(service: MemoryService, context: RequestContext, given: dict[str, Any]) -> types.CallToolResult:
    offered = await service.offer(context, **given)
    return types.CallToolResult(content=_text(service.block(offered)), structured_content=digest_json(offered))


def digest_json(offered: Offered) -> dict[str, Any]:
    """A digest as structured content; `erased` only where something was."""
    shown = offered.digest.model_dump(mode="json") | {"journaled": offered.journaled}
    return shown | {"erased": offered.erased} if offered.erased else shown


# --- forget -------------------------------------------------------------------------------------------


def _forget_tool(writable: bool) -> types.Tool:
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
                "id": {**_ID, "description": "The fact's id, as recall_digest shows it."},
                "key": {"type": "string", "description": "The fact's key."},
            }
        ),
        output_schema=FORGOTTEN,
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
        ),
    )


async def _forget(service: MemoryService, context: RequestContext, given: dict[str, Any]) -> types.CallToolResult:
    gone = await service.forget(context, **given)
    structured = {"forgotten": True, **{name: value for name, value in asdict(gone).items() if name != "scope"}}
    text = f"Forgot {echo(gone.key)} at {gone.scope}."
    if gone.erasure == "pending":
        text += " Another process still holds bytes of it; they are erased as soon as it lets go."
    if gone.still_at:
        structured["still_at"] = list(gone.still_at)
        text += f" The key is still held at {', '.join(gone.still_at)}."
    else:
        del structured["still_at"]
    return types.CallToolResult(content=_text(text), structured_content=structured)


# --- serving ------------------------------------------------------------------------------------------


def served_tools(service: MemoryService, project: str | None) -> dict[str, ServedTool]:
    """The tools that the provider's capabilities allow, by name, in the order of the list."""
    tools = [ServedTool(_recall_tool(service), _recall, writes=False)]
    if service.writable:
        tools.insert(
            0, ServedTool(_remember_tool(service, project), _remember, writes=True, further_problems=_remember_problems)
        )
    tools.append(ServedTool(_forget_tool(service.writable), _forget, writes=True))
    tools.append(ServedTool(check_tool(), schema_checker(), writes=False))
    return {tool.definition.name: tool for tool in tools}


async def call_tool(
    tools: dict[str, ServedTool],
    params: types.CallToolRequestParams,
    service: MemoryService,
    identify: Callable[[], RequestContext],
) -> types.CallToolResult:
    """Check the arguments against the published schema and run the tool."""
    tool = tools.get(params.name)
    if tool is None:
        return tool_error(f"There is no tool {echo(params.name)}. There are: {', '.join(_names(tools))}.", "not_found")

    async def run() -> types.CallToolResult:
        given, problems = read_arguments(tool.definition.input_schema, params.arguments)
        if problems:  # name at once what the use case would find in the rest
            raise InvalidInput(*problems, *tool.further_problems(service, given))
        return await tool.handler(service, identify(), given)

    return await as_tool_result(params.name, run)


def _names(tools: Iterable[str]) -> list[str]:
    return list(tools)
