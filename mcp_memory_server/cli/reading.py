"""Commands that show: `block`, `recall`, `list`, `history`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from mcp_memory_server.errors import NotFound
from mcp_memory_server.records import MemoryRecord, visible_line
from mcp_memory_server.service import Offered, Reach

from .columns import counted, terminal_width
from .layout import PINNED, author_of, record_json, records_table, table, versions_table
from .session import Session, in_session, reach_flags
from .streams import or_stdin


@click.command("block")
@click.argument("query", required=False, callback=or_stdin)
@click.option("--turn-id", help="Your id of this turn: asking again with it repeats the answer.")
@click.option("--digest-id", help="Repeat an earlier digest as it was shown.")
@in_session
async def block_command(session: Session, query: str | None, turn_id: str | None, digest_id: str | None) -> None:
    """Print the block that a host puts into the prompt.

    With a QUERY the facts are picked by relevance to it; `-` reads it from standard input, so that a prompt hook
    can pipe the prompt in.
    """
    offered = await _offer(session, query, turn_id, digest_id)
    block = session.service.block(offered)
    session.show({**_digest_json(offered), "block": block}, block)


@click.command("recall")
@click.argument("query", required=False, callback=or_stdin)
@click.option("--turn-id", help="Your id of this turn: asking again with it repeats the answer.")
@click.option("--digest-id", help="Repeat an earlier digest as it was shown.")
@in_session
async def recall_command(session: Session, query: str | None, turn_id: str | None, digest_id: str | None) -> None:
    """Show the facts that answer a question best.

    The same digest as a model gets, with ids and with the wider values that each fact overrides. `-` reads the
    QUERY from standard input.
    """
    offered = await _offer(session, query, turn_id, digest_id)
    session.show(_digest_json(offered), _digest_text(offered))


async def _offer(session: Session, query: str | None, turn_id: str | None, digest_id: str | None) -> Offered:
    try:
        return await session.service.offer(session.context, query, turn_id=turn_id, digest_id=digest_id)
    except NotFound:
        raise NotFound("digest", digest_id or "", "Leave --digest-id out for a current one.") from None


def _digest_json(offered: Offered) -> dict[str, Any]:
    shown = offered.digest.model_dump(mode="json") | {"journaled": offered.journaled}
    return shown | {"erased": offered.erased} if offered.erased else shown


def _digest_text(offered: Offered) -> str:
    digest = offered.digest
    rows: list[Sequence[object]] = []
    for entry in digest.entries:
        rows.append(
            ("*" if entry.pinned else "", entry.key, entry.text, entry.scope, author_of(entry.origin.author), entry.id)
        )
        rows += [("", "↳ over", value.text, value.scope, author_of(value.author), "") for value in entry.overrides]
    notes = [f"Digest {digest.digest_id}."]
    if any(entry.pinned for entry in digest.entries):
        notes.append(PINNED)
    if digest.omitted:
        notes.append(f"{counted(digest.omitted, 'more fact')} did not fit (--max-memories).")
    if digest.pinned_omitted:
        notes.append(f"{digest.pinned_omitted} of them pinned: more is pinned than the block holds.")
    if offered.erased:
        notes.append(f"Erased since it was first shown: {counted(offered.erased, 'fact')}.")
    if not rows:
        shown = "Nothing that is remembered fits." if digest.partial else "Nothing is remembered yet."
    else:
        shown = table(("", "KEY", "FACT", "SCOPE", "BY", "ID"), rows, terminal_width(), flexible=2)
    return f"{shown}\n\n{' '.join(notes)}"


@click.command("list")
@click.option("--tag", help="Only records with this tag.")
@reach_flags
@in_session
async def list_command(session: Session, tag: str | None, reach: Reach) -> None:
    """Show every record held at your scopes.

    By default at those that apply to you here: every record there, also those that a narrower one overrides.
    """
    held = await records_within(session, reach, tag)
    text = records_table(held, terminal_width()) if held else "Nothing is held there."
    session.show({"records": [record_json(record) for record in held]}, text)


async def records_within(session: Session, reach: Reach, tag: str | None) -> list[MemoryRecord]:
    """The records within reach, scope by scope, in order of key."""
    scopes = await session.service.scopes_within(session.context, reach)
    return [
        record
        for scope in scopes
        async for record in session.service.everything_at(scope)
        if tag is None or tag in record.tags
    ]


@click.command("history")
@click.argument("key", required=False)
@click.option("--id", "record_id", help="The record's id, in place of its key.")
@reach_flags
@in_session
async def history_command(session: Session, key: str | None, record_id: str | None, reach: Reach) -> None:
    """Show every version of one fact.

    Of several records with the KEY it is the narrowest one of your own; --scope names another.
    """
    record = await session.record(key, record_id, reach)
    versions = await session.service.record_versions(session.context, record.id, (record.scope,))
    heading = f"{record.key} at {record.scope}, id {visible_line(record.id)}"
    session.show(
        {"versions": [record_json(version) for version in versions]},
        f"{heading}\n\n{versions_table(versions, terminal_width())}",
    )
