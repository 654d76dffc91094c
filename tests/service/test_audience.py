"""Who hears of a change: whoever may read what changed, as it was or as it is."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from mcp_memory_server import Actor, MemoryService
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.providers.base import ChangingProvider, Group, reports_changes
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.records import Sensitivity
from mcp_memory_server.service.audience import Audience, News
from mcp_memory_server.service.review import Proposal
from tests.people import ANN, BOB
from tests.watched_provider import WatchedProvider

CLEARED = replace(ANN, max_sensitivity="secret")
REVIEWER = RequestContext(Actor("rae", "acme", frozenset({"memory:reviewer"})))


class Listener:
    """A session that hears of whatever its audience does, batch by batch."""

    def __init__(self, provider: ChangingProvider, audience: Audience, cursor: int) -> None:
        self._provider = provider
        self._audience = audience
        self._cursor = cursor

    @classmethod
    async def of(cls, service: MemoryService, context: RequestContext = ANN) -> "Listener":
        provider = service.provider
        assert reports_changes(provider)
        return cls(provider, await service.audience(context), (await provider.changes(None)).cursor)

    async def hears(self) -> Sequence[str]:
        """The ids of what changed since it was asked last, as far as it hears of it."""
        batch = await self._provider.changes(self._cursor)
        self._cursor = batch.cursor
        return [change.id for change in await self._audience.heard(await News.of(self._provider, batch.changes))]


@pytest.fixture
def service() -> MemoryService:
    return MemoryService(InMemoryProvider())


async def _state(service: MemoryService, fact: str, sensitivity: Sensitivity, key: str = "salary") -> str:
    return (await service.state(ANN, key, fact, sensitivity=sensitivity)).record.id


async def test_whatever_happens_above_the_ceiling_is_not_heard_of(service: MemoryService) -> None:
    """Written, replaced, pinned, erased; of a record that was there before as of a new one."""
    old = await _state(service, "Earns forty", "secret", "old salary")
    ann, cleared = await Listener.of(service), await Listener.of(service, CLEARED)
    new = await _state(service, "Earns forty", "secret")
    for record in (old, new):
        await service.pin(ANN, record, pinned=True)
    assert set(await cleared.hears()) == {old, new}
    assert await ann.hears() == []
    await _state(service, "Earns fifty", "secret")
    await _state(service, "Earned fifty", "secret", "old salary")
    for record in (old, new):
        await service.forget(ANN, id=record)
    assert set(await cleared.hears()) == {old, new}
    assert await ann.hears() == []
    office = await _state(service, "Lyon", "internal", "office")
    assert await ann.hears() == [office]


async def test_a_new_record_above_the_ceiling_stays_unheard_of_however_often_it_changed(service: MemoryService) -> None:
    ann = await Listener.of(service)
    for fact in ("Earns forty", "Earns fifty"):
        await _state(service, fact, "secret")
    assert await ann.hears() == []


async def test_what_comes_into_sight_or_leaves_it_is_heard_of(service: MemoryService) -> None:
    """Else a client would go on showing what is kept from it by now."""
    ann = await Listener.of(service)
    record = await _state(service, "Earns forty", "internal")
    assert await ann.hears() == [record]
    await _state(service, "Earns fifty", "secret")
    assert await ann.hears() == [record]
    await _state(service, "Earns sixty", "secret")
    assert await ann.hears() == []
    await _state(service, "Earns sixty!", "public")
    assert await ann.hears() == [record]
    await service.forget(ANN, id=record)
    assert await ann.hears() == [record]


async def test_what_waits_at_a_wider_scope_is_heard_of_by_who_decides_about_it(service: MemoryService) -> None:
    early = await service.review.propose(BOB, Proposal("year", "Ends in April", "tenant:acme"))
    ann, reviewer = await Listener.of(service), await Listener.of(service, REVIEWER)
    late = await service.review.propose(BOB, Proposal("tone", "Formal", "tenant:acme"))
    assert await reviewer.hears() == [late.record.id]
    assert await ann.hears() == []
    await service.review.approve(REVIEWER, early.record.id)
    await service.review.reject(REVIEWER, late.record.id)
    assert set(await reviewer.hears()) == {early.record.id, late.record.id}
    assert await ann.hears() == [early.record.id]


async def test_scopes_of_others_are_not_heard_of(service: MemoryService) -> None:
    ann = await Listener.of(service)
    await service.remember(BOB, "office", "Brno")
    assert await ann.hears() == []


async def test_where_no_history_is_kept_nothing_above_the_ceiling_is_heard_of() -> None:
    service = MemoryService(WatchedProvider(without=[Group.HISTORY]))
    ann = await Listener.of(service)
    record = await _state(service, "Earns forty", "internal")
    assert await ann.hears() == [record]
    await _state(service, "Earns fifty", "secret")
    assert await ann.hears() == []


async def test_nobody_hears_nothing() -> None:
    provider = InMemoryProvider()
    await MemoryService(provider).remember(ANN, "office", "Lyon")
    batch = await provider.changes(0)
    assert batch.changes
    assert await Audience.nobody().heard(await News.of(provider, batch.changes)) == []
