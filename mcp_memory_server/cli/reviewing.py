"""`review`: a person decides about what waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from mcp_memory_server.errors import echo
from mcp_memory_server.records import visible_line
from mcp_memory_server.service import Reach
from mcp_memory_server.service.pending import Pending
from mcp_memory_server.service.review import Approval, Approved

from .columns import counted
from .layout import author_of, minute_of, record_json
from .session import Session, in_session, reach_flags


@click.command("review")
@click.argument("decision", required=False, type=click.Choice(["approve", "reject", "edit"]))
@click.argument("names", nargs=-1, metavar="[ID]... [FACT]")
@reach_flags
@in_session
async def review_command(session: Session, decision: str | None, names: tuple[str, ...], reach: Reach) -> None:
    """See what waits for your decision, and decide.

    Without a DECISION it lists what waits, with who recorded it, from where, and why it is held. `approve ID...`
    makes facts of them, `reject ID...` erases them for good, `edit ID FACT` approves in your own words. What others
    share needs --elevated.
    """
    if decision is None and names:
        raise click.UsageError("Say what to do with them: approve, reject or edit.")
    if decision is None:
        await _show_waiting(session, reach)
        return
    if not names:
        raise click.UsageError(f"Say what to {decision}: the ids, as `review` shows them.")
    if decision == "edit" and len(names) != 2:
        raise click.UsageError("edit takes one ID and the FACT in your words.")
    ids = tuple(dict.fromkeys(names))
    if decision == "reject":
        await _reject(session, ids, reach)
        return
    fact = names[1] if decision == "edit" else None
    await _approve(session, names[:1] if decision == "edit" else ids, fact, reach)


async def _show_waiting(session: Session, reach: Reach) -> None:
    scopes = await session.service.scopes_within(session.context, reach)
    waiting = await session.service.review.pending(session.context, scopes, elevated=reach.elevated)
    if waiting:
        said = f"Waiting for your decision: {len(waiting)}."
        text = "\n\n".join([*map(_described, waiting), said])
    else:
        text = "Nothing waits for your decision."
    session.show({"pending": [pending.shown_to_people() for pending in waiting]}, text)


def _described(pending: Pending) -> str:
    record, origin = pending.record, pending.record.origin
    by = "an assistant" if origin.author == "agent" else "a person"
    place = [f"by {by} for {origin.actor_ref or 'somebody'}", minute_of(record.updated_at)]
    place += [f"thread {origin.thread_id}"] if origin.thread_id else []
    place += [f"run {origin.run_id}"] if origin.run_id else []
    place += [f"provenance {record.provenance}"] if record.provenance else []
    lines = [
        f"[{record.scope}] {record.key}: {record.text}",
        f"    id {record.id}",
        f"    {', '.join(place)}",
        f"    held because: {record.held_because or 'unknown'}",
    ]
    if pending.replaces is not None:
        lines.append(f"    would replace: {pending.replaces.text} ({author_of(pending.replaces.origin.author)})")
    if pending.ends is not None:
        lines.append(
            f"    would end: {pending.ends.key}: {pending.ends.text} ({author_of(pending.ends.origin.author)})"
        )
    if pending.refusal is not None:
        lines.append(f"    not yours to approve: {pending.refusal}")
    return "\n".join(f"    {visible_line(line)}" if line.startswith(" ") else visible_line(line) for line in lines)


async def _approve(session: Session, ids: Sequence[str], fact: str | None, reach: Reach) -> None:
    scopes = await session.service.scopes_within(session.context, reach)
    review = session.service.review
    for record_id in ids:  # a wrong one is told before anything happened
        await review.find(session.context, record_id, scopes, elevated=reach.elevated)
    done = [
        await review.approve(session.context, record_id, Approval(reach.elevated, fact), scopes) for record_id in ids
    ]
    document = {"approved": [_approved_json(approved) for approved in done]}
    session.show(document, "\n".join(map(_approved_text, done)))


def _approved_json(approved: Approved) -> dict[str, Any]:
    document: dict[str, Any] = {"status": approved.status, "record": record_json(approved.record)}
    return document | ({} if approved.previous is None else {"previous": record_json(approved.previous)})


def _approved_text(approved: Approved) -> str:
    record = approved.record
    if approved.status == "unchanged":
        return f"{echo(record.key)} at {record.scope} says so already."
    text = f"Approved {echo(record.key)} at {record.scope}, version {record.version}, id {visible_line(record.id)}."
    return f"{text} The fact it replaced is kept in its history." if approved.previous else text


async def _reject(session: Session, ids: Sequence[str], reach: Reach) -> None:
    scopes = await session.service.scopes_within(session.context, reach)
    review = session.service.review
    for record_id in ids:
        await review.find(session.context, record_id, scopes, elevated=reach.elevated)
    pending = 0
    for record_id in ids:
        erasure = await review.reject(session.context, record_id, scopes, elevated=reach.elevated)
        pending += erasure == "pending"
    text = f"Rejected and erased {counted(len(ids), 'record')}."
    if pending:
        text += f" Another process still holds bytes of {pending}; they go as soon as it lets go."
    session.show({"rejected": list(ids), "erasures_pending": pending}, text)
