"""Reading arguments: what models plainly mean is taken, everything else is named and refused."""

from typing import Any

import mcp_types as types
import pytest
from pydantic import ValidationError

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.server import arguments
from mcp_memory_server.server.tools import served_tools
from mcp_memory_server.service import MemoryService
from tests.golden_cases import golden_cases
from tests.people import ANN

from .answers import called, refused
from .conftest import Connect

SCHEMAS = {
    name: tool.definition.input_schema for name, tool in served_tools(MemoryService(InMemoryProvider()), "shop").items()
}


def read_arguments(schema: dict[str, Any], given: Any) -> dict[str, Any]:
    """The arguments as a tool takes them, or the error that names the wrong ones."""
    values, problems = arguments.read_arguments(schema, given)
    if problems:
        raise InvalidInput(*problems)
    return values


@pytest.mark.parametrize("case", golden_cases("rules.jsonl", ["input"]))
def test_what_is_an_input_of_remember_is_golden(case: dict[str, Any]) -> None:
    assert _is_taken("remember", case["value"]) is case["valid"]


def _is_taken(tool: str, value: Any) -> bool:
    """Through both gates that a request passes: the protocol's types, then the tool's schema."""
    try:
        params = types.CallToolRequestParams(name=tool, arguments=value)
        read_arguments(SCHEMAS[tool], params.arguments)
    except (ValidationError, InvalidInput):
        return False
    return True


@pytest.mark.parametrize("absent", [None, ""])
@pytest.mark.parametrize("tool", SCHEMAS)
def test_an_optional_argument_that_is_null_or_empty_is_absent(tool: str, absent: Any) -> None:
    schema = SCHEMAS[tool]
    given = dict.fromkeys(schema["required"], "x")
    optional = {name: absent for name in schema["properties"] if name not in given}
    assert optional
    assert read_arguments(schema, given | optional) == given


@pytest.mark.parametrize(
    ("argument", "given", "taken"),
    [
        ("if_version", "3", 3),
        ("if_version", " 3 ", 3),
        ("if_version", 3.0, 3),
        ("if_version", 0, 0),
        ("tags", "work", ["work"]),
        ("tags", '["a", "b"]', ["a", "b"]),
        ("tags", "[not json", ["[not json"]),
        ("tags", [], []),
        ("fact", "  x ", "  x "),
        ("where", "project", "project"),
    ],
)
def test_what_is_plainly_meant_is_taken(argument: str, given: Any, taken: Any) -> None:
    arguments = {"key": "k", "fact": "f", argument: given}
    assert read_arguments(SCHEMAS["remember"], arguments)[argument] == taken


@pytest.mark.parametrize(
    ("tool", "argument", "given", "fault"),
    [
        ("remember", "key", 1, "must be a string, not a number"),
        ("remember", "key", True, "must be a string, not true or false"),
        ("remember", "key", None, "is required"),
        ("remember", "fact", {"a": 1}, "must be a string, not an object"),
        ("remember", "fact", ["a"], "must be a string, not a list"),
        ("remember", "tags", 7, "must be a list of strings, not a number"),
        ("remember", "tags", ["a", 7], "must be a string, not a number"),
        ("remember", "tags", ["a", None], "must be a string, not null"),
        ("remember", "if_version", True, "must be a whole number, not true or false True"),
        ("remember", "if_version", 2.5, "must be a whole number, not a number 2.5"),
        ("remember", "if_version", float("nan"), "must be a whole number, not a number nan"),
        ("remember", "if_version", "three", "must be a whole number, not a string 'three'"),
        ("remember", "if_version", -1, "must be at least 0, not -1"),
        ("remember", "where", "elsewhere", "must be one of everywhere, project, not 'elsewhere'"),
        ("recall_digest", "max_memories", 0, "must be 1 to 200, not 0"),
        ("recall_digest", "max_memories", "201", "must be 1 to 200, not 201"),
        ("recall_digest", "turn_id", "x" * 201, "has 201 characters and the limit is 200"),
        ("check_tool_schema", "schema", ["a"], "must be an object, not a list"),
        ("check_tool_schema", "schema", True, "must be an object, not true or false"),
        ("check_tool_schema", "schema", "{not json", "must be an object, not a string"),
        ("check_tool_schema", "schema", "{" * 100_000, "must be an object, not a string"),
        ("check_tool_schema", "tools", {"name": "a"}, "must be a list of objects, not an object"),
        ("check_tool_schema", "tools", "search", "must be a list of objects, not a string"),
        ("check_tool_schema", "tools", [{"name": "a"}, 7], "must be an object, not a number"),
        (
            "recall_digest",
            "limit",
            5,
            "is no argument of this tool; it takes query, max_memories, max_tokens, mode, objective, ids, seen, "
            "conversation_id, as_of, known_at, turn_id, digest_id",
        ),
    ],
)
def test_a_wrong_argument_is_refused_with_its_name_and_limit(tool: str, argument: str, given: Any, fault: str) -> None:
    arguments = dict.fromkeys(SCHEMAS[tool]["required"], "x")
    with pytest.raises(InvalidInput) as refusal:
        read_arguments(SCHEMAS[tool], arguments | {argument: given})
    (problem,) = refusal.value.problems
    assert (problem.argument.strip("'"), problem.fault) == (argument, fault)


async def test_all_wrong_arguments_are_named_at_once(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        text = await refused(client, "remember", key=7, tags=7, if_version=-1, colour="red", scope="global")
        for name in ("key", "fact", "tags", "if_version", "'colour'", "'scope'"):
            assert f"{name} " in text
        text = await refused(client, "remember", key="a:b", fact="x" * 241, tags=["t" * 41], valid_from="soon")
        for name in ("key", "fact", "tags", "valid_from"):
            assert f"{name} " in text
        assert "has 241 characters and the limit is 240" in text
        assert (await called(client, "recall_digest"))["entries"] == []


@pytest.mark.parametrize(
    ("argument", "given", "taken"),
    [
        ("schema", {"type": "object"}, {"type": "object"}),
        ("schema", '{"type": "object"}', {"type": "object"}),
        ("schema", {}, {}),
        ("tools", [], []),
        ("tools", [{"name": "a"}], [{"name": "a"}]),
        ("tools", ' [{"name": "a"}]', [{"name": "a"}]),
        ("tools", ['{"name": "a"}'], [{"name": "a"}]),
    ],
)
def test_objects_are_taken_as_they_are_or_as_their_json_text(argument: str, given: Any, taken: Any) -> None:
    assert read_arguments(SCHEMAS["check_tool_schema"], {argument: given}) == {argument: taken}


LONG = "abcdefghij" * 50
WRONG_LONG: list[tuple[str, dict[str, Any]]] = [
    ("remember", {"key": LONG, "fact": LONG}),
    ("remember", {"key": "k", "fact": "f", LONG: 1}),
    ("remember", {"key": "k", "fact": "f", "valid_from": LONG, "valid_to": LONG, "if_version": LONG}),
    ("remember", {"key": "k", "fact": "f", "tags": [LONG]}),
    ("remember", {"key": "[" + LONG[:99], "fact": "f"}),
    ("recall_digest", {"turn_id": LONG, "max_memories": LONG}),
    ("recall_digest", {"max_memories": 10**500}),
    ("recall_digest", {"digest_id": LONG[:200]}),
    ("forget", {"id": LONG[:200]}),
    ("forget", {"key": LONG}),
    (LONG, {}),
]


@pytest.mark.parametrize(("tool", "given"), WRONG_LONG)
async def test_an_error_shows_at_most_80_characters_of_a_value(
    connect: Connect, service: MemoryService, tool: str, given: dict[str, Any]
) -> None:
    async with connect(service) as client:
        text = await refused(client, tool, **given)
    assert LONG[:81] not in text
    assert "0" * 81 not in text


async def test_what_schema_and_use_case_find_wrong_is_named_at_once(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        said = await refused(
            client, "remember", key="k" * 101, fact="f" * 241, valid_from="yesterday", if_version=-2, colour="red"
        )
    for expected in (
        "key has 101",
        "fact has 241",
        "valid_from is not",
        "if_version must be",
        "'colour' is no argument",
    ):
        assert expected in said


async def test_a_note_over_what_a_person_stated_is_announced(connect: Connect, service: MemoryService) -> None:
    await service.state(ANN, "office", "Works in Lyon")
    async with connect(service) as client:
        answer = await client.call_tool("remember", {"key": "office", "fact": "Works in Paris"})
    assert "stated by a person" in str(answer.content)
