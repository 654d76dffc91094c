"""Seeing what is held: one record with its history, a scope page by page, counts, and how far an operator looks."""

from dataclasses import replace

import pytest

from mcp_memory_server.errors import InvalidInput, NotFound, NotSupported, Refused
from mcp_memory_server.providers.base import Group, PageCursor
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.service import MemoryService, Reach
from mcp_memory_server.service.browse import PAGE_SIZE
from tests.people import ANN, ANN_IN_SHOP, ANNS_SCOPES, BOB
from tests.watched_provider import WatchedProvider


async def _office_that_moved(service: MemoryService) -> str:
    await service.remember(ANN, "office", "Lyon")
    return (await service.remember(ANN, "office", "Porto")).record.id


# --- one record -------------------------------------------------------------------------------------


async def test_the_versions_of_a_record_are_told_oldest_first_and_replaced_ones_are_closed() -> None:
    service = MemoryService(InMemoryProvider())
    id = await _office_that_moved(service)
    old, current = await service.record_versions(ANN, id)
    assert (old.text, old.version, old.superseded_by) == ("Lyon", 1, id)
    assert old.valid_to == current.updated_at
    assert (current.text, current.version, current.superseded_by) == ("Porto", 2, None)


async def test_a_provider_without_history_shows_the_current_version_only() -> None:
    service = MemoryService(WatchedProvider(without=[Group.HISTORY]))
    id = await _office_that_moved(service)
    assert [version.text for version in await service.record_versions(ANN, id)] == ["Porto"]


@pytest.mark.parametrize("without", [(), (Group.HISTORY,)])
async def test_versions_of_unknown_and_foreign_records_get_one_and_the_same_error(without: tuple[Group, ...]) -> None:
    service = MemoryService(WatchedProvider(without))
    bobs = (await service.remember(BOB, "office", "Brno")).record.id
    messages: set[str] = set()
    for id in ("no such id", bobs):
        with pytest.raises(NotFound) as refused:
            await service.record_versions(ANN, id)
        messages.add(str(refused.value).replace(repr(id), "…"))
    assert len(messages) == 1
    assert len(await service.record_versions(ANN, bobs, scopes=["actor:bob"])) == 1


# --- a scope ----------------------------------------------------------------------------------------


async def test_a_scope_is_read_back_whole_page_by_page_in_order_of_key() -> None:
    service = MemoryService(InMemoryProvider())
    keys = [f"topic {number:04}" for number in range(2 * PAGE_SIZE + 50)]
    for key in reversed(keys):
        await service.remember(ANN, key, "a fact")
    sizes: list[int] = []
    read: list[str] = []
    after: PageCursor | None = None
    while not sizes or after is not None:
        page = await service.page(ANN, "actor:ann", after)
        sizes.append(len(page.records))
        read += [record.key for record in page.records]
        after = page.next_after
    assert sizes == [PAGE_SIZE, PAGE_SIZE, 50]
    assert read == keys
    assert [record.key async for record in service.everything_at("actor:ann")] == keys


async def test_a_scope_that_does_not_apply_looks_like_one_that_does_not_exist() -> None:
    service = MemoryService(InMemoryProvider())
    await service.remember(BOB, "office", "Brno")
    messages: set[str] = set()
    for scope in ("actor:bob", "actor:nobody"):
        with pytest.raises(NotFound) as refused:
            await service.page(ANN, scope)
        messages.add(str(refused.value).replace(scope, "…"))
    assert len(messages) == 1


async def test_quarantined_records_are_found_and_paged_for_review() -> None:
    service = MemoryService(InMemoryProvider())
    record = (await service.remember(ANN, "office", "Lyon")).record
    quarantined = record.model_copy(update={"status": "quarantined"})
    await service.take_in(ANN, [(quarantined,)])
    assert await service.find(ANNS_SCOPES, key="office") == (quarantined,)
    assert (await service.page(ANN, "actor:ann")).records == (quarantined,)


async def test_versions_for_a_file_are_as_they_were_when_current() -> None:
    service = MemoryService(InMemoryProvider())
    await _office_that_moved(service)
    await service.remember(BOB, "editor", "Helix")
    held = [versions async for versions in service.held_versions(["actor:ann", "actor:bob"])]
    assert [[version.text for version in versions] for versions in held] == [["Lyon", "Porto"], ["Helix"]]
    assert all(version.superseded_by is None for versions in held for version in versions)


# --- counts -----------------------------------------------------------------------------------------


async def test_counts_are_of_the_scopes_that_apply() -> None:
    service = MemoryService(InMemoryProvider())
    await _office_that_moved(service)
    await service.state(ANN, "tone", "brief", scope="tenant:acme", elevated=True)
    await service.remember(BOB, "editor", "Helix")
    stats = await service.stats(ANN)
    assert (stats.records, stats.versions, stats.pinned) == (2, 3, 0)
    assert [(count.scope, count.records) for count in stats.by_scope] == [("actor:ann", 1), ("tenant:acme", 1)]
    assert (await service.stats(ANN, scopes=["actor:bob"])).records == 1


async def test_a_provider_that_cannot_be_browsed_says_so() -> None:
    service = MemoryService(WatchedProvider(without=[Group.BROWSE]))
    for attempt in (service.page(ANN, "actor:ann"), service.stats(ANN), service.scopes_within(ANN, Reach(mine=True))):
        with pytest.raises(NotSupported, match="cannot be browsed"):
            await attempt


# --- how far an operator looks ----------------------------------------------------------------------


async def _service_of_several() -> MemoryService:
    service = MemoryService(InMemoryProvider())
    for context in (ANN, BOB, ANN_IN_SHOP, replace(ANN, project="garden")):
        await service.remember(context, "k", "f", where="everywhere" if context.project is None else "project")
    return service


async def test_an_operator_looks_at_the_scopes_of_the_request_unless_told_otherwise() -> None:
    service = await _service_of_several()
    assert await service.scopes_within(ANN, Reach()) == ANNS_SCOPES
    assert await service.scopes_within(ANN, Reach(mine=True)) == ("actor:ann", "actor:ann#garden", "actor:ann#shop")
    assert await service.scopes_within(ANN, Reach(scope="actor:ann#garden")) == ("actor:ann#garden",)
    assert await service.scopes_within(ANN, Reach(scope="tenant:acme")) == ("tenant:acme",)


async def test_other_people_s_scopes_are_for_the_elevated() -> None:
    service = await _service_of_several()
    for reach in (Reach(scope="actor:bob"), Reach(everything=True)):
        with pytest.raises(Refused, match="--elevated"):
            await service.scopes_within(ANN, reach)
    assert await service.scopes_within(ANN, Reach(scope="actor:bob", elevated=True)) == ("actor:bob",)
    everything = await service.scopes_within(ANN, Reach(everything=True, elevated=True))
    assert everything == ("actor:ann", "actor:ann#garden", "actor:ann#shop", "actor:bob")


async def test_two_ways_to_reach_at_once_and_a_malformed_scope_are_refused() -> None:
    service = await _service_of_several()
    for reach in (Reach(scope="global", mine=True), Reach(mine=True, everything=True), Reach(scope="two words")):
        with pytest.raises(InvalidInput):
            await service.scopes_within(ANN, reach)
