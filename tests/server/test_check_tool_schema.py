"""check_tool_schema: what a host learns before it registers a third party's tools."""

import json
import threading
from typing import Any

import anyio
import anyio.from_thread
import jsonschema
import pytest

from mcp_memory_server.regexsafety import check_schema
from mcp_memory_server.server.tools import schema_check
from mcp_memory_server.service import MemoryService

from .answers import called, data_of, refused, text_of
from .conftest import Connect

EVIL = "^(a+)+$"
TOOLS: list[dict[str, Any]] = [
    {"name": "fine", "inputSchema": {"type": "object", "properties": {"id": {"pattern": "^[a-z]+$"}}}},
    {
        "name": "search",
        "inputSchema": {"type": "object", "properties": {"q": {"type": "string", "pattern": EVIL}}},
        "outputSchema": {"type": "object", "patternProperties": {"\\s+$": {"type": "string"}}},
    },
]


async def test_every_pattern_of_every_tool_is_judged_in_both_schemas(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        result = await client.call_tool("check_tool_schema", {"tools": TOOLS})
    answer = data_of(result)
    assert (answer["safe"], answer["checked"]) == (False, 3)
    exponential, polynomial = answer["findings"]
    assert exponential | {"reason": ""} == {
        "tool": "search",
        "place": "inputSchema",
        "pointer": "/properties/q/pattern",
        "verdict": "exponential",
        "pattern": EVIL,
        "reason": "",
        "attack": exponential["attack"],
    }
    assert "more than one way" in exponential["reason"]
    assert set(exponential["attack"]) == {"prefix", "pump", "suffix"}
    assert (polynomial["place"], polynomial["pointer"]) == ("outputSchema", "/patternProperties/\\s+$")
    assert (polynomial["verdict"], polynomial["degree"]) == ("polynomial", 2)
    assert text_of(result).splitlines()[0] == "Not safe: 2 findings (3 patterns, 2 tools)."
    assert "- 'search' inputSchema '/properties/q/pattern': exponential" in text_of(result)


async def test_a_schema_alone_is_judged_as_a_schema(connect: Connect, service: MemoryService) -> None:
    decoys = {"properties": {"pattern": {"const": EVIL}}, "examples": [{"pattern": EVIL}]}
    async with connect(service) as client:
        safe = await client.call_tool("check_tool_schema", {"schema": decoys | {"pattern": "^a$"}})
        assert data_of(safe) == {"safe": True, "checked": 1, "findings": []}
        assert text_of(safe) == "Safe: none of the patterns can freeze a validator (1 patterns)."
        unsafe = await called(client, "check_tool_schema", schema={"inputSchema": {}, "items": {"pattern": EVIL}})
    (finding,) = unsafe["findings"]
    assert finding["pointer"] == "/items/pattern"
    assert not {"tool", "place"} & finding.keys()


@pytest.mark.parametrize(
    "tools",
    [
        [],
        TOOLS,
        [{"name": "no schema"}, {"inputSchema": [EVIL]}, {"inputSchema": True, "outputSchema": None}],
        [{"name": "invalid", "inputSchema": {"pattern": "("}}],
    ],
    ids=["none", "usual", "odd", "invalid"],
)
async def test_the_answer_is_as_its_schema_says(
    connect: Connect, service: MemoryService, tools: list[dict[str, Any]]
) -> None:
    async with connect(service) as client:
        (listed,) = [tool for tool in (await client.list_tools()).tools if tool.name == "check_tool_schema"]
        answer = await called(client, "check_tool_schema", tools=tools)
    assert listed.output_schema is not None
    jsonschema.validate(answer, listed.output_schema)
    assert answer["safe"] is not bool(answer["findings"])


async def test_an_entry_that_is_no_tool_is_not_called_safe(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        result = await client.call_tool("check_tool_schema", {"tools": [TOOLS[0], {"name": "bare"}]})
    (finding,) = data_of(result)["findings"]
    assert (finding["verdict"], finding["tool"], finding["pointer"]) == ("invalid", "bare", "/1")
    assert "no tool, which has an inputSchema" in finding["reason"]
    assert text_of(result).startswith("Not safe: 1 findings")


async def test_exactly_one_of_schema_and_tools_is_needed(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        assert "exactly one" in await refused(client, "check_tool_schema")
        assert "exactly one" in await refused(client, "check_tool_schema", schema={}, tools=[])


async def test_an_input_that_is_too_large_is_refused_with_the_limit(connect: Connect, service: MemoryService) -> None:
    large = {"description": "x" * 1_000_000}
    async with connect(service) as client:
        for given in ({"schema": large}, {"tools": [large]}):
            assert "the limit is 1,000,000" in await refused(client, "check_tool_schema", **given)


async def test_the_answer_stays_short_whatever_is_asked(connect: Connect, service: MemoryService) -> None:
    names = {f"{'n' * 1_000}{number}": {"pattern": f"^{'x' * 300}{number}(a+)+$"} for number in range(150)}
    tool = {"name": "t" * 9_000, "inputSchema": {"properties": names}}
    async with connect(service) as client:
        result = await client.call_tool("check_tool_schema", {"tools": [tool]})
    answer = data_of(result)
    assert len(text_of(result)) < 4_000
    assert (len(answer["findings"]), answer["omitted"]) == (100, 50)
    assert all(len(finding["pattern"]) == 200 for finding in answer["findings"])
    assert len(json.dumps(answer)) < 400_000


async def test_half_a_surrogate_pair_comes_back_as_its_escape(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        answer = await called(client, "check_tool_schema", schema={"pattern": "[\\ud800]+[\\ud800]+$"})
    assert "\\ud800" in answer["findings"][0]["attack"]["pump"]
    json.dumps(answer, ensure_ascii=False).encode()


async def test_too_many_costly_patterns_are_unknown_and_not_waited_for(
    connect: Connect, service: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_check, "_MAX_STEPS", 1)
    async with connect(service) as client:
        answer = await called(client, "check_tool_schema", tools=[*TOOLS, *TOOLS])
    assert {finding["verdict"] for finding in answer["findings"]} == {"unknown"}
    assert "check fewer tools" in answer["findings"][0]["reason"]


@pytest.mark.parametrize("project", [None, "shop"])
async def test_every_schema_that_this_server_publishes_is_safe(
    connect: Connect, service: MemoryService, project: str | None
) -> None:
    async with connect(service, project=project) as client:
        listed = (await client.list_tools()).tools
        published = [tool.model_dump(mode="json", by_alias=True) for tool in listed]
        assert (await called(client, "check_tool_schema", tools=published))["safe"] is True
    schemas = [schema for tool in listed for schema in (tool.input_schema, tool.output_schema)]
    assert len(schemas) == 8
    assert not [finding for schema in schemas for finding in check_schema(schema) if finding.unsafe]


async def test_the_server_answers_while_it_checks(
    connect: Connect, service: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, answered = anyio.Event(), threading.Event()
    check = schema_check.check_tools

    def slow(*args: Any, **kwargs: Any) -> Any:
        anyio.from_thread.run_sync(begun.set)
        assert answered.wait(30)
        return check(*args, **kwargs)

    monkeypatch.setattr(schema_check, "check_tools", slow)
    async with connect(service) as client:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "check_tool_schema", {"tools": TOOLS})
                await begun.wait()
                await called(client, "recall_digest")
                answered.set()
