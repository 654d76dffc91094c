"""One turn: which facts it is offered, and what is said about the others."""

from typing import Any
from uuid import UUID

import pytest

from mcp_memory_server.errors import InvalidInput, StoreBusy
from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.providers.base import Group, SearchRequest
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.service import Limits, MemoryService
from tests.golden_cases import golden_cases
from tests.people import ANN, ANNS_SCOPES
from tests.watched_provider import WatchedProvider


@pytest.mark.parametrize("case", golden_cases("rules.jsonl", ["offer"]))
async def test_the_provider_is_asked_what_the_golden_cases_say(case: dict[str, Any]) -> None:
    provider = WatchedProvider(without=() if case["has_search"] else (Group.SEARCH,))
    offered = await MemoryService(provider).offer(ANN, case["query"])
    assert [_as_golden(name, request) for name, request in provider.calls] == case["calls"]
    assert offered.digest.recalled is case["recalled"]
    assert list(offered.digest.scopes) == case["scopes"]


def _as_golden(name: str, request: Any) -> list[Any]:
    asked = [request.query, request.limit] if isinstance(request, SearchRequest) else []
    return [name, list(request.scopes), *asked]


# --- limits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_memories", [-1, 0, 201, 10**9])
async def test_a_limit_outside_1_to_200_is_refused_with_the_range(max_memories: int) -> None:
    service = MemoryService(InMemoryProvider(), limits=Limits(max_memories=5))
    with pytest.raises(InvalidInput, match=f"max_memories is {max_memories}, outside 1 to 200"):
        await service.offer(ANN, max_memories=max_memories)


@pytest.mark.parametrize(("asked", "shown"), [(None, 5), (1, 1), (6, 6), (200, 30)])
async def test_the_setting_is_only_the_default_of_the_limit(asked: int | None, shown: int) -> None:
    service = MemoryService(InMemoryProvider(), limits=Limits(max_memories=5))
    await _remember_many(service, 30)
    digest = (await service.offer(ANN, max_memories=asked)).digest
    assert (len(digest.entries), digest.omitted) == (shown, 30 - shown)


async def test_what_the_ceiling_drops_is_counted_however_much_is_held() -> None:
    service = MemoryService(InMemoryProvider())
    ids = await _remember_many(service, 300)
    for id in ids[:7]:
        await service.pin(ANN, id, pinned=True)
    digest = (await service.offer(ANN, max_memories=5)).digest
    assert all(entry.pinned for entry in digest.entries)
    assert (len(digest.entries), digest.omitted, digest.pinned_omitted) == (5, 295, 2)


async def _remember_many(service: MemoryService, count: int) -> list[str]:
    return [(await service.remember(ANN, f"topic {number:03}", f"fact {number}")).record.id for number in range(count)]


# --- what is picked ---------------------------------------------------------------------------------


async def test_a_query_picks_what_answers_it_and_every_pin() -> None:
    service = MemoryService(InMemoryProvider())
    await service.remember(ANN, "lunch", "likes ramen on Fridays")
    await service.remember(ANN, "editor", "uses Helix")
    tone = await service.state(ANN, "tone", "answer briefly")
    await service.pin(ANN, tone.record.id, pinned=True)
    digest = (await service.offer(ANN, "which ramen for lunch?", max_memories=2)).digest
    assert [entry.key for entry in digest.entries] == ["tone", "lunch"]
    assert (digest.recalled, digest.partial) == (True, True)


async def test_a_query_that_matches_one_of_two_answers_brings_the_other_along() -> None:
    service = MemoryService(InMemoryProvider())
    await service.state(ANN, "fiscal-year", "starts in July", scope="tenant:acme", elevated=True)
    await service.remember(ANN, "fiscal-year", "begins with February")
    entry, *others = (await service.offer(ANN, "July")).digest.entries
    assert (entry.text, others) == ("begins with February", [])
    assert [(value.scope, value.text, value.author) for value in entry.overrides] == [
        ("tenant:acme", "starts in July", "human")
    ]


async def test_entries_stand_in_the_order_of_rendering_whatever_their_relevance() -> None:
    service = MemoryService(InMemoryProvider())
    for key in ("c", "a", "b"):
        await service.remember(ANN, key, f"ramen {key}")
    for query in (None, "ramen b", "ramen a"):
        assert [entry.key for entry in (await service.offer(ANN, query)).digest.entries] == ["a", "b", "c"]


async def test_quarantined_records_reach_no_digest() -> None:
    store = InMemoryProvider()
    service = MemoryService(store)
    record = (await service.remember(ANN, "editor", "uses Helix")).record
    await service.take_in(ANN, [(record.model_copy(update={"status": "quarantined"}),)])
    for query in (None, "Helix"):
        assert (await service.offer(ANN, query)).digest.entries == ()


async def test_the_scopes_that_apply_are_named_when_nothing_is_held() -> None:
    digest = (await MemoryService(InMemoryProvider()).offer(ANN)).digest
    assert (digest.scopes, digest.entries, digest.omitted) == (ANNS_SCOPES, (), 0)
    assert digest.digest_id


async def test_any_actor_id_has_a_memory_of_its_own() -> None:
    ids = ["a-b", "a:b", "a#b", "a%23b", "A-B", "AND", "mcp", "x" * 190, "数据 库", "ann@example.com", str(UUID(int=7))]
    service = MemoryService(InMemoryProvider())
    for id in ids:
        await service.remember(RequestContext(Actor(id)), "editor", f"{id} uses Helix")
    for id in ids:
        for query in (None, "Helix"):
            entries = (await service.offer(RequestContext(Actor(id)), query)).digest.entries
            assert [entry.text for entry in entries] == [f"{id} uses Helix"]


async def test_a_store_that_cannot_be_read_is_an_error_and_no_empty_digest() -> None:
    provider = WatchedProvider()
    provider.failing["list"] = StoreBusy(1)
    with pytest.raises(StoreBusy):
        await MemoryService(provider).offer(ANN)
