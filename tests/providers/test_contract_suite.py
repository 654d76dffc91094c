"""The contract suite itself, run against providers that an outside author might write."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from mcp_memory_server.errors import NotSupported
from mcp_memory_server.providers.base import (
    Capabilities,
    ForgetRequest,
    Forgotten,
    Group,
    Hit,
    Listing,
    ListRequest,
    MemoryProvider,
    SearchRequest,
)
from mcp_memory_server.providers.contract import CHECKS, Check, Store
from mcp_memory_server.providers.in_memory import InMemoryProvider


class AlwaysEmpty:
    """A read-only provider without any group, such as one in front of a directory of people."""

    capabilities = Capabilities("always empty")

    async def list(self, request: ListRequest) -> Listing:
        return Listing((), keys=0, pinned_keys=0)

    async def forget(self, request: ForgetRequest) -> Forgotten | None:
        return None


class RefusesToSearch(AlwaysEmpty):
    async def search(self, request: SearchRequest) -> None:
        raise NotSupported("always empty", "search", "List instead.")


class DeclaresTooLittle(AlwaysEmpty):
    """Answers a search that it does not declare."""

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        return ()


class DeclaresTooMuch(AlwaysEmpty):
    capabilities = Capabilities("too much", frozenset({Group.SEARCH}))


class ForgetsNothing(InMemoryProvider):
    async def forget(self, request: ForgetRequest) -> Forgotten | None:
        return Forgotten(request.id, "key", request.scope, "done")


def store_of(provider: MemoryProvider) -> Store:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[MemoryProvider]:
        yield provider

    return Store(opened, durable=False, shared=False)


def checks_of(*groups: Group) -> list[Check]:
    return [check for check in CHECKS if check.groups == frozenset(groups)]


@pytest.mark.parametrize("provider", [AlwaysEmpty(), RefusesToSearch()], ids=["without methods", "refusing"])
async def test_undeclared_groups_are_held_to_being_absent(provider: MemoryProvider) -> None:
    for check in CHECKS:
        if check.groups:
            assert await check.run(store_of(provider)) == "absent"


async def test_a_call_that_works_without_being_declared_is_a_fault() -> None:
    (check, *_) = checks_of(Group.WRITE, Group.SEARCH)
    with pytest.raises(AssertionError, match="'search'"):
        await check.run(store_of(DeclaresTooLittle()))


async def test_a_group_that_is_declared_and_missing_is_a_fault() -> None:
    (check,) = (check for check in CHECKS if check.name == "what_is_declared_is_there")
    with pytest.raises(AttributeError, match="search"):
        await check.run(store_of(DeclaresTooMuch()))


async def test_a_provider_that_only_says_it_forgets_is_found_out() -> None:
    (check,) = (check for check in CHECKS if check.name == "what_is_forgotten_is_listed_no_more")
    with pytest.raises(AssertionError):
        await check.run(store_of(ForgetsNothing()))


def test_every_group_has_checks() -> None:
    for group in Group:
        assert [check for check in CHECKS if group in check.groups], group
