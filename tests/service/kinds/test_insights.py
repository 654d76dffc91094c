"""Insights: what they cite must be there, votes move them, and they stand below their facts."""

import pytest

from mcp_memory_server import MemoryService
from mcp_memory_server.errors import InvalidInput, NotFound, Refused
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.providers.options import WriteOptions
from mcp_memory_server.records import MemoryRecord
from mcp_memory_server.service import RememberRequest, SearchOptions
from mcp_memory_server.service.kinds import PERSON, Writer
from tests.people import ANN, BOB


@pytest.fixture
def service() -> MemoryService:
    return MemoryService(InMemoryProvider())


async def fact(service: MemoryService, key: str = "bedtime", text: str = "Goes to bed at two") -> MemoryRecord:
    return (await service.remember(ANN, key, text)).record


async def insight(service: MemoryService, *cites: str, key: str = "owl", text: str = "Works late") -> MemoryRecord:
    return (await service.kinds.insights.record(ANN, key, text, cites, PERSON)).record


async def keys(service: MemoryService) -> list[str]:
    return [entry.key for entry in (await service.offer(ANN)).digest.entries]


async def test_an_insight_names_what_it_was_drawn_from(service: MemoryService) -> None:
    """9.1: `insight`: an inference over other memories; `cites`; `salience` starts at 2."""
    bedtime = await fact(service)
    owl = await insight(service, bedtime.id)
    assert owl.insight is not None
    assert (owl.kind, owl.insight.cites, owl.derived_from, owl.insight.salience) == (
        "insight", (bedtime.id,), (bedtime.id,), 2,
    )  # fmt: skip
    block = service.block(await service.offer(ANN))
    assert block.index("bedtime: Goes to bed") < block.index("owl: Works late (person, salience 2)\n    from: bedtime")


async def test_an_insight_of_an_assistant_is_a_reflection(service: MemoryService) -> None:
    done = await service.kinds.insights.record(ANN, "owl", "Works late", [(await fact(service)).id])
    assert (done.record.provenance, done.record.origin.author) == ("reflection", "agent")


async def test_what_is_cited_must_be_there_for_the_caller_and_what_is_not_is_named(service: MemoryService) -> None:
    """9.1: `cites` at least one existing id, mandatory."""
    bedtime = await fact(service)
    bobs = (await service.remember(BOB, "secret", "of Bob's")).record
    with pytest.raises(InvalidInput, match="an insight cites 1 to 16"):
        await insight(service)
    for unknown in ("no-such-id", bobs.id):
        with pytest.raises(InvalidInput, match=f"cites names no memory that is there for you: '{unknown}';"):
            await insight(service, bedtime.id, unknown)
    await service.forget(ANN, id=bedtime.id)
    with pytest.raises(InvalidInput, match="no memory that is there"):
        await insight(service, bedtime.id)


async def test_nothing_is_inferred_from_what_was_written_with_skip(service: MemoryService) -> None:
    written = await service.writes.put(ANN, RememberRequest("secret", "text"), WriteOptions(extraction="skip"))
    with pytest.raises(Refused, match="Nothing may be derived"):
        await insight(service, written.record.id)


async def test_votes_move_salience_and_at_0_it_is_shown_to_nobody(service: MemoryService) -> None:
    """9.1: votes move it, pruned at 0 or less."""
    owl = await insight(service, (await fact(service)).id)
    vote = service.kinds.insights.vote
    saliences = [(await vote(ANN, owl.id, by)).insight for by in (1, -1, -1)]
    assert [held and held.salience for held in saliences] == [3, 2, 1]
    assert await keys(service) == ["bedtime", "owl"]
    gone = await vote(ANN, owl.id, -1)
    assert gone.archived_at is not None
    assert await keys(service) == ["bedtime"]
    assert [hit.record.key for hit in await service.search(ANN, SearchOptions("works late"))] == []
    assert "owl" not in service.block(await service.offer(ANN, "Does she work late?"))
    back = await vote(ANN, owl.id, 1)
    assert (back.archived_at, back.origin, back.version) == (None, owl.origin, 6)
    assert await keys(service) == ["bedtime", "owl"]


async def test_only_insights_of_one_s_own_are_voted_on(service: MemoryService) -> None:
    bedtime = await fact(service)
    with pytest.raises(InvalidInput, match="id names a memory that is no insight"):
        await service.kinds.insights.vote(ANN, bedtime.id, 1)
    owl = await insight(service, bedtime.id)
    with pytest.raises(NotFound):
        await service.kinds.insights.vote(BOB, owl.id, 1)
    with pytest.raises(InvalidInput, match="vote is 5"):
        await service.kinds.insights.vote(ANN, owl.id, 5)
    public = await service.state(ANN, "public", "text", scope="tenant:acme", elevated=True)
    person = Writer("human", scope="tenant:acme", elevated=True)
    shared = await service.kinds.insights.record(ANN, "shared", "text", [public.record.id], person)
    with pytest.raises(Refused):
        await service.kinds.insights.vote(BOB, shared.record.id, -1)


async def test_an_insight_never_ranks_above_a_fact_that_it_cites(service: MemoryService) -> None:
    """9.1: ranked below the facts it cites, also where it answers better."""
    bedtime = await fact(service, text="Goes to bed at two")
    await insight(service, bedtime.id, key="when does she work late", text="She works late, works late at night")
    asked = "When does she work late? When does she go to bed?"
    digest = (await service.offer(ANN, asked, max_memories=1)).digest
    assert [entry.key for entry in digest.entries] == ["bedtime"]
    hits = await service.search(ANN, SearchOptions(asked))
    assert [hit.record.kind for hit in hits] == ["semantic", "insight"]
