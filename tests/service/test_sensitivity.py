"""A session has a ceiling: what lies above it is in nothing that the session is shown (spec 9.6)."""

from dataclasses import replace

import pytest

from mcp_memory_server import Actor, MemoryService
from mcp_memory_server.errors import Conflict, InvalidInput, NotFound, Refused
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.records import Sensitivity
from mcp_memory_server.service import Limits, SearchOptions
from tests.people import ANN

ADMIN = RequestContext(Actor("ann", "acme", frozenset({"memory:admin"})))
CLEARED = replace(ANN, max_sensitivity="secret")


async def stocked() -> MemoryService:
    service = MemoryService(InMemoryProvider())
    await service.state(ANN, "motto", "Be kind", sensitivity="public")
    await service.state(ANN, "office", "Lyon")
    await service.state(ANN, "salary", "Earns forty", sensitivity="secret")
    return service


async def _keys(service: MemoryService, context: RequestContext = ANN, query: str | None = None) -> set[str]:
    return {entry.key for entry in (await service.offer(context, query)).digest.entries}


async def test_digest_and_block_leave_out_what_lies_above_the_ceiling() -> None:
    service = await stocked()
    assert await _keys(service) == {"motto", "office"}
    assert await _keys(service, ANN, "What does Ann earn? Forty?") == set()
    assert "forty" not in service.block(await service.offer(ANN))
    assert (await service.offer(ANN)).digest.omitted == 0


@pytest.mark.parametrize(
    ("ceiling", "expected"),
    [("public", {"motto"}), ("internal", {"motto", "office"}), ("secret", {"motto", "office", "salary"})],
)
async def test_the_ceiling_is_the_service_s_or_the_session_s_own(ceiling: Sensitivity, expected: set[str]) -> None:
    service = await stocked()
    assert await _keys(service, replace(ANN, max_sensitivity=ceiling)) == expected
    limited = MemoryService(service.provider, limits=Limits(max_sensitivity=ceiling))
    assert await _keys(limited) == expected


async def test_search_and_history_leave_it_out_in_every_form() -> None:
    service = await stocked()
    await service.state(ANN, "bonus", "Four thousand")
    await service.state(ANN, "bonus", "Five thousand", sensitivity="secret")
    (bonus,) = await service.find(["actor:ann"], key="bonus")
    for options in (
        SearchOptions(),
        SearchOptions("salary bonus thousand forty"),
        SearchOptions(include_superseded=True),
        SearchOptions(as_of="2100-01-01T00:00:00Z"),
        SearchOptions(known_at="2100-01-01T00:00:00Z"),
    ):
        assert {hit.record.key for hit in await service.search(ANN, options)} <= {"motto", "office"}
        assert "salary" in {hit.record.key for hit in await service.search(CLEARED, options)}
    for named in ({"key": "bonus"}, {"id": bonus.id}, {"key": "salary"}):
        with pytest.raises(NotFound):
            await service.history(ANN, **named)
    assert len((await service.history(CLEARED, key="bonus")).versions) == 2


async def test_the_read_back_and_the_counts_leave_it_out() -> None:
    service = await stocked()
    page = await service.page(ANN, "actor:ann")
    assert [record.key for record in page.records] == ["motto", "office"]
    (salary,) = await service.find(["actor:ann"], key="salary")
    with pytest.raises(NotFound):
        await service.record_versions(ANN, salary.id)
    assert (await service.stats(ANN)).records == 2
    assert (await service.stats(CLEARED)).records == 3


async def test_only_administrators_hear_how_much_is_withheld() -> None:
    """Spec 9.6: counted as withheld only for administrators."""
    service = await stocked()
    assert (await service.offer(ANN)).withheld is None
    assert (await service.offer(ADMIN)).withheld == 1
    assert (await service.offer(ADMIN, "anything")).withheld == 1
    assert (await service.offer(replace(ADMIN, max_sensitivity="public"))).withheld == 2
    assert (await service.offer(replace(ADMIN, max_sensitivity="secret"))).withheld == 0


async def test_a_write_brings_back_nothing_that_lies_above() -> None:
    service = await stocked()
    with pytest.raises(Conflict) as conflict:
        await service.remember(ANN, "salary", "Earns fifty", if_version=7)
    assert (conflict.value.current_version, conflict.value.current_text) == (1, None)
    with pytest.raises(Conflict) as conflict:
        await service.remember(CLEARED, "salary", "Earns fifty", if_version=7)
    assert conflict.value.current_text == "Earns forty"
    done = await service.remember(ANN, "salary", "Earns fifty")
    assert (done.status, done.previous, done.record.sensitivity) == ("replaced", None, "secret")


async def test_a_wider_secret_is_not_told_by_a_write_that_overrides_it() -> None:
    service = await stocked()
    await service.state(ANN, "budget", "A million", scope="tenant:acme", elevated=True, sensitivity="secret")
    assert (await service.remember(ANN, "budget", "Unknown")).overrides == ()
    assert (await service.remember(ANN, "salaries", "Unknown")).similar_keys == ()
    stated = await service.state(ANN, "budget", "About a million")
    assert [value.text for value in stated.overrides] == ["A million"]  # a person at the console sees everything


async def test_a_replay_shows_no_more_than_the_session_may_see() -> None:
    service = await stocked()
    shown = await service.offer(CLEARED, turn_id="1")
    assert len(shown.digest.entries) == 3
    again = await service.offer(ANN, turn_id="1")
    assert {entry.key for entry in again.digest.entries} == {"motto", "office"}
    assert again.erased == 0


async def test_what_lies_above_can_be_forgotten_by_who_knows_of_it() -> None:
    """Spec 1: being removable outranks every other feature."""
    service = await stocked()
    assert (await service.forget(ANN, key="salary")).key == "salary"
    assert (await service.stats(CLEARED)).records == 2


async def test_who_may_not_see_a_shared_record_does_not_learn_by_forgetting_that_it_is_there() -> None:
    service = MemoryService(InMemoryProvider())
    stated = await service.state(ANN, "merger", "In May", scope="tenant:acme", elevated=True, sensitivity="secret")
    merger = stated.record
    with pytest.raises(NotFound):
        await service.forget(ANN, id=merger.id)
    with pytest.raises(NotFound):
        await service.forget(ANN, key="merger")
    with pytest.raises(Refused, match="shared with others"):
        await service.forget(CLEARED, key="merger")
    assert (await service.forget(ANN, key="merger", elevated=True)).id == merger.id


async def test_a_sensitivity_that_there_is_not_is_refused() -> None:
    service = await stocked()
    with pytest.raises(InvalidInput, match="sensitivity is 'top'; it is one of public, internal, secret"):
        await service.remember(ANN, "key", "fact", sensitivity="top")  # pyright: ignore[reportArgumentType]
