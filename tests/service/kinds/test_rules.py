"""Rules: recorded, tried, counted, and promoted when they have proven themselves."""

from dataclasses import replace

import anyio
import pytest

from mcp_memory_server import MemoryService, open_provider
from mcp_memory_server.errors import Conflict, InvalidInput, NotFound, Refused
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.providers.base import Group, ReviseRequest, WriteRequest
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.records import MemoryOrigin, MemoryRecord, Rule
from mcp_memory_server.service import Limits
from mcp_memory_server.service.kinds import PERSON, Writer
from tests.people import ANN, BOB
from tests.watched_provider import WatchedProvider

RULE = Rule(condition="a release is due", steps=("Run checks", "Tag {version}"), priority=1)


@pytest.fixture
def service() -> MemoryService:
    return MemoryService(InMemoryProvider())


def in_thread(name: str | None) -> RequestContext:
    return replace(ANN, thread_id=name)


async def waiting(service: MemoryService, **fields: object) -> MemoryRecord:
    """A rule that was induced and waits for review."""
    held: dict[str, object] = {
        "provenance": "induction",
        "status": "quarantined",
        "held_because": "provenance: induction",
        **fields,
    }
    origin = MemoryOrigin(author="agent", actor_ref="ann")
    request = WriteRequest(
        "actor:ann", "release", "text", origin, "2026-03-01T09:00:00.000Z", kind="procedural", rule=RULE
    )
    provider = service.provider
    assert isinstance(provider, InMemoryProvider)
    return (await provider.write(replace(request, **held))).record


async def test_a_rule_is_shown_with_its_steps_and_found_by_them(service: MemoryService) -> None:
    """9.1: `procedural` rule."""
    done = await service.kinds.rules.record(ANN, "release", RULE)
    assert (done.status, done.record.kind, done.record.rule) == ("stored", "procedural", RULE)
    assert "    1. Run checks\n    2. Tag {version}\n" in service.block(await service.offer(ANN))
    for number in range(30):
        await service.remember(ANN, f"fact {number}", f"Likes number {number}")
    found = await service.offer(ANN, "How do I tag a version?", max_memories=1)
    assert [entry.key for entry in found.digest.entries] == ["release"]


async def test_every_wrong_part_is_named(service: MemoryService) -> None:
    with pytest.raises(InvalidInput) as refused:
        await service.kinds.rules.record(ANN, "release", Rule(condition="", priority=999))
    assert {problem.argument for problem in refused.value.problems} == {"condition", "steps", "priority"}


async def test_outcomes_are_counted_as_versions_of_the_same_statement(service: MemoryService) -> None:
    """9.1: `success_count`; a count is no new statement, so author and text stay, and history says when it rose."""
    done = await service.kinds.rules.record(ANN, "release", RULE, writer=PERSON)
    first = await service.kinds.rules.report(in_thread("a"), done.record.id, succeeded=True)
    second = await service.kinds.rules.report(in_thread("b"), done.record.id, succeeded=False)
    assert (first.counted, second.counted, second.promoted) == (True, True, False)
    rule = second.record.rule
    assert rule is not None
    assert (rule.success_count, rule.failure_count) == (1, 1)
    assert (second.record.version, second.record.origin, second.record.text) == (
        3,
        done.record.origin,
        done.record.text,
    )
    assert len(await service.record_versions(ANN, done.record.id)) == 3


async def test_one_conversation_counts_one_success(service: MemoryService) -> None:
    done = await service.kinds.rules.record(ANN, "release", RULE)
    for counted in (True, False, False):
        outcome = await service.kinds.rules.report(ANN, done.record.id, succeeded=True)
        assert outcome.counted is counted
    assert outcome.record.version == 2


async def test_of_reports_that_come_at_once_none_is_lost(service: MemoryService) -> None:
    done = await service.kinds.rules.record(ANN, "release", RULE)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                context = in_thread(f"thread {number}")
                tasks.start_soon(lambda context=context: _succeed(service, context, done.record.id))
    (entry,) = (await service.offer(ANN)).digest.entries
    assert entry.rule is not None
    assert entry.rule.success_count == 20


async def _succeed(service: MemoryService, context: RequestContext, id: str) -> None:
    await service.kinds.rules.report(context, id, succeeded=True)


async def test_the_same_rule_again_keeps_its_counts_and_another_begins_anew(service: MemoryService) -> None:
    done = await service.kinds.rules.record(ANN, "release", RULE)
    await service.kinds.rules.report(ANN, done.record.id, succeeded=True)
    again = await service.kinds.rules.record(ANN, "release", RULE)
    assert (again.status, again.record.rule and again.record.rule.success_count) == ("unchanged", 1)
    other = await service.kinds.rules.record(ANN, "release", RULE.model_copy(update={"steps": ("Do less",)}))
    assert (other.status, other.record.rule and other.record.rule.success_count) == ("replaced", 0)


async def test_counts_cannot_be_claimed_with_the_rule(service: MemoryService) -> None:
    claimed = RULE.model_copy(update={"success_count": 99, "succeeded_in": ("a",)})
    assert (await service.kinds.rules.record(ANN, "release", claimed)).record.rule == RULE


async def test_an_induced_rule_is_promoted_after_the_configured_number_of_successes() -> None:
    """9.1: a rule induced from a trajectory is promoted from quarantine after a configured number of successes."""
    async with open_provider("memory://") as provider:
        service = MemoryService(provider, limits=Limits(promote_after=2))
        rule = await waiting(service)
        assert (await service.offer(ANN)).digest.entries == ()
        first = await service.kinds.rules.report(in_thread("a"), rule.id, succeeded=True)
        assert (first.promoted, first.record.status) == (False, "quarantined")
        again = await service.kinds.rules.report(in_thread("a"), rule.id, succeeded=True)
        assert (again.promoted, again.counted) == (False, False)
        second = await service.kinds.rules.report(in_thread("b"), rule.id, succeeded=True)
        assert (second.promoted, second.record.status, second.record.id) == (True, "active", rule.id)
        (entry,) = (await service.offer(ANN)).digest.entries
    assert (entry.id, entry.rule and entry.rule.success_count) == (rule.id, 2)


@pytest.mark.parametrize("fields", [{"provenance": "imported"}, {"provenance": None}, {"provenance": "extraction"}])
async def test_nothing_but_an_induced_rule_is_promoted_by_successes(fields: dict[str, object]) -> None:
    async with open_provider("memory://") as provider:
        service = MemoryService(provider, limits=Limits(promote_after=1))
        rule = await waiting(service, **fields)
        outcome = await service.kinds.rules.report(ANN, rule.id, succeeded=True)
        assert (outcome.promoted, outcome.record.status) == (False, "quarantined")


async def test_a_rule_that_fails_as_often_as_it_works_is_not_promoted() -> None:
    async with open_provider("memory://") as provider:
        service = MemoryService(provider, limits=Limits(promote_after=1))
        rule = await waiting(service)
        await service.kinds.rules.report(in_thread("a"), rule.id, succeeded=False)
        assert not (await service.kinds.rules.report(in_thread("b"), rule.id, succeeded=True)).promoted
        assert (await service.kinds.rules.report(in_thread("c"), rule.id, succeeded=True)).promoted


async def test_without_review_in_the_store_nothing_is_promoted() -> None:
    provider = WatchedProvider(without=[Group.REVIEW])
    service = MemoryService(provider, limits=Limits(promote_after=1))
    rule = await waiting(MemoryService(provider.store))
    assert not (await service.kinds.rules.report(ANN, rule.id, succeeded=True)).promoted


async def test_only_rules_of_one_s_own_are_reported_on(service: MemoryService) -> None:
    fact = await service.remember(ANN, "office", "Lyon")
    with pytest.raises(InvalidInput, match="id names a memory that is no rule"):
        await service.kinds.rules.report(ANN, fact.record.id, succeeded=True)
    rule = await service.kinds.rules.record(ANN, "release", RULE)
    with pytest.raises(NotFound):
        await service.kinds.rules.report(BOB, rule.record.id, succeeded=True)
    shared = await service.kinds.rules.record(
        ANN, "shared", RULE, writer=Writer("human", scope="tenant:acme", elevated=True)
    )
    with pytest.raises(Refused):
        await service.kinds.rules.report(BOB, shared.record.id, succeeded=True)


async def test_a_rule_that_is_forgotten_while_it_is_counted_is_not_there() -> None:
    class Forgetful(InMemoryProvider):
        async def revise(self, request: ReviseRequest) -> None:
            return None

    service = MemoryService(Forgetful())
    rule = await service.kinds.rules.record(ANN, "release", RULE)
    with pytest.raises(NotFound, match="forgotten meanwhile"):
        await service.kinds.rules.report(ANN, rule.record.id, succeeded=True)


async def test_a_rule_that_others_change_all_the_time_ends_as_a_conflict() -> None:
    provider = WatchedProvider()
    service = MemoryService(provider)
    rule = await service.kinds.rules.record(ANN, "release", RULE)
    provider.failing["revise"] = Conflict("release", 1, 2)
    with pytest.raises(Conflict):
        await service.kinds.rules.report(ANN, rule.record.id, succeeded=True)
    assert provider.called().count("revise") == 100


async def test_a_rule_that_has_proven_itself_does_not_take_the_place_of_a_persons() -> None:
    """9.1 and 9.2: successes take it out of quarantine, and only a person replaces what a person stated."""
    service = MemoryService(InMemoryProvider(), limits=Limits(promote_after=1))
    rules = service.kinds.rules
    stated = (await rules.record(ANN, "release", RULE, writer=PERSON)).record
    other = RULE.model_copy(update={"steps": ("Skip the checks",)})
    held = (await rules.record(ANN, "release", other, induced=True)).record
    outcome = await rules.report(ANN, held.id, succeeded=True)
    assert (outcome.counted, outcome.promoted, outcome.record.status) == (True, False, "quarantined")
    assert await service.find((stated.scope,), id=stated.id) == (stated,)
