"""What is there for whom: one rule for lists, calls, resources, subscriptions, prompts and completions."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from mcp_memory_server import build_server
from mcp_memory_server.identity import Actor
from mcp_memory_server.policy import Action, may, may_review
from mcp_memory_server.service import MemoryService

from .answers import refused
from .conftest import Connect

READ = {"recall_digest", "check_tool_schema", "search_memories", "memory_history", "list_pending"}
WRITE = {"remember", "forget", "propose_memory", "review_memory", "edit_block", "record_rule"}
TOOLSETS = ("search", "kinds", "review")

ROLES: list[tuple[set[str], bool, set[Action]]] = [
    (set(), False, {"read", "write"}),
    (set(), True, set()),
    ({"offline_access"}, False, {"read", "write"}),
    ({"offline_access"}, True, set()),
    ({"memory:reader"}, False, {"read"}),
    ({"memory:writer"}, True, {"read", "write"}),
    ({"memory:reviewer"}, False, {"read", "write", "review"}),
    ({"memory:admin"}, True, {"read", "write", "review"}),
    ({"memory:raeder"}, False, set()),
    ({"memory:reader", "memory:raeder"}, False, {"read"}),
]


@pytest.mark.parametrize(("roles", "required", "allowed"), ROLES)
def test_what_roles_allow(roles: set[str], required: bool, allowed: set[Action]) -> None:
    """A misspelt role puts roles in force and allows nothing; an organisation's other roles say nothing here."""
    actor = Actor("ann", "acme", frozenset(roles))
    actions: tuple[Action, ...] = ("read", "write", "review")
    assert {action for action in actions if may(actor, action, roles_required=required)} == allowed
    assert may_review(actor, "tenant:acme") == ("review" in allowed)
    assert may_review(actor, "actor:ann")


@asynccontextmanager
async def as_ann(connect: Connect, service: MemoryService, roles: set[str], required: bool) -> AsyncGenerator[Client]:
    actor = Actor("ann", "acme", frozenset(roles))
    async with connect(service, actor=actor, toolsets=TOOLSETS, roles_required=required) as client:
        yield client


@pytest.mark.parametrize(("roles", "required", "allowed"), ROLES)
async def test_a_tool_that_may_not_be_called_is_not_there(
    connect: Connect, service: MemoryService, roles: set[str], required: bool, allowed: set[Action]
) -> None:
    async with as_ann(connect, service, roles, required) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert listed >= READ if "read" in allowed else not READ & listed
        assert listed >= WRITE if "write" in allowed else not WRITE & listed
        for tool in (READ | WRITE) - listed:
            said = await refused(client, tool, key="office", fact="Lyon")
            assert said == (await refused(client, "no_such_tool")).replace("no_such_tool", tool)
    assert await service.find(("actor:ann",), key="office") == ()


@pytest.mark.parametrize(("roles", "required", "allowed"), ROLES)
async def test_who_may_not_read_finds_nothing_anywhere(
    connect: Connect, service: MemoryService, roles: set[str], required: bool, allowed: set[Action]
) -> None:
    async with as_ann(connect, service, roles, required) as client:
        can = "read" in allowed
        assert bool((await client.list_resources()).resources) == can
        assert bool((await client.list_resource_templates()).resource_templates) == can
        assert bool((await client.list_prompts()).prompts) == can
        scope = types.ResourceTemplateReference(uri="memory://scopes/{scope}")
        assert bool((await client.complete(scope, {"name": "scope", "value": ""})).completion.values) == can
        if can:
            assert (await client.read_resource("memory://block")).contents
            assert (await client.get_prompt("load_memory")).messages
            return
        with pytest.raises(MCPError) as there:
            await client.read_resource("memory://block")
        with pytest.raises(MCPError) as unknown:
            await client.read_resource("memory://blokk")
        assert there.value.error.message == unknown.value.error.message.replace("blokk", "block")
        with pytest.raises(MCPError, match="No prompt 'load_memory' is visible to you"):
            await client.get_prompt("load_memory")


async def test_the_lists_of_a_server_with_many_callers_are_cached_by_each_alone(service: MemoryService) -> None:
    from mcp_memory_server.server.identity import fixed_actor  # noqa: PLC0415

    async with Client(build_server(service, identify=fixed_actor(Actor("ann")))) as client:
        assert (await client.list_tools()).cache_scope == "private"
    async with Client(build_server(service, actor=Actor("ann"))) as client:
        assert (await client.list_tools()).cache_scope == "public"
