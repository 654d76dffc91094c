"""Asking again: a replay must not see a different memory, save for what was erased."""

import re
from collections.abc import Awaitable, Callable

import anyio
import pytest

from mcp_memory_server.errors import NotFound
from mcp_memory_server.providers.base import Listing, ListRequest, PruneRequest
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.service import MemoryService, Offered
from tests.people import ANN, BOB

Again = Callable[[MemoryService, Offered], Awaitable[Offered]]


async def _by_turn(service: MemoryService, first: Offered) -> Offered:
    return await service.offer(ANN, turn_id="turn 1")


async def _by_turn_with_another_query(service: MemoryService, first: Offered) -> Offered:
    return await service.offer(ANN, "something else", max_memories=1, turn_id="turn 1")


async def _by_digest(service: MemoryService, first: Offered) -> Offered:
    return await service.offer(ANN, digest_id=first.digest.digest_id)


AGAIN: list[Again] = [_by_turn, _by_turn_with_another_query, _by_digest]


async def _offer_of_some_memory(service: MemoryService) -> Offered:
    """A digest with a pin that came from a wider record, an override, and one entry left out."""
    tone = await service.state(ANN, "tone", "stiff and formal", scope="tenant:acme", elevated=True)
    await service.pin(ANN, tone.record.id, pinned=True, elevated=True)
    await service.remember(ANN, "tone", "easy-going")
    await service.remember(ANN, "lunch", "ramen")
    await service.remember(ANN, "editor", "Helix")
    return await service.offer(ANN, max_memories=2, turn_id="turn 1")


@pytest.mark.parametrize("again", AGAIN)
async def test_the_same_digest_comes_byte_for_byte_whatever_was_written_since(again: Again) -> None:
    service = MemoryService(InMemoryProvider())
    first = await _offer_of_some_memory(service)
    await service.remember(ANN, "tone", "neutral")
    await service.state(ANN, "tone", "stiffer", scope="tenant:acme", elevated=True)
    await service.remember(ANN, "editor", "Vim")
    await service.remember(ANN, "a new key", "a new fact")
    (tone,) = await service.find(["tenant:acme"], key="tone")
    await service.pin(ANN, tone.id, pinned=False, elevated=True)
    second = await again(service, first)
    assert second.digest.model_dump_json().encode() == first.digest.model_dump_json().encode()
    assert service.block(second).encode() == service.block(first).encode()
    assert (second.journaled, second.erased) == (True, 0)


@pytest.mark.parametrize("again", AGAIN)
async def test_what_was_forgotten_is_gone_from_the_replay_and_counted(again: Again) -> None:
    service = MemoryService(InMemoryProvider())
    first = await _offer_of_some_memory(service)
    await service.forget(ANN, key="editor")
    (published,) = await service.find(["tenant:acme"], key="tone")
    await service.forget(ANN, id=published.id, elevated=True)
    second = await again(service, first)
    assert second.erased == 2
    assert [(entry.text, entry.overrides) for entry in second.digest.entries] == [("easy-going", ())]
    assert "Helix" not in service.block(second)
    assert "formal" not in service.block(second)


async def test_a_key_written_anew_after_it_was_forgotten_does_not_come_back_in_a_replay() -> None:
    service = MemoryService(InMemoryProvider())
    await service.remember(ANN, "editor", "Helix")
    first = await service.offer(ANN)
    await service.forget(ANN, key="editor")
    await service.remember(ANN, "editor", "Vim")
    second = await service.offer(ANN, digest_id=first.digest.digest_id)
    assert (second.digest.entries, second.erased) == ((), 1)


async def test_a_turn_belongs_to_its_actor() -> None:
    service = MemoryService(InMemoryProvider())
    first = await _offer_of_some_memory(service)
    bobs = await service.offer(BOB, turn_id="turn 1")
    assert bobs.digest.digest_id != first.digest.digest_id
    assert "actor:ann" not in bobs.digest.model_dump_json()


async def test_unknown_foreign_and_pruned_digests_get_one_and_the_same_error() -> None:
    store = InMemoryProvider()
    service = MemoryService(store)
    bobs = (await service.offer(BOB, turn_id="1")).digest.digest_id
    pruned = (await service.offer(ANN, turn_id="1")).digest.digest_id
    await service.offer(BOB, digest_id=bobs)
    messages = [await _refusal(service, "no such id"), await _refusal(service, str(bobs))]
    await store.prune_journal(PruneRequest(before="9999-01-01T00:00:00.000Z", keep=0))
    messages.append(await _refusal(service, str(pruned)))
    unnamed = [re.sub("'.*'", "…", message) for message in messages]
    assert unnamed == [unnamed[0]] * 3


async def _refusal(service: MemoryService, digest_id: str) -> str:
    with pytest.raises(NotFound) as refused:
        await service.offer(ANN, digest_id=digest_id)
    return str(refused.value)


class MeetingProvider(InMemoryProvider):
    """Lists only when two callers are there: both have found the turn unanswered by then."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = 0
        self.both = anyio.Event()

    async def list(self, request: ListRequest) -> Listing:
        self.waiting += 1
        if self.waiting == 2:
            self.both.set()
        await self.both.wait()
        return await super().list(request)


async def test_two_services_that_answer_one_turn_at_once_give_one_answer() -> None:
    store = MeetingProvider()
    answers: list[Offered] = []

    async def answer() -> None:
        answers.append(await MemoryService(store).offer(ANN, turn_id="turn 1"))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer)
            tasks.start_soon(answer)
    one, other = answers
    assert store.waiting == 2
    assert one == other
    assert (await MemoryService(store).offer(ANN, turn_id="turn 1")) == one
