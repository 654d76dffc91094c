"""What a person does at the console: state, publish, pin, take in."""

import pytest

from mcp_memory_server.errors import InvalidInput, NotFound, NotSupported, Refused
from mcp_memory_server.providers.base import Group
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.records import MemoryOrigin, MemoryRecord
from mcp_memory_server.service import MemoryService
from tests.people import ANN, ANN_IN_SHOP, BOB
from tests.watched_provider import WatchedProvider


def _record(id: str, scope: str, key: str = "office", text: str = "Lyon", version: int = 1) -> MemoryRecord:
    return MemoryRecord(
        id=id,
        key=key,
        text=text,
        scope=scope,
        version=version,
        origin=MemoryOrigin(author="human"),
        updated_at=f"2026-03-01T09:00:{version:02}Z",
    )


# --- stating ----------------------------------------------------------------------------------------


async def test_what_a_person_states_is_theirs_and_stands_at_their_own_scope() -> None:
    service = MemoryService(InMemoryProvider())
    record = (await service.state(ANN_IN_SHOP, "tone", "brief")).record
    assert (record.scope, record.origin.author, record.origin.actor_ref) == ("actor:ann", "human", "ann")
    assert (await service.state(ANN_IN_SHOP, "tone", "long", where="project")).record.scope == "actor:ann#shop"


async def test_publishing_at_a_wider_scope_needs_elevation_and_a_scope_that_applies() -> None:
    service = MemoryService(InMemoryProvider())
    with pytest.raises(Refused, match="--elevated"):
        await service.state(ANN, "tone", "brief", scope="tenant:acme")
    for foreign in ("tenant:other", "actor:bob", "actor:ann#unconfigured"):
        with pytest.raises(Refused, match="does not apply"):
            await service.state(ANN, "tone", "brief", scope=foreign, elevated=True)
    published = await service.state(ANN, "tone", "brief", scope="tenant:acme", elevated=True)
    assert (published.record.scope, published.record.origin.author) == ("tenant:acme", "human")
    assert [entry.text for entry in (await service.offer(BOB)).digest.entries] == ["brief"]


# --- pinning ----------------------------------------------------------------------------------------


async def test_a_pin_stays_through_corrections_until_it_is_taken_away() -> None:
    service = MemoryService(InMemoryProvider())
    tone = (await service.remember(ANN, "tone", "brief")).record
    assert (await service.pin(ANN, tone.id, pinned=True)).pinned
    assert (await service.remember(ANN, "tone", "long")).record.pinned
    unpinned = await service.pin(ANN, tone.id, pinned=False)
    assert (unpinned.pinned, unpinned.text, unpinned.version) == (False, "long", 2)


async def test_pinning_what_others_share_needs_elevation() -> None:
    service = MemoryService(InMemoryProvider())
    tone = (await service.state(ANN, "tone", "brief", scope="tenant:acme", elevated=True)).record
    with pytest.raises(Refused, match="--elevated"):
        await service.pin(ANN, tone.id, pinned=True)
    assert (await service.pin(ANN, tone.id, pinned=True, elevated=True)).pinned


async def test_unknown_and_foreign_records_cannot_be_pinned_and_look_the_same() -> None:
    service = MemoryService(InMemoryProvider())
    bobs = (await service.remember(BOB, "tone", "brief")).record.id
    messages: set[str] = set()
    for id in ("no such id", bobs):
        with pytest.raises(NotFound) as refused:
            await service.pin(ANN, id, pinned=True, elevated=True)
        messages.add(str(refused.value).replace(repr(id), "…"))
    assert len(messages) == 1


# --- taking in --------------------------------------------------------------------------------------


async def test_records_come_in_as_they_left_with_their_history() -> None:
    source, target = MemoryService(InMemoryProvider()), MemoryService(InMemoryProvider())
    await source.remember(ANN, "office", "Lyon")
    office = (await source.remember(ANN, "office", "Porto", tags=["work"])).record
    await source.pin(ANN, office.id, pinned=True)
    held = [versions async for versions in source.held_versions(["actor:ann"])]
    assert await target.take_in(ANN, held) == 1
    assert [versions async for versions in target.held_versions(["actor:ann"])] == held
    assert await target.take_in(ANN, held) == 0


async def test_one_s_own_projects_may_be_taken_in_whichever_is_configured() -> None:
    service = MemoryService(InMemoryProvider())
    assert await service.take_in(ANN, [(_record("1", "actor:ann#garden"),)]) == 1


@pytest.mark.parametrize(
    ("scope", "elevated", "any_scope", "allowed"),
    [
        ("tenant:acme", False, False, False),
        ("tenant:acme", True, False, True),
        ("actor:bob", True, False, False),
        ("actor:bob", False, True, False),
        ("actor:bob", True, True, True),
    ],
)
async def test_scopes_above_the_own_one_are_taken_in_by_the_elevated_only(
    scope: str, elevated: bool, any_scope: bool, allowed: bool
) -> None:
    store = InMemoryProvider()
    service = MemoryService(store)
    records = [(_record("1", "actor:ann"),), (_record("2", scope),)]
    if allowed:
        assert await service.take_in(ANN, records, elevated=elevated, any_scope=any_scope) == 2
    else:
        with pytest.raises(Refused):
            await service.take_in(ANN, records, elevated=elevated, any_scope=any_scope)
        assert await store.scopes() == ()


async def test_a_record_does_not_come_in_over_one_that_the_caller_may_not_write() -> None:
    service = MemoryService(InMemoryProvider())
    bobs = (await service.remember(BOB, "office", "Brno")).record
    with pytest.raises(Refused):
        await service.take_in(ANN, [(_record(bobs.id, "actor:ann"),)])
    assert await service.find(["actor:bob"], key="office") == (bobs,)


async def test_when_one_record_cannot_be_taken_in_none_is() -> None:
    store = InMemoryProvider()
    falling = (_record("2", "actor:ann", "k", version=2), _record("2", "actor:ann", "k", version=1))
    with pytest.raises(InvalidInput, match="record 2"):
        await MemoryService(store).take_in(ANN, [(_record("1", "actor:ann"),), falling])
    assert await store.scopes() == ()


async def test_a_provider_that_cannot_restore_says_so() -> None:
    with pytest.raises(NotSupported, match="cannot take in records"):
        await MemoryService(WatchedProvider(without=[Group.RESTORE])).take_in(ANN, [])
