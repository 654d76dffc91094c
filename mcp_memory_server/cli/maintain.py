"""`maintain`: looking after what is held, with a look at it first, and a way back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from mcp_memory_server.errors import echo
from mcp_memory_server.records import MemoryRecord
from mcp_memory_server.service import MaintenancePlan, MaintenanceReport, Reach
from mcp_memory_server.upkeep import Alike

from .columns import counted, terminal_width
from .layout import table
from .session import Session, in_session, reach_flags

_IN_COMMON: Final = {"keys": "their keys name one question", "texts": "they say nearly the same"}


@click.command("maintain")
@click.option("--dry-run", is_flag=True, help="Show all that would be done, and do nothing.")
@click.option("--restore", "record_id", metavar="ID", help="Bring back a record that was set aside, and do no more.")
@reach_flags
@in_session
async def maintain_command(session: Session, *, dry_run: bool, record_id: str | None, reach: Reach) -> None:
    """Set aside what has ended or is too much, and promote what has proven itself.

    At your own scopes; at those that others share with --elevated. A note that has ended, an insight that votes are
    against, and the least important and oldest notes beyond --max-records are set aside: no model is shown them any
    more, nothing is erased, and --restore brings them back. What a person stated, pins and working blocks are left
    alone. Facts that look like doubles are shown, and left for you to decide about.
    """
    if record_id is not None:
        if dry_run:
            raise click.UsageError("Give --dry-run or --restore, not both.")
        await _restore(session, record_id, reach)
        return
    plan = await session.service.maintenance.plan(session.person, reach)
    if dry_run:
        session.show(_plan_json(plan), _plan_text(plan))
        return
    report = await _carried_out(session, plan)
    session.show(_report_json(plan, report), _report_text(plan, report))


async def _restore(session: Session, record_id: str, reach: Reach) -> None:
    scopes = await session.service.scopes_within(session.person, reach)
    record = await session.service.maintenance.restore(session.person, record_id, scopes, elevated=reach.elevated)
    text = (
        f"Restored {echo(record.key)} at {record.scope}, version {record.version}, id {record.id}. Pin it, or raise "
        "--max-records, to keep it from being set aside again."
    )
    session.show({"restored": {"id": record.id, "key": record.key, "scope": record.scope}}, text)


async def _carried_out(session: Session, plan: MaintenancePlan) -> MaintenanceReport:
    report = MaintenanceReport()
    # One step more, for the store as a whole.
    steps = len(plan.set_aside) + len(plan.promotions) + 1
    watched = sys.stderr.isatty()
    with click.progressbar(length=steps, label="Maintaining", file=sys.stderr, hidden=not watched) as progress:
        async for report in session.service.maintenance.carry_out(session.person, plan):
            progress.update(min(report.records, steps - 1) - progress.pos)
        progress.update(1)
    return report


# --- as JSON ------------------------------------------------------------------------------------------


def _record_json(record: MemoryRecord, because: str | None = None) -> dict[str, Any]:
    named = {"id": record.id, "key": record.key, "scope": record.scope, "text": record.text}
    return named | ({} if because is None else {"because": because})


def _alike_json(plan: MaintenancePlan) -> list[dict[str, Any]]:
    return [
        {"by": alike.by, "records": [_record_json(record) for record in alike.records]}
        for scope in plan.scopes
        for alike in scope.alike
    ]


def _of_scopes_json(plan: MaintenancePlan) -> dict[str, Any]:
    return {
        "alike": _alike_json(plan),
        "scopes": [{"scope": scope.scope, "beyond": scope.beyond, "compared": scope.compared} for scope in plan.scopes],
    }


def _plan_json(plan: MaintenancePlan) -> dict[str, Any]:
    return {
        "dry_run": True,
        "set_aside": [_record_json(aside.record, aside.because) for aside in plan.set_aside],
        "promoted": [_record_json(promotion.record) for promotion in plan.promotions],
        "digests": plan.digests,
        "conversations": plan.conversations,
        "erasures": plan.erasures,
        **_of_scopes_json(plan),
    }


def _report_json(plan: MaintenancePlan, report: MaintenanceReport) -> dict[str, Any]:
    return {
        "dry_run": False,
        "set_aside": [_record_json(record, record.archived_because) for record in report.set_aside],
        "promoted": [_record_json(record) for record in report.promoted],
        "left": [_record_json(record) for record in report.left],
        "digests": report.digests,
        "conversations": report.conversations,
        "erasures": report.erasures,
        **_of_scopes_json(plan),
    }


# --- as text ------------------------------------------------------------------------------------------


def _plan_text(plan: MaintenancePlan) -> str:
    rows = [("set aside", aside.record, aside.because) for aside in plan.set_aside]
    rows += [("promote", promotion.record, _worked(promotion.record)) for promotion in plan.promotions]
    said = [
        f"Would set aside {counted(len(plan.set_aside), 'record')}, promote {counted(len(plan.promotions), 'rule')}, "
        f"and drop {_dropped(plan.digests, plan.conversations)}. Nothing was done."
    ]
    if plan.erasures:
        said.append(f"Would complete {counted(plan.erasures, 'erasure')} that another process held up.")
    return _page(_table(rows), plan, said)


def _report_text(plan: MaintenancePlan, report: MaintenanceReport) -> str:
    rows = [("set aside", record, record.archived_because or "") for record in report.set_aside]
    rows += [("promoted", record, _worked(record)) for record in report.promoted]
    said = [
        f"Set aside {counted(len(report.set_aside), 'record')}, promoted {counted(len(report.promoted), 'rule')}, "
        f"dropped {_dropped(report.digests, report.conversations)}."
    ]
    if report.set_aside:
        said.append("`maintain --restore ID` brings a record back.")
    if report.left:
        said.append(f"Changed by somebody meanwhile, and left for the next run: {len(report.left)}.")
    if report.erasures:
        said.append(f"Another process still holds bytes of {counted(report.erasures, 'erasure')}.")
    return _page(_table(rows), plan, said)


def _page(shown: str, plan: MaintenancePlan, said: Sequence[str]) -> str:
    groups = [_doubles(alike) for scope in plan.scopes for alike in scope.alike]
    notes = list(said)
    if groups:
        notes.append(
            "Of what looks like doubles nothing was changed. To merge two, state the one to keep with "
            "`remember KEY FACT --supersedes ID`, naming the other; or `forget` it."
        )
    for scope in plan.scopes:
        if scope.beyond:
            kept = counted(scope.beyond, "fact")
            notes.append(f"{scope.scope} holds {kept} more than --max-records: stated by people, pinned, or blocks.")
        if not scope.compared:
            notes.append(f"{scope.scope} holds too much to compare all of it: there may be more doubles.")
    return "\n\n".join(part for part in (shown, *groups, "\n".join(notes)) if part)


def _table(rows: Sequence[tuple[str, MemoryRecord, str]]) -> str:
    cells = [(act, record.key, record.text, record.scope, why, record.id) for act, record, why in rows]
    headings = ("WHAT", "KEY", "FACT", "SCOPE", "BECAUSE", "ID")
    return table(headings, cells, terminal_width(), flexible=2) if cells else ""


def _doubles(alike: Alike) -> str:
    rows = [(record.key, record.text, record.id) for record in alike.records]
    shown = table(("KEY", "FACT", "ID"), rows, terminal_width(), flexible=1)
    return f"One fact at {alike.records[0].scope}? Of these {_IN_COMMON[alike.by]}:\n{shown}"


def _worked(record: MemoryRecord) -> str:
    return f"worked {record.rule.success_count} times" if record.rule else ""


def _dropped(digests: int, conversations: int) -> str:
    return f"{counted(digests, 'journaled digest')} and what {counted(conversations, 'conversation')} saw"
