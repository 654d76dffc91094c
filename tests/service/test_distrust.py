"""What a provider returns outside the scopes that apply is dropped, not trusted, whichever call returned it."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from mcp_memory_server.errors import NotFound
from mcp_memory_server.providers.base import (
    HistoryRequest,
    Hit,
    Listing,
    ListRequest,
    PageRequest,
    SearchRequest,
    VersionRef,
    VersionsRequest,
)
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.records import MemoryRecord
from mcp_memory_server.service import MemoryService
from tests.people import ANN, BOB, Membership


class LeakingProvider(InMemoryProvider):
    """Answers everybody as if Bob's scope applied to them."""

    async def list(self, request: ListRequest) -> Listing:
        return await super().list(replace(request, scopes=("actor:bob", *request.scopes)))

    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        return await super().search(replace(request, scopes=("actor:bob", *request.scopes)))

    async def history(self, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
        return await super().history(replace(request, scopes=("actor:bob", *request.scopes)))

    async def versions(self, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
        return await super().versions(replace(request, scopes=("actor:bob", *request.scopes)))

    async def page(self, request: PageRequest) -> tuple[MemoryRecord, ...]:
        bobs = await super().page(replace(request, scope="actor:bob"))
        return (*bobs, *await super().page(request))


async def _service_with_bobs_memory() -> tuple[MemoryService, str]:
    """A leaking service, and the id of a record of Bob's."""
    service = MemoryService(LeakingProvider())
    await service.remember(BOB, "timezone", "Bob left Helix for zsh")
    return service, (await service.remember(BOB, "editor", "Bob uses Helix")).record.id


@pytest.mark.parametrize("query", [None, "Helix"])
async def test_the_digest_holds_nothing_of_bobs(query: str | None) -> None:
    service, _ = await _service_with_bobs_memory()
    await service.remember(ANN, "editor", "Ann uses Helix")
    offered = await service.offer(ANN, query)
    (entry,) = offered.digest.entries
    assert (entry.text, entry.overrides) == ("Ann uses Helix", ())
    assert "Bob" not in service.block(offered)


async def test_a_write_is_told_neither_of_bobs_answers_nor_of_his_keys() -> None:
    service, _ = await _service_with_bobs_memory()
    assert (await service.remember(ANN, "editor", "Ann uses Helix")).overrides == ()
    assert (await service.remember(ANN, "time-zone", "CET")).similar_keys == ()


async def test_bobs_record_has_no_versions_is_not_pinned_and_not_forgotten() -> None:
    service, bobs = await _service_with_bobs_memory()
    with pytest.raises(NotFound):
        await service.record_versions(ANN, bobs)
    with pytest.raises(NotFound):
        await service.pin(ANN, bobs, pinned=True, elevated=True)
    with pytest.raises(NotFound):
        await service.forget(ANN, id=bobs, elevated=True)


async def test_a_page_holds_the_records_of_its_scope_only() -> None:
    service, _ = await _service_with_bobs_memory()
    mine = (await service.remember(ANN, "editor", "Ann uses Helix")).record
    assert (await service.page(ANN, "actor:ann")).records == (mine,)


async def test_a_replay_holds_nothing_that_moved_to_bob_since() -> None:
    service = MemoryService(LeakingProvider(), resolver=Membership(["actor:ann"]))
    mine = (await service.remember(ANN, "editor", "Ann uses Helix")).record
    shown = (await service.offer(ANN)).digest.digest_id
    bobs = mine.model_copy(update={"scope": "actor:bob"})
    await service.take_in(ANN, [(bobs,)], elevated=True, any_scope=True)
    replayed = await service.offer(ANN, digest_id=shown)
    assert (replayed.digest.entries, replayed.erased) == ((), 1)
