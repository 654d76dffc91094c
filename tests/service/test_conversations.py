"""What the server keeps of a conversation: references alone, pruned, and never in the way of a recall."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mcp_memory_server.errors import InvalidInput, StoreBusy
from mcp_memory_server.providers.base import PruneRequest
from mcp_memory_server.providers.sqlite import open_sqlite
from mcp_memory_server.recall import Block
from mcp_memory_server.service import Limits, MemoryService, Retention
from tests.people import ANN
from tests.watched_provider import WatchedProvider


async def filled(provider: WatchedProvider, retention: Retention | None = None) -> MemoryService:
    service = MemoryService(provider, limits=Limits(selective_over=1), retention=retention)
    for key, fact in (("office", "Lyon"), ("tea", "Green"), ("lunch", "Noodles")):
        await service.remember(ANN, key, fact)
    return service


async def test_a_set_that_cannot_be_written_is_told_and_the_notes_are_shown_all_the_same() -> None:
    provider = WatchedProvider()
    service = await filled(provider)
    provider.failing["surface"] = StoreBusy(5)
    recalled = await service.recall(ANN, objective="tea", conversation_id="talk")
    assert isinstance(recalled.outcome, Block)
    assert recalled.kept is False
    assert recalled.outcome.surfaced


async def test_the_whole_block_in_place_of_a_selection_counts_as_shown_to_nobody() -> None:
    """Section 8: "`degrade` …: surfaced is empty, nothing is lost"."""
    provider = WatchedProvider()
    service = await filled(provider)
    degraded = await service.recall(ANN, ids=["no such id"], conversation_id="talk")
    assert (degraded.name, degraded.kept) == ("degrade", True)
    assert (await service.recall(ANN, objective="tea", conversation_id="talk")).outcome.surfaced


async def test_sets_are_pruned_by_age_and_number_as_the_journal_is() -> None:
    provider = WatchedProvider()
    service = await filled(provider, Retention(days=7, digests=11))
    await service.recall(ANN, objective="tea", conversation_id="talk")
    (pruned,) = [request for name, request in provider.calls if name == "prune_surfaced"]
    assert isinstance(pruned, PruneRequest)
    assert (pruned.keep, pruned.actors) == (11, "")
    await service.recall(ANN, objective="tea", conversation_id="talk")
    assert provider.called().count("prune_surfaced") == 1


async def test_half_of_a_surrogate_pair_names_no_conversation() -> None:
    service = await filled(WatchedProvider())
    with pytest.raises(InvalidInput, match="conversation_id"):
        await service.recall(ANN, objective="tea", conversation_id="\ud800")


async def test_a_conversation_is_known_after_a_restart_and_forgets_what_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for outcome in ("block", "nothing_new"):
        async with open_sqlite(f"sqlite:///{path}") as provider:
            service = MemoryService(provider, limits=Limits(selective_over=0))
            if outcome == "block":
                await service.remember(ANN, "tea", "Green")
            assert (await service.recall(ANN, objective="tea", conversation_id="talk")).name == outcome
            if outcome == "nothing_new":
                await service.forget(ANN, key="tea")
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM conversation").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM surfaced").fetchone() == (0,)
