"""`forget`: one fact, or all that an exact selector names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from mcp_memory_server.errors import NotFound
from mcp_memory_server.identity import is_own_scope
from mcp_memory_server.records import MemoryRecord
from mcp_memory_server.service import Forgot, Reach

from .columns import counted, terminal_width
from .layout import record_json, records_table
from .reading import records_within
from .session import Session, in_session, reach_flags, unknown_record


@click.command("forget")
@click.argument("key", required=False)
@click.option("--id", "record_id", help="The record's id, in place of its key.")
@click.option("--tag", help="Every record with exactly this tag.")
@click.option("--dry-run", is_flag=True, help="Show what would be erased, and how many; erase nothing.")
@click.option("--yes", is_flag=True, help="Confirm that all of several records are to be erased.")
@reach_flags
@in_session
async def forget_command(  # noqa: PLR0913  # click hands over one argument an option
    session: Session,
    *,
    key: str | None,
    record_id: str | None,
    tag: str | None,
    dry_run: bool,
    yes: bool,
    reach: Reach,
) -> None:
    """Erase facts for good.

    The record goes with its history, down to the bytes in the store's files; there is no undo. Give a KEY or
    --id for one record; --tag, --scope, --mine or --all for every record that they name, with --dry-run first
    and then with --yes. What others share needs --elevated.
    """
    single = key is not None or record_id is not None
    if single and tag is not None:
        raise click.UsageError("--tag names several records: give it without a KEY and --id.")
    if single:
        await _forget_one(session, key, record_id, reach, dry_run=dry_run)
        return
    if tag is None and reach.scope is None and not reach.mine and not reach.everything:
        raise click.UsageError("Say what to erase: a KEY, --id, --tag, --scope, --mine or --all.")
    await _forget_several(session, tag, reach, dry_run=dry_run, yes=yes)


async def _forget_one(session: Session, key: str | None, record_id: str | None, reach: Reach, *, dry_run: bool) -> None:
    if dry_run:
        _show_selection(session, [await session.record(key, record_id, reach)])
        return
    scopes = await session.service.scopes_within(session.context, reach)
    try:
        gone = await session.service.forget(
            session.context, id=record_id, key=key, elevated=reach.elevated, scopes=scopes
        )
    except NotFound:
        raise unknown_record(key, record_id) from None  # the service's own remedy is a tool for models
    session.show({"forgotten": [_forgot_json(gone)]}, gone.told())


async def _forget_several(session: Session, tag: str | None, reach: Reach, *, dry_run: bool, yes: bool) -> None:
    records = await records_within(session, reach, tag)
    if not reach.elevated and reach.scope is None:
        # By tag alone, a shared record that happens to carry it is not what the person owns.
        records = [record for record in records if is_own_scope(session.context.actor, record.scope)]
    if dry_run:
        _show_selection(session, records)
        return
    if records and not yes:
        raise click.UsageError(
            f"That would erase {counted(len(records), 'record')} for good. Look with --dry-run, confirm with --yes."
        )
    gone: list[Forgot] = []
    for record in records:
        try:
            forgot = await session.service.forget(
                session.context, id=record.id, elevated=reach.elevated, scopes=(record.scope,)
            )
        except NotFound:  # another process was faster
            continue
        gone.append(forgot)
    pending = sum(forgot.erasure == "pending" for forgot in gone)
    text = f"Erased {counted(len(gone), 'record')}."
    if pending:
        text += f" Another process still holds bytes of {pending}; they go as soon as it lets go."
    if left := sorted({name for forgot in gone for name in forgot.cited_by} - {forgot.id for forgot in gone}):
        text += f" What was inferred from them is still held; forget that, too, if it tells them: {', '.join(left)}."
    session.show({"forgotten": [_forgot_json(forgot) for forgot in gone]}, text)


def _show_selection(session: Session, records: Sequence[MemoryRecord]) -> None:
    text = f"Would erase {counted(len(records), 'record')}."
    if records:
        text = f"{records_table(records, terminal_width())}\n\n{text}"
    session.show({"would_forget": [record_json(record) for record in records], "count": len(records)}, text)


def _forgot_json(gone: Forgot) -> dict[str, object]:
    document = asdict(gone)
    for name in ("still_at", "cited_by"):
        if not document[name]:
            del document[name]
    return document
