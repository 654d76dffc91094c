"""The journal neither delays nor fails a recall, and says when it could not be written."""

import hashlib

import anyio
import pytest

from mcp_memory_server.errors import InvalidInput, NotFound, StoreBusy
from mcp_memory_server.identity import journal_name
from mcp_memory_server.providers.base import Group, JournaledDigest, JournalLookup
from mcp_memory_server.service import MemoryService, Retention
from tests.people import ANN
from tests.watched_provider import WatchedProvider


def _journaled(provider: WatchedProvider) -> list[JournaledDigest]:
    return [digest for name, batch in provider.calls if name == "journal" for digest in batch]


async def test_with_a_turn_the_entry_is_written_before_the_answer() -> None:
    provider = WatchedProvider()
    offered = await MemoryService(provider).offer(ANN, turn_id="turn 1")
    (entry,) = _journaled(provider)
    assert entry.digest_id == offered.digest.digest_id
    assert entry.turn_id is not None
    assert offered.journaled


async def test_the_caller_s_name_for_a_turn_never_reaches_the_store() -> None:
    """Any text is a name, so somebody's secret may stand in it (spec section 9.6: never stored)."""
    provider = WatchedProvider()
    service = MemoryService(provider)
    offered = await service.offer(ANN, turn_id="turn with hunter2")
    assert "hunter2" not in repr(_journaled(provider))
    assert (await service.offer(ANN, turn_id="turn with hunter2")).digest == offered.digest


async def test_without_a_turn_nothing_waits_for_the_journal() -> None:
    provider = WatchedProvider()
    offered = await MemoryService(provider).offer(ANN)
    assert provider.called() == ["list"]
    assert offered.journaled


async def test_the_background_writes_what_was_offered() -> None:
    provider = WatchedProvider()
    async with MemoryService(provider) as service:
        first = await service.offer(ANN)
        second = await service.offer(ANN)
        with anyio.fail_after(5):
            await provider.done["journal"].wait()
    assert [digest.digest_id for digest in _journaled(provider)] == [first.digest.digest_id, second.digest.digest_id]


async def test_leaving_the_service_writes_what_waits() -> None:
    provider = WatchedProvider()
    async with MemoryService(provider) as service:
        offered = await service.offer(ANN)
        assert _journaled(provider) == []
    assert [digest.digest_id for digest in _journaled(provider)] == [offered.digest.digest_id]


async def test_forgetting_writes_first_what_waits() -> None:
    provider = WatchedProvider()
    service = MemoryService(provider)
    await service.remember(ANN, "editor", "Helix")
    await service.offer(ANN)
    await service.forget(ANN, key="editor")
    called = provider.called()
    assert called.index("journal") < called.index("forget")


async def test_a_turn_that_cannot_be_journaled_is_answered_and_says_so() -> None:
    provider = WatchedProvider()
    service = MemoryService(provider)
    await service.remember(ANN, "editor", "Helix")
    provider.failing["journal"] = StoreBusy(1)
    offered = await service.offer(ANN, turn_id="turn 1")
    assert [entry.text for entry in offered.digest.entries] == ["Helix"]
    assert not offered.journaled
    assert not (await service.offer(ANN)).journaled


async def test_what_could_not_be_journaled_is_written_when_the_store_can_be_again() -> None:
    provider = WatchedProvider()
    service = MemoryService(provider)
    provider.failing["journal"] = StoreBusy(1)
    missed = await service.offer(ANN, turn_id="turn 1")
    provider.failing.clear()
    assert await service.offer(ANN, turn_id="turn 1") == await service.offer(ANN, digest_id=missed.digest.digest_id)
    assert (await service.offer(ANN)).journaled


@pytest.mark.parametrize("missing", [Group.JOURNAL, Group.HISTORY])
async def test_without_a_journal_digests_are_offered_and_cannot_be_asked_for_again(missing: Group) -> None:
    service = MemoryService(WatchedProvider(without=[missing]))
    offered = await service.offer(ANN, turn_id="turn 1")
    assert not offered.journaled
    with pytest.raises(NotFound):
        await service.offer(ANN, digest_id=offered.digest.digest_id)


async def test_the_journal_holds_neither_texts_nor_the_query() -> None:
    provider = WatchedProvider()
    service = MemoryService(provider)
    await service.remember(ANN, "editor", "uses Helix")
    for turn in ("1", "2"):
        await service.offer(ANN, "  which Helix?", turn_id=turn)
    one, other = _journaled(provider)
    assert "Helix" not in repr(one)
    assert one.query_hash == other.query_hash
    assert one.query_hash != hashlib.sha256(b"which Helix?").hexdigest()


async def test_the_journal_is_pruned_by_age_and_count() -> None:
    provider = WatchedProvider()
    old = MemoryService(provider, now=lambda: "2020-01-01T00:00:00.000Z")
    gone = await old.offer(ANN, turn_id="long ago")
    kept = MemoryService(provider, retention=Retention(days=30, digests=1))
    held = await kept.offer(ANN, turn_id="now")
    me = journal_name(ANN.actor)
    assert await provider.store.journaled(JournalLookup(me, digest_id=gone.digest.digest_id)) is None
    assert await provider.store.journaled(JournalLookup(me, digest_id=held.digest.digest_id)) is not None


@pytest.mark.parametrize("half", ["\ud800", "what of \udfff?"])
async def test_a_query_with_half_a_surrogate_pair_is_journaled_like_any_other(half: str) -> None:
    provider = WatchedProvider()
    service = MemoryService(provider)
    await service.offer(ANN, half)
    assert (await service.offer(ANN, turn_id="1")).journaled
    assert len(_journaled(provider)) == 2


async def test_a_turn_that_no_store_can_name_is_refused_and_leaves_the_journal_well() -> None:
    service = MemoryService(WatchedProvider())
    with pytest.raises(InvalidInput, match="turn_id holds half of a surrogate pair"):
        await service.offer(ANN, turn_id="\ud800")
    with pytest.raises(InvalidInput, match="digest_id holds half of a surrogate pair"):
        await service.offer(ANN, digest_id="\ud800")
    assert (await service.offer(ANN, turn_id="1")).journaled


async def test_a_digest_that_another_server_has_just_shown_is_found() -> None:
    """Its entry is not written yet, and the client goes on elsewhere at once."""
    provider = WatchedProvider()
    other = MemoryService(provider)
    async with MemoryService(provider) as first:
        shown = await first.offer(ANN)
        assert not _journaled(provider)
        with anyio.fail_after(10):
            again = await other.offer(ANN, digest_id=shown.digest.digest_id)
        assert again.digest == shown.digest


async def test_what_is_shown_after_a_replay_is_written_too() -> None:
    """A lookup writes all that waits by itself, and must not leave the writer asleep."""
    provider = WatchedProvider()
    async with MemoryService(provider) as service:
        await service.offer(ANN, digest_id=(await service.offer(ANN)).digest.digest_id)
        shown = await service.offer(ANN)
        with anyio.fail_after(10):
            while _journaled(provider)[-1].digest_id != shown.digest.digest_id:  # noqa: ASYNC110  # it is for the writer
                await anyio.sleep(0.02)


async def test_one_that_never_arrives_is_not_waited_for_without_end() -> None:
    provider = WatchedProvider()
    ended = await MemoryService(provider).offer(ANN)  # nothing writes its journal
    with anyio.fail_after(10), pytest.raises(NotFound):
        await MemoryService(provider).offer(ANN, digest_id=ended.digest.digest_id)
