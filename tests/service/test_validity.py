"""A default read is as of now: a fact outside the time in which it is true is not shown."""

from mcp_memory_server import MemoryService, open_provider
from tests.people import ANN, ANN_IN_SHOP

NOW = "2026-06-01T00:00:00.000Z"


async def test_a_fact_is_shown_from_its_beginning_until_its_end() -> None:
    async with open_provider("memory://") as provider, MemoryService(provider, now=lambda: NOW) as service:
        await service.remember(ANN, "over", "Works in Lyon", valid_to="2026-05-31T00:00:00Z")
        await service.remember(ANN, "ends-now", "Works in Porto", valid_to=NOW)
        await service.remember(ANN, "to-come", "Works in Gent", valid_from="2026-07-01T00:00:00Z")
        await service.remember(ANN, "holds", "Works in Nantes", valid_from=NOW, valid_to="2027-01-01T00:00:00Z")
        listed = await service.offer(ANN)
        asked = await service.offer(ANN, "Where does she works?")
    assert [entry.key for entry in listed.digest.entries] == ["holds"]
    assert listed.digest.omitted == 0
    assert [entry.key for entry in asked.digest.entries] == ["holds"]


async def test_a_wider_answer_stands_where_the_narrower_one_has_ended() -> None:
    async with open_provider("memory://") as provider, MemoryService(provider, now=lambda: NOW) as service:
        await service.state(ANN, "office", "Everyone in Lyon", scope="tenant:acme", elevated=True)
        await service.remember(ANN, "office", "Seconded to Porto", valid_to="2026-01-01T00:00:00Z")
        (entry,) = (await service.offer(ANN)).digest.entries
    assert (entry.scope, entry.overrides) == ("tenant:acme", ())


async def test_a_write_that_a_narrower_answer_outranks_says_so() -> None:
    async with open_provider("memory://") as provider, MemoryService(provider) as service:
        await service.remember(ANN_IN_SHOP, "day", "Tuesday", where="project")
        done = await service.remember(ANN_IN_SHOP, "day", "Wednesday")
    assert [value.text for value in done.outranked_by] == ["Tuesday"]
