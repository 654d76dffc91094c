"""The prompts, and the completions of their argument and of the resource templates."""

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from mcp_memory_server.recall import estimate_tokens
from mcp_memory_server.service import MemoryService
from tests.people import ANN, ANNS_SCOPES, BOB

from .answers import read
from .conftest import Connect


async def _message(client: Client, name: str, arguments: dict[str, str] | None = None) -> str:
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    assert isinstance(message.content, types.TextContent)
    return message.content.text


async def test_two_prompts_are_listed_with_an_optional_question(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["load_memory", "review_memory"]
    for prompt in prompts:
        assert prompt.title
        assert prompt.description
        assert [(argument.name, argument.required) for argument in prompt.arguments or []] == [
            ("query", False),
            ("max_tokens", False),
        ]


@pytest.mark.parametrize("arguments", [None, {}, {"query": ""}])
async def test_loading_brings_the_block_into_the_conversation(
    connect: Connect, service: MemoryService, arguments: dict[str, str] | None
) -> None:
    await service.remember(ANN, "office", "Lyon")
    async with connect(service) as client:
        assert await _message(client, "load_memory", arguments) == await read(client, "memory://block")


async def test_reviewing_shows_the_block_and_says_how_to_go_through_it(
    connect: Connect, service: MemoryService
) -> None:
    await service.remember(ANN, "braces {key}", "a fact with {braces}")
    async with connect(service) as client:
        message = await _message(client, "review_memory", {"query": "braces"})
        assert message.endswith(await read(client, "memory://block?query=braces"))
    for word in ("keep, correct or forget", "memory://stats", "`forget`"):
        assert word in message


@pytest.mark.parametrize("prompt", ["load_memory", "review_memory"])
async def test_a_prompt_keeps_to_its_ceiling(connect: Connect, service: MemoryService, prompt: str) -> None:
    for number in range(30):
        await service.remember(ANN, f"topic {number}", f"A fact about tea number {number}.")
    async with connect(service) as client:
        text = await _message(client, prompt, {"query": "tea", "max_tokens": "600"})
        assert estimate_tokens(text) <= 600
        assert "A fact about tea number" in text
        with pytest.raises(MCPError, match="max_tokens must be a whole number"):
            await client.get_prompt(prompt, {"max_tokens": "few"})


async def test_unknown_prompts_and_arguments_are_refused_by_name(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        with pytest.raises(MCPError, match="load_memory and review_memory") as of_name:
            await client.get_prompt("no_such_prompt")
        with pytest.raises(
            MCPError, match="'topic' is no argument of this prompt; it takes query and max_tokens"
        ) as of_argument:
            await client.get_prompt("load_memory", {"topic": "x"})
    assert (of_name.value.error.code, of_argument.value.error.code) == (-32602, -32602)


# --- completions ------------------------------------------------------------------------------------

RECORD = types.ResourceTemplateReference(uri="memory://records/{id}")
SCOPE = types.ResourceTemplateReference(uri="memory://scopes/{scope}")
QUERY = types.ResourceTemplateReference(uri="memory://block{?query}")
REVIEW = types.PromptReference(name="review_memory")


async def _completed(
    client: Client, ref: types.ResourceTemplateReference | types.PromptReference, name: str, typed: str
) -> list[str]:
    return (await client.complete(ref, {"name": name, "value": typed})).completion.values


async def test_variables_are_completed_with_what_the_caller_sees(connect: Connect, service: MemoryService) -> None:
    office = (await service.remember(ANN, "Office", "Lyon")).record
    await service.remember(ANN, "editor", "Helix")
    bobs = (await service.remember(BOB, "office hours", "nine")).record
    async with connect(service) as client:
        assert await _completed(client, SCOPE, "scope", "") == list(ANNS_SCOPES)
        assert await _completed(client, SCOPE, "scope", "TEN") == ["tenant:acme"]
        assert await _completed(client, QUERY, "query", "off") == ["Office"]
        assert await _completed(client, REVIEW, "query", "") == ["Office", "editor"]
        assert await _completed(client, RECORD, "id", office.id) == [office.id]
        assert await _completed(client, RECORD, "id", bobs.id) == []
        assert await _completed(client, RECORD, "no such variable", "") == []


async def test_at_most_100_completions_are_given_and_the_others_are_counted(
    connect: Connect, service: MemoryService
) -> None:
    for number in range(120):
        await service.remember(ANN, f"topic {number:03}", "a fact")
    async with connect(service) as client:
        completion = (await client.complete(QUERY, {"name": "query", "value": "topic"})).completion
    assert (len(completion.values), completion.total, completion.has_more) == (100, 120, True)
