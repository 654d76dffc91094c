"""What the tools publish: schemas that every client can take, and few tokens."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import jsonschema
import mcp_types as types
import pytest

from mcp_memory_server.server import INSTRUCTIONS
from mcp_memory_server.server.tools import TOOLSETS
from mcp_memory_server.service import MemoryService

from .conftest import Connect

PROJECTS = pytest.mark.parametrize("project", [None, "shop"])

FORBIDDEN = {"$ref", "$defs", "definitions", "anyOf", "oneOf", "allOf", "not", "if", "nullable", "const"}


async def _tools(
    connect: Connect, service: MemoryService, project: str | None, toolsets: Sequence[str] = ()
) -> list[types.Tool]:
    async with connect(service, project=project, toolsets=toolsets) as client:
        return (await client.list_tools()).tools


def _subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from _subschemas(inner)
    if "items" in schema:
        yield from _subschemas(schema["items"])


@PROJECTS
async def test_every_subschema_has_one_plain_type_and_nothing_that_clients_reject(
    connect: Connect, service: MemoryService, project: str | None
) -> None:
    for tool in await _tools(connect, service, project, tuple(TOOLSETS)):
        for schema in (tool.input_schema, tool.output_schema or {}):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            for subschema in _subschemas(schema):
                assert subschema["type"] in {"object", "array", "string", "integer", "number", "boolean"}
                assert ("items" in subschema) == (subschema["type"] == "array")
                assert not FORBIDDEN & subschema.keys()


@PROJECTS
async def test_unknown_arguments_are_excluded_by_the_schema_and_every_argument_is_described(
    connect: Connect, service: MemoryService, project: str | None
) -> None:
    for tool in await _tools(connect, service, project, tuple(TOOLSETS)):
        assert tool.input_schema["additionalProperties"] is False
        assert all(argument["description"] for argument in tool.input_schema["properties"].values())


@PROJECTS
async def test_every_tool_has_a_title_a_description_and_all_four_hints(
    connect: Connect, service: MemoryService, project: str | None
) -> None:
    hints = {tool.name: tool.annotations for tool in await _tools(connect, service, project)}
    told = {
        name: (hint.read_only_hint, hint.destructive_hint, hint.idempotent_hint, hint.open_world_hint)
        for name, hint in hints.items()
        if hint is not None
    }
    assert told == {
        "remember": (False, False, True, False),
        "recall_digest": (True, False, True, False),
        "forget": (False, True, True, False),
        "check_tool_schema": (True, False, True, False),
    }
    for tool in await _tools(connect, service, project, tuple(TOOLSETS)):
        assert tool.annotations is not None
        assert None not in tool.annotations.model_dump(exclude={"title"}).values()
        assert re.fullmatch("[a-z_]{1,40}", tool.name)
        assert tool.title
        assert len(tool.description or "") > 100


@PROJECTS
async def test_the_tools_take_less_than_9_kb_of_json(
    connect: Connect, service: MemoryService, project: str | None
) -> None:
    tools = [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True)
        for tool in await _tools(connect, service, project)
    ]
    assert len(json.dumps(tools).encode()) < 9_000


@pytest.mark.parametrize(
    ("tool", "arguments", "required"),
    [
        (
            "remember",
            ["key", "fact", "tags", "valid_from", "valid_to", "if_version", "digest_id"],
            ["key", "fact"],
        ),
        (
            "recall_digest",
            [
                *("query", "max_memories", "max_tokens", "mode", "objective", "ids", "seen", "conversation_id"),
                *("as_of", "known_at", "turn_id", "digest_id"),
            ],
            [],
        ),
        ("forget", ["id", "key"], []),
        ("check_tool_schema", ["schema", "tools"], []),
    ],
)
async def test_the_arguments_are_those_of_the_specification(
    connect: Connect, service: MemoryService, tool: str, arguments: list[str], required: list[str]
) -> None:
    (schema,) = [found.input_schema for found in await _tools(connect, service, None) if found.name == tool]
    assert (list(schema["properties"]), schema["required"]) == (arguments, required)


async def test_the_instructions_are_short_and_say_when_to_call_what(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        assert client.instructions == INSTRUCTIONS
    assert len(INSTRUCTIONS) < 500
    for word in ("recall_digest", "remember", "forget", "Never store secrets"):
        assert word in INSTRUCTIONS


async def test_the_server_says_who_it_is(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.title) == ("mcp-memory-server", "Memory")
        assert client.server_info.version
