"""`service.maintenance`: what a run plans, does, leaves alone, and can take back."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from mcp_memory_server.errors import InvalidInput, NotFound, NotSupported, Refused
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.base import (
    BrowsingProvider,
    Group,
    ReviseRequest,
    SurfaceRequest,
    SurfacingProvider,
    WritingProvider,
)
from mcp_memory_server.records import MemoryRecord, Rule
from mcp_memory_server.service import (
    Limits,
    MaintenancePlan,
    MaintenanceReport,
    MemoryService,
    Reach,
    Retention,
    SearchOptions,
)
from mcp_memory_server.service.kinds import PERSON
from mcp_memory_server.service.wiring import utc_now
from tests.people import ANN, BOB
from tests.watched_provider import WatchedProvider

from .clock import Clock

RULE = Rule(condition="a release is due", steps=("Tag it",))


@asynccontextmanager
async def serving(
    folder: Path, clock: Clock, max_records: int = 0, retention: Retention | None = None
) -> AsyncGenerator[MemoryService]:
    async with open_provider(f"sqlite:///{folder}/memory.db") as provider:
        limits = Limits(max_records=max_records, promote_after=2)
        async with MemoryService(provider, limits=limits, retention=retention, now=clock) as service:
            yield service


async def maintain(
    service: MemoryService, context: RequestContext = ANN, reach: Reach | None = None
) -> MaintenanceReport:
    plan = await service.maintenance.plan(context, reach)
    return [report async for report in service.maintenance.carry_out(context, plan)][-1]


async def dump(service: MemoryService) -> dict[str, object]:
    """All that is held, with its history, and the counts."""
    scopes = await cast("BrowsingProvider", service.provider).scopes()
    versions = [held async for held in service.held_versions(scopes)]
    return {"versions": versions, "stats": await service.stats(ANN, scopes)}


async def shown(service: MemoryService) -> dict[str, str]:
    return {entry.key: entry.text for entry in (await service.offer(ANN)).digest.entries}


def keys(records: Sequence[MemoryRecord]) -> list[str]:
    return sorted(record.key for record in records)


async def state_what_is_due(service: MemoryService, clock: Clock) -> None:
    """A fact that ends in March, one that a person stated so, a spent insight, and a rule that has proven itself."""
    fact = (await service.remember(ANN, "office", "Lyon")).record
    await service.remember(ANN, "trip", "In Porto", valid_from=clock.now, valid_to="2026-03-01T00:00:00Z")
    await service.state(ANN, "holiday", "In Rome", valid_to="2026-03-01T00:00:00Z")
    insight = (await service.kinds.insights.record(ANN, "owl", "Works late", [fact.id])).record
    provider = cast("WritingProvider", service.provider)
    assert insight.insight is not None
    spent = insight.model_copy(update={"insight": insight.insight.model_copy(update={"salience": 0})})
    await provider.revise(ReviseRequest(spent, clock.now))
    rule = (await service.kinds.rules.record(ANN, "release", RULE, induced=True)).record
    assert rule.rule is not None
    proven = rule.model_copy(update={"rule": rule.rule.model_copy(update={"success_count": 2})})
    await provider.revise(ReviseRequest(proven, clock.now))


async def test_what_has_ended_and_what_votes_are_against_is_set_aside_and_a_proven_rule_promoted(
    tmp_path: Path,
) -> None:
    """Issue 5, maintenance: expired facts closed, salience and promotion rules applied. 9.1: both rules."""
    clock = Clock()
    async with serving(tmp_path, clock) as service:
        await state_what_is_due(service, clock)
        clock.day(6, 1)
        report = await maintain(service)
        assert (keys(report.set_aside), keys(report.promoted), report.left) == (["owl", "trip"], ["release"], [])
        assert {record.archived_because for record in report.set_aside} == {
            "ended 2026-03-01T00:00:00.000Z; maintenance by ann",
            "salience 0; maintenance by ann",
        }
        assert {record.archived_at for record in report.set_aside} == {clock.now}
        (promoted,) = report.promoted
        assert (promoted.status, promoted.held_because) == ("active", None)
        assert set(await shown(service)) == {"office", "release"}
        (holiday,) = await service.find(("actor:ann",), key="holiday")
        assert (holiday.archived_at, holiday.version) == (None, 1)


async def test_a_closed_fact_is_in_its_history_in_reads_about_then_and_before_the_person(tmp_path: Path) -> None:
    """9.3: history is append-only, and `as_of` returns what was valid then; also with a `valid_from`."""
    clock = Clock()
    async with serving(tmp_path, clock) as service:
        await state_what_is_due(service, clock)
        clock.day(6, 1)
        await maintain(service)
        (trip,) = await service.find(("actor:ann",), key="trip")
        assert [version.version for version in await service.record_versions(ANN, trip.id)] == [1, 2]
        for options in (SearchOptions(as_of="2026-02-01T00:00:00Z"), SearchOptions(known_at="2026-02-01T00:00:00Z")):
            assert "trip" in keys([hit.record for hit in await service.search(ANN, options)])
        assert "trip" not in keys([hit.record for hit in await service.search(ANN, SearchOptions())])
        assert "trip" in keys([record async for record in service.everything_at("actor:ann")])


async def test_a_plan_writes_nothing(tmp_path: Path) -> None:
    """Issue 5: --dry-run. What it says is what a run then does."""
    clock = Clock()
    async with serving(tmp_path, clock, max_records=1) as service:
        await state_what_is_due(service, clock)
        clock.day(6, 1)
        before = await dump(service)
        plan = await service.maintenance.plan(ANN)
        assert await dump(service) == before
        report = await maintain(service)
        assert keys(report.set_aside) == keys([aside.record for aside in plan.set_aside])
        assert keys(report.promoted) == keys([promotion.record for promotion in plan.promotions])


async def test_a_second_run_does_nothing_but_note_the_time(tmp_path: Path) -> None:
    """9.4: `stats` gives the time of the last maintenance run."""
    clock = Clock()
    async with serving(tmp_path, clock, max_records=1) as service:
        await state_what_is_due(service, clock)
        clock.day(6, 1)
        await maintain(service)
        assert (await service.stats(ANN)).last_maintenance == clock.now
        held = (await dump(service))["versions"]
        clock.day(6, 2)
        assert await maintain(service) == MaintenanceReport()
        assert (await dump(service))["versions"] == held
        assert (await service.stats(ANN)).last_maintenance == clock.now


async def test_a_run_that_is_stopped_has_done_some_records_whole_and_is_made_again(tmp_path: Path) -> None:
    clock = Clock()
    async with serving(tmp_path, clock, max_records=2) as service:
        for number in range(8):
            await service.remember(ANN, f"fact-{number}", f"text {number}")
        plan = await service.maintenance.plan(ANN)
        async for report in service.maintenance.carry_out(ANN, plan):
            if report.records == 3:
                break
        records = [record async for record in service.everything_at("actor:ann")]
        assert sorted(record.version for record in records) == [1] * 5 + [2] * 3
        assert len((await maintain(service)).set_aside) == 3
        assert len(await shown(service)) == 2


async def test_what_somebody_changed_meanwhile_is_left_to_the_next_run(tmp_path: Path) -> None:
    """Concurrent servers keep working: no change of theirs is overwritten."""
    clock = Clock()
    async with serving(tmp_path, clock) as service:
        await state_what_is_due(service, clock)
        clock.day(6, 1)
        plan = await service.maintenance.plan(ANN)
        await service.remember(ANN, "trip", "In Porto for good")
        (owl,) = await service.find(("actor:ann",), key="owl")
        await service.forget(ANN, id=owl.id)
        await service.kinds.rules.record(ANN, "release", RULE.model_copy(update={"steps": ("Sign it",)}))
        report = [report async for report in service.maintenance.carry_out(ANN, plan)][-1]
        assert (report.set_aside, keys(report.left)) == ([], ["owl", "trip"])
        assert (await shown(service))["trip"] == "In Porto for good"


async def test_a_rule_does_not_take_the_place_of_one_that_a_person_stated_meanwhile(tmp_path: Path) -> None:
    clock = Clock()
    async with serving(tmp_path, clock) as service:
        await state_what_is_due(service, clock)
        plan = await service.maintenance.plan(ANN)
        rule = RULE.model_copy(update={"steps": ("Sign it",)})
        await service.kinds.rules.record(ANN, "release", rule, writer=PERSON)
        report = [report async for report in service.maintenance.carry_out(ANN, plan)][-1]
        assert (keys(report.left), report.promoted) == (["release"], [])


async def test_what_is_beyond_the_limit_comes_back_when_asked(tmp_path: Path) -> None:
    """Every change is reversible: restored by id, by stating it again, and in the same words."""
    clock = Clock()
    async with serving(tmp_path, clock, max_records=1) as service:
        await service.state(ANN, "city", "Lyon")
        await service.remember(ANN, "food", "Likes cheese")
        await service.remember(ANN, "seat", "By the window")
        clock.day(2, 1)
        report = await maintain(service)
        assert keys(report.set_aside) == ["food", "seat"]
        assert await shown(service) == {"city": "Lyon"}
        food, _ = sorted(report.set_aside, key=lambda record: record.key)
        back = await service.maintenance.restore(ANN, food.id)
        assert (back.version, back.archived_at, back.archived_because, back.origin) == (3, None, None, food.origin)
        again = await service.remember(ANN, "seat", "By the window")
        assert again.status == "replaced"
        assert set(await shown(service)) == {"city", "food", "seat"}


async def test_what_cannot_be_restored_is_refused_with_what_to_do(tmp_path: Path) -> None:
    clock = Clock()
    async with serving(tmp_path, clock) as service:
        await state_what_is_due(service, clock)
        clock.day(6, 1)
        by_key = {record.key: record for record in (await maintain(service)).set_aside}
        with pytest.raises(InvalidInput, match=r"ended 2026-03-01T00:00:00\.000Z: state it anew"):
            await service.maintenance.restore(ANN, by_key["trip"].id)
        with pytest.raises(InvalidInput, match="vote it up"):
            await service.maintenance.restore(ANN, by_key["owl"].id)
        (office,) = await service.find(("actor:ann",), key="office")
        with pytest.raises(InvalidInput, match="is not set aside"):
            await service.maintenance.restore(ANN, office.id)
        for stranger, id in ((ANN, "no-such-id"), (BOB, by_key["trip"].id)):
            with pytest.raises(NotFound):
                await service.maintenance.restore(stranger, id)


async def test_scopes_of_others_need_elevation(tmp_path: Path) -> None:
    """Own scopes by default; wider ones need --elevated."""
    clock = Clock()
    async with serving(tmp_path, clock) as service:
        for scope in ("tenant:acme", "actor:ann"):
            note = (await service.state(ANN, "menu", "Cheese", scope=scope, elevated=True)).record
            provider = cast("WritingProvider", service.provider)
            due = note.model_copy(update={"valid_to": clock.now, "provenance": "tool"})
            await provider.revise(ReviseRequest(due, clock.now))
        scopes = [[each.scope for each in (await service.maintenance.plan(ANN, reach)).scopes] for reach in (
            None, Reach(mine=True), Reach(elevated=True), Reach(everything=True, elevated=True),
            Reach(scope="tenant:acme", elevated=True),
        )]  # fmt: skip
        applying = ["actor:ann", "tenant:acme", "global"]
        assert scopes == [["actor:ann"], ["actor:ann"], applying, applying[:2], ["tenant:acme"]]
        for reach in (Reach(scope="tenant:acme"), Reach(scope="actor:bob"), Reach(everything=True)):
            with pytest.raises(Refused, match="--elevated"):
                await service.maintenance.plan(ANN, reach)


async def test_the_journal_and_the_sets_of_conversations_are_pruned(tmp_path: Path) -> None:
    """Issue 5: journal pruning. What a plan counts is what a run drops."""
    async with serving(tmp_path, Clock(utc_now()), retention=Retention(digests=2)) as service:
        provider = cast("SurfacingProvider", service.provider)
        for number in range(5):
            await service.offer(ANN, turn_id=f"turn {number}")
            await provider.surface(SurfaceRequest("ann", f"talk {number}", utc_now(), ()))
        plan = await service.maintenance.plan(ANN)
        counted = (plan.digests, plan.conversations)
        report = await maintain(service)
        assert (report.digests, report.conversations) == counted
        assert counted == (3, 3)
        assert ((await service.maintenance.plan(ANN)).digests, report.erasures) == (0, 0)


async def test_a_provider_that_cannot_is_told_before_anything_happened() -> None:
    plan = MaintenancePlan("2026-01-01T00:00:00.000Z", (), 0, 0, 0)
    for group in (Group.WRITE, Group.MAINTAIN):
        provider = WatchedProvider(without=[group])
        with pytest.raises(NotSupported, match="Nothing was done"):
            await anext(MemoryService(provider).maintenance.carry_out(ANN, plan))
        assert provider.calls == []
