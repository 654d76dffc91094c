"""Episodes, notes of one conversation, and notes for several agents."""

from dataclasses import replace

import pytest

from mcp_memory_server import MemoryService
from mcp_memory_server.errors import InvalidInput, NotFound
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.service import SearchOptions
from mcp_memory_server.service.kinds import PERSON, Span
from tests.people import ANN

NOW = "2026-06-01T00:00:00.000Z"


@pytest.fixture
def service() -> MemoryService:
    return MemoryService(InMemoryProvider(), now=lambda: NOW)


async def test_an_episode_says_when_it_was(service: MemoryService) -> None:
    """9.1: `episodic` summary (`started_at`, `ended_at`)."""
    span = Span("2026-03-01T10:00:00+01:00", "2026-03-02T10:00:00+01:00")
    done = await service.kinds.notes.episode(ANN, "move", "Moved to Lyon", span)
    assert (done.record.kind, done.record.text) == ("episodic", "Moved to Lyon")
    block = service.block(await service.offer(ANN))
    assert "move: Moved to Lyon (note, 2026-03-01 09:00Z to 2026-03-02 09:00Z)" in block


async def test_an_episode_is_not_there_before_it_began(service: MemoryService) -> None:
    """9.3: episodes: `started_at` <= T."""
    await service.kinds.notes.episode(ANN, "move", "Moved to Lyon", Span("2026-03-01T09:00:00Z"))
    assert await service.search(ANN, SearchOptions(as_of="2026-02-28T00:00:00Z", known_at=NOW)) == ()
    assert len(await service.search(ANN, SearchOptions(as_of="2026-03-01T09:00:00Z", known_at=NOW))) == 1


async def test_wrong_times_of_an_episode_are_refused(service: MemoryService) -> None:
    for span, said in (
        (Span("2026-03-01T09:00:00"), "started_at has no time zone"),
        (Span("2026-03-01T09:00:00Z", "2026-02-01T09:00:00Z"), "ended_at .* is before started_at"),
    ):
        with pytest.raises(InvalidInput, match=said):
            await service.kinds.notes.episode(ANN, "move", "Moved", span)


async def test_a_note_of_one_conversation_is_shown_in_that_one_only(service: MemoryService) -> None:
    """9.1: `session` (one thread's)."""
    here, there = replace(ANN, thread_id="here"), replace(ANN, thread_id="there")
    await service.kinds.notes.note(here, "draft", "Version seven is open", "session")
    await service.kinds.notes.note(there, "draft", "Version nine is open", "session")
    for context, text in ((here, "Version seven is open"), (there, "Version nine is open")):
        for query in ("", "Which version is open?"):
            assert [entry.text for entry in (await service.offer(context, query)).digest.entries] == [text]
        assert [version.text for version in (await service.history(context, key="draft")).versions] == [text]
    block = service.block(await service.offer(here))
    assert "Notes of this conversation only.\n- [actor:ann] draft: Version seven is open (note)" in block


async def test_another_conversation_s_note_has_no_history_here(service: MemoryService) -> None:
    note = (await service.kinds.notes.note(replace(ANN, thread_id="here"), "draft", "Seven", "session")).record
    with pytest.raises(NotFound):
        await service.history(replace(ANN, thread_id="there"), id=note.id)
    with pytest.raises(NotFound):
        await service.history(replace(ANN, thread_id="there"), key="draft")
    assert len((await service.history(ANN, id=note.id, scopes=("actor:ann",))).versions) == 1


async def test_a_note_of_a_conversation_needs_one(service: MemoryService) -> None:
    with pytest.raises(InvalidInput, match="audience is 'session', but this request belongs to no conversation"):
        await service.kinds.notes.note(replace(ANN, thread_id=None), "draft", "text", "session")


async def test_what_several_agents_share_has_no_owner_among_them(service: MemoryService) -> None:
    """9.1: `shared` (published to several agents)."""
    done = await service.kinds.notes.note(ANN, "deploy", "Runs on Fridays", "shared", PERSON)
    assert (done.record.kind, done.record.owner) == ("shared", "shared")
    assert "deploy: Runs on Fridays (person)" in service.block(await service.offer(ANN))
    assert len(await service.search(ANN, SearchOptions(owner="shared"))) == 1


async def test_a_fact_that_is_too_long_is_refused_for_every_kind(service: MemoryService) -> None:
    with pytest.raises(InvalidInput, match="the limit is 240"):
        await service.kinds.notes.note(ANN, "k", "x" * 241, "shared")
    with pytest.raises(InvalidInput, match="the limit is 240"):
        await service.kinds.notes.episode(ANN, "k", "x" * 241, Span(NOW))
