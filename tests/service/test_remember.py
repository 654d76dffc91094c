"""Recording a fact: where it goes, what it replaces and overrides, and why it may be refused."""

from collections.abc import Sequence
from typing import Any

import pytest

from mcp_memory_server.errors import Conflict, InvalidInput, MemoryServerError, NotFound, NotSupported, Refused
from mcp_memory_server.providers.base import Group
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.service import Limits, MemoryService
from tests.golden_cases import golden_cases
from tests.people import ANN, ANN_IN_SHOP, ANNS_SCOPES, BOB, Membership
from tests.watched_provider import WatchedProvider


@pytest.mark.parametrize("case", golden_cases("rules.jsonl", ["remember"]))
async def test_what_may_be_remembered_is_golden(case: dict[str, Any]) -> None:
    provider = WatchedProvider(without=[Group.WRITE] if case["read_only"] else [])
    service = MemoryService(provider, resolver=Membership(case["scopes"]))
    assert service.writable is not case["read_only"]
    try:
        record = (await service.remember(ANN, case["key"], case["fact"])).record
    except MemoryServerError:
        assert not case["ok"]
        assert await provider.store.scopes() == ()
    else:
        assert case["ok"]
        shown = record.model_dump(include={"key", "text", "scope", "origin"})
        assert shown == case["stored"]


# --- what is wrong ----------------------------------------------------------------------------------


async def test_every_wrong_argument_is_named_at_once_with_its_limit() -> None:
    service = MemoryService(InMemoryProvider())
    with pytest.raises(InvalidInput) as refused:
        await service.remember(
            ANN,
            "a:b",
            "x" * 241,
            tags=[str(number) for number in range(17)],
            valid_from="2026-03-01T09:00:00",
            valid_to="next week",
            if_version=-1,
        )
    arguments = [problem.argument for problem in refused.value.problems]
    assert arguments == ["key", "fact", "tags", "valid_from", "valid_to", "if_version"]
    message = str(refused.value)
    for limit in ("has 241 characters and the limit is 240", "has 17 entries and the limit is 16", "no time zone"):
        assert limit in message


async def test_a_fact_that_ends_before_it_begins_is_refused_with_both_times() -> None:
    service = MemoryService(InMemoryProvider())
    with pytest.raises(InvalidInput, match=r"2026-02-01T00:00:00.000Z.*2026-03-01T00:00:00.000Z"):
        await service.remember(
            ANN, "office", "Lyon", valid_from="2026-03-01T00:00:00Z", valid_to="2026-02-01T01:00:00+01:00"
        )


async def test_the_limit_of_a_fact_is_the_setting_and_counts_what_would_be_stored() -> None:
    service = MemoryService(InMemoryProvider(), limits=Limits(max_fact_chars=4))
    assert (await service.remember(ANN, "k", " e\u0301\u200babc\n")).record.text == "éabc"
    with pytest.raises(InvalidInput, match="has 5 characters and the limit is 4"):
        await service.remember(ANN, "k", "abcde")


async def test_a_store_that_cannot_be_written_refuses_and_says_what_to_do() -> None:
    provider = WatchedProvider(without=[Group.WRITE])
    service = MemoryService(provider)
    assert not service.writable
    for attempt in (service.remember(ANN, "k", "f"), service.state(ANN, "k", "f"), service.pin(ANN, "1", pinned=True)):
        with pytest.raises(NotSupported, match=r"'watched' cannot be written to.*Configure a writable store"):
            await attempt
    assert provider.called() == []


# --- what becomes of it -----------------------------------------------------------------------------


async def test_a_new_key_is_stored_another_fact_replaces_it_and_the_same_one_leaves_it() -> None:
    service = MemoryService(InMemoryProvider())
    stored = await service.remember(ANN, "office", "Lyon")
    replaced = await service.remember(ANN, " office ", "Porto")
    unchanged = await service.remember(ANN, "office", "Porto\n")
    assert [done.status for done in (stored, replaced, unchanged)] == ["stored", "replaced", "unchanged"]
    assert (stored.previous, replaced.previous, unchanged.previous) == (None, stored.record, None)
    assert unchanged.record == replaced.record
    assert (replaced.record.id, replaced.record.version) == (stored.record.id, 2)


async def test_the_wider_answers_that_the_fact_overrides_are_named_widest_last() -> None:
    service = MemoryService(InMemoryProvider())
    await service.state(ANN, "tone", "from all", scope="global", elevated=True)
    await service.state(ANN, "tone", "from acme", scope="tenant:acme", elevated=True)
    await service.remember(BOB, "tone", "from Bob")
    done = await service.remember(ANN, "tone", "from Ann")
    told = [(value.scope, value.text, value.author) for value in done.overrides]
    assert told == [("tenant:acme", "from acme", "human"), ("global", "from all", "human")]


async def test_keys_that_look_like_the_same_question_are_named_when_the_key_is_new() -> None:
    service = MemoryService(InMemoryProvider())
    await service.remember(ANN, "timezone", "CET")
    await service.remember(BOB, "time zone", "Bob's")
    await service.remember(ANN, "editor", "Helix")
    assert (await service.remember(ANN, "time-zone", "CET")).similar_keys == ("timezone",)
    assert (await service.remember(ANN, "time-zone", "UTC")).similar_keys == ()


async def test_writing_over_a_version_that_is_no_longer_current_is_a_conflict_with_the_current_one() -> None:
    service = MemoryService(InMemoryProvider())
    await service.remember(ANN, "office", "Lyon")
    await service.remember(ANN, "office", "Porto", if_version=1)
    with pytest.raises(Conflict) as conflict:
        await service.remember(ANN, "office", "Brno", if_version=1)
    assert (conflict.value.current_version, conflict.value.current_text) == (2, "Porto")
    (office,) = await service.find(ANNS_SCOPES, key="office")
    assert (office.text, office.version) == ("Porto", 2)


async def test_version_0_writes_only_where_there_is_none_yet() -> None:
    service = MemoryService(InMemoryProvider())
    assert (await service.remember(ANN, "office", "Lyon", if_version=0)).status == "stored"
    with pytest.raises(Conflict):
        await service.remember(ANN, "office", "Porto", if_version=0)
    with pytest.raises(Conflict) as conflict:
        await service.remember(ANN, "editor", "Helix", if_version=3)
    assert (conflict.value.current_version, conflict.value.current_text) == (0, None)


# --- where --------------------------------------------------------------------------------------------


async def test_a_fact_goes_to_the_actor_unless_it_is_for_the_project() -> None:
    service = MemoryService(InMemoryProvider())
    assert (await service.remember(ANN_IN_SHOP, "k", "f")).record.scope == "actor:ann"
    done = await service.remember(ANN_IN_SHOP, "k", "g", where="project")
    assert done.record.scope == "actor:ann#shop"
    assert [value.scope for value in done.overrides] == ["actor:ann"]


async def test_without_a_project_nothing_can_be_written_to_one() -> None:
    with pytest.raises(InvalidInput, match="no project is configured"):
        await MemoryService(InMemoryProvider()).remember(ANN, "k", "f", where="project")


# --- authorised by a digest -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("then", "now", "allowed"),
    [
        (ANNS_SCOPES, ("tenant:acme", "global"), True),
        (("tenant:acme", "global"), ANNS_SCOPES, False),
    ],
)
async def test_a_write_out_of_a_digest_is_judged_by_the_scopes_of_that_time(
    then: Sequence[str], now: Sequence[str], allowed: bool
) -> None:
    membership = Membership(then)
    service = MemoryService(InMemoryProvider(), resolver=membership)
    digest_id = (await service.offer(ANN)).digest.digest_id
    membership.scopes = now
    if allowed:
        assert (await service.remember(ANN, "k", "f", digest_id=digest_id)).record.scope == "actor:ann"
    else:
        with pytest.raises(Refused, match="does not apply"):
            await service.remember(ANN, "k", "f", digest_id=digest_id)


async def test_a_write_out_of_an_unknown_or_foreign_digest_is_refused_like_its_replay() -> None:
    service = MemoryService(InMemoryProvider())
    bobs = str((await service.offer(BOB, turn_id="1")).digest.digest_id)
    for digest_id in ("no such id", bobs):
        with pytest.raises(NotFound) as of_write:
            await service.remember(ANN, "k", "f", digest_id=digest_id)
        with pytest.raises(NotFound) as of_replay:
            await service.offer(ANN, digest_id=digest_id)
        assert str(of_write.value) == str(of_replay.value)
