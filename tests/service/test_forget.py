"""Erasing: which record it is, who may, and that nobody learns of what they may not see."""

import anyio
import pytest

from mcp_memory_server.errors import InvalidInput, NotFound, Refused
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.service import Forgot, MemoryService
from tests.people import ANN, ANN_IN_SHOP, ANNS_SCOPES, BOB


async def test_forgetting_erases_the_fact_with_its_history() -> None:
    service = MemoryService(InMemoryProvider())
    await service.remember(ANN, "office", "Lyon")
    office = (await service.remember(ANN, "office", "Porto")).record
    gone = await service.forget(ANN, id=office.id)
    assert gone == Forgot(office.id, "office", "actor:ann", "done")
    assert (await service.offer(ANN)).digest.entries == ()
    assert (await service.offer(ANN, "Porto")).digest.entries == ()
    with pytest.raises(NotFound):
        await service.record_versions(ANN, office.id)
    stats = await service.stats(ANN)
    assert (stats.records, stats.versions) == (0, 0)


async def test_by_key_it_is_the_narrowest_own_record_and_others_that_stay_are_named() -> None:
    service = MemoryService(InMemoryProvider())
    await service.state(ANN, "office", "Rome", scope="tenant:acme", elevated=True)
    await service.remember(ANN_IN_SHOP, "office", "Lyon")
    await service.remember(ANN_IN_SHOP, "office", "Porto", where="project")
    first = await service.forget(ANN_IN_SHOP, key=" office ")
    assert (first.scope, first.still_at) == ("actor:ann#shop", ("actor:ann",))
    second = await service.forget(ANN_IN_SHOP, key="office")
    assert (second.scope, second.still_at) == ("actor:ann", ())


async def test_insights_that_rest_on_what_is_forgotten_are_named() -> None:
    """10.4: what was inferred from a fact may tell it, so whoever has the fact forgotten hears of it."""
    service = MemoryService(InMemoryProvider())
    late, early = [(await service.remember(ANN, key, "text")).record.id for key in ("late", "early")]
    insight = (await service.kinds.insights.record(ANN, "owl", "Works at night", cites=[late])).record
    assert insight.status == "quarantined"
    assert (await service.forget(ANN, id=early)).cited_by == ()
    gone = await service.forget(ANN, id=late)
    assert gone.cited_by == (insight.id,)
    assert f"inferred from it is still held; forget that, too, if it tells it: {insight.id}." in gone.told()
    assert (await service.forget(ANN, id=insight.id)).cited_by == ()


async def test_another_persons_insight_is_not_told() -> None:
    service = MemoryService(InMemoryProvider())
    office = (await service.state(ANN, "office", "Rome", scope="tenant:acme", elevated=True)).record.id
    bobs = (await service.kinds.insights.record(BOB, "owl", "Bob lives in Rome", cites=[office])).record.id
    assert (await service.forget(ANN, id=office, elevated=True)).cited_by == ()
    assert (await service.find(("actor:bob",), id=bobs)) != ()


@pytest.mark.parametrize("key", ["of\x00fice", "off\x1bice", "off\ud800ice"])
async def test_a_key_that_cannot_be_stored_names_no_other_record(key: str) -> None:
    service = MemoryService(InMemoryProvider())
    await service.remember(ANN, "office", "Lyon")
    await service.remember(ANN, "off\ufffdice", "Porto")
    with pytest.raises(NotFound):
        await service.forget(ANN, key=key)
    assert len((await service.offer(ANN)).digest.entries) == 2


@pytest.mark.parametrize("elevated", [False, True])
async def test_a_wider_record_is_an_administrator_s_to_erase(elevated: bool) -> None:
    service = MemoryService(InMemoryProvider())
    office = (await service.state(ANN, "office", "Rome", scope="tenant:acme", elevated=True)).record
    if elevated:
        assert (await service.forget(ANN, id=office.id, elevated=True)).scope == "tenant:acme"
        return
    for attempt in (service.forget(ANN, id=office.id), service.forget(ANN, key="office")):
        with pytest.raises(Refused, match="An administrator may erase them with `mcp-memory-server forget --elevated`"):
            await attempt
    assert await service.find(ANNS_SCOPES, key="office") == (office,)


async def test_unknown_foreign_and_forgotten_ids_get_one_and_the_same_error() -> None:
    service = MemoryService(InMemoryProvider())
    bobs = (await service.remember(BOB, "office", "Brno")).record
    mine = (await service.remember(ANN, "office", "Lyon")).record
    await service.forget(ANN, id=mine.id)
    ids = ["no such id", bobs.id, mine.id]
    assert len({(await _refusal(service, id)).replace(repr(id), "…") for id in ids}) == 1
    assert await service.find(["actor:bob"], id=bobs.id) == (bobs,)


async def _refusal(service: MemoryService, id: str) -> str:
    with pytest.raises(NotFound) as refused:
        await service.forget(ANN, id=id)
    return str(refused.value)


@pytest.mark.parametrize("key", ["nothing", "", "a:b", "x" * 500, "\ud800"])
async def test_a_key_that_nothing_is_held_under_is_not_found(key: str) -> None:
    with pytest.raises(NotFound):
        await MemoryService(InMemoryProvider()).forget(ANN, key=key)


async def test_exactly_one_of_id_and_key_is_to_be_given() -> None:
    service = MemoryService(InMemoryProvider())
    with pytest.raises(InvalidInput, match="exactly one"):
        await service.forget(ANN)
    with pytest.raises(InvalidInput, match="exactly one"):
        await service.forget(ANN, id="1", key="k")


async def test_of_two_who_erase_one_record_at_once_one_is_told_that_it_is_gone() -> None:
    store = InMemoryProvider()
    office = (await MemoryService(store).remember(ANN, "office", "Lyon")).record
    outcomes: list[str] = []

    async def erase() -> None:
        try:
            outcomes.append((await MemoryService(store).forget(ANN, id=office.id)).erasure)
        except NotFound:
            outcomes.append("not found")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(erase)
        tasks.start_soon(erase)
    assert sorted(outcomes) == ["done", "not found"]


async def test_what_stays_is_who_had_it_erased_and_no_content() -> None:
    store = InMemoryProvider()
    service = MemoryService(store, now=lambda: "2026-03-01T09:00:00.000Z")
    office = (await service.remember(ANN, "office", "Lyon")).record
    await service.forget(ANN, id=office.id)
    (line,) = store.audit
    assert (line.scope, line.id, line.by) == ("actor:ann", office.id, "ann")
    assert (line.at, line.reason) == ("2026-03-01T09:00:00.000Z", "requested")
