"""Commands by which a person states facts: `remember`, `publish`, `pin`, `unpin`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import click

from mcp_memory_server.errors import echo
from mcp_memory_server.providers.base import SENSITIVITIES
from mcp_memory_server.records import visible_line
from mcp_memory_server.service import Reach, Remembered, RememberOptions

from .layout import override_json, record_json
from .session import Session, in_session
from .streams import or_stdin


def _fact_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--if-version", type=int, help="Only over this version of the key; 0: only where there is none."),
        click.option("--sensitivity", type=click.Choice(SENSITIVITIES), help="Who may see it; default: as before."),
        click.option("--supersedes", metavar="ID", help="A fact under another key that ends with this one."),
        click.option("--valid-to", metavar="TIME", help="When it stops being true."),
        click.option("--valid-from", metavar="TIME", help="When it begins to be true, ISO 8601 with a zone."),
        click.option("--tag", "tags", multiple=True, help="A short label; may be given several times."),
    ):
        command = option(command)
    return command


@click.command("remember")
@click.argument("key")
@click.argument("fact", callback=or_stdin)
@_fact_options
@click.option(
    "--where",
    type=click.Choice(["everywhere", "project"]),
    default="everywhere",
    help="Whether it holds wherever you work (default) or in the configured project only.",
)
@in_session
async def remember_command(session: Session, key: str, fact: str, **options: Unpack[RememberOptions]) -> None:
    """State a fact, as a person.

    The same KEY replaces its FACT and keeps the old one as history. `-` reads the fact from standard input.
    """
    show_written(session, await session.service.state(session.context, key, fact, **options))


@click.command("publish")
@click.argument("key")
@click.argument("fact", callback=or_stdin)
@click.option("--scope", required=True, help="One of the scopes that apply to you, such as global or tenant:acme.")
@click.option("--elevated", is_flag=True, help="Your word that you act as an administrator.")
@_fact_options
@in_session
async def publish_command(
    session: Session, key: str, fact: str, scope: str, elevated: bool, **options: Unpack[RememberOptions]
) -> None:
    """State a fact at a scope that others share.

    It goes into the prompts of everyone to whom the scope applies, so it needs --elevated.
    """
    written = await session.service.state(session.context, key, fact, scope=scope, elevated=elevated, **options)
    show_written(session, written)


def show_written(session: Session, done: Remembered) -> None:
    """Answer with what became of a write."""
    document: dict[str, Any] = {
        "status": done.status,
        "record": record_json(done.record),
        "overrides": [override_json(value) for value in done.overrides],
        "similar_keys": list(done.similar_keys),
    }
    if done.previous is not None:
        document["previous"] = record_json(done.previous)
    record = done.record
    lines = [
        f"{done.status.capitalize()} {echo(record.key)} at {record.scope}, version {record.version}, "
        f"id {visible_line(record.id)}."
    ]
    if done.previous is not None:
        lines.append("The fact it replaced is kept: see `mcp-memory-server history`.")
    if done.validity_note is not None:
        lines.append(done.validity_note)
    lines += [f"It overrides the value at {value.scope}." for value in done.overrides]
    if done.similar_keys:
        lines.append(f"Keys that look like the same question: {', '.join(map(echo, done.similar_keys))}.")
    session.show(document, "\n".join(lines))


def _pin_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--elevated", is_flag=True, help="Your word that you act as an administrator."),
        click.option("--scope", help="Where the record stands, when several scopes hold the key."),
        click.option("--id", "record_id", help="The record's id, in place of its key."),
        click.argument("key", required=False),
    ):
        command = option(command)
    return command


@click.command("pin")
@_pin_options
@in_session
async def pin_command(
    session: Session, key: str | None, record_id: str | None, scope: str | None, elevated: bool
) -> None:
    """Keep a fact in every block.

    Of several records with the KEY it is the narrowest one of your own.
    """
    await _set_pin(session, key, record_id, Reach(scope, elevated=elevated), pinned=True)


@click.command("unpin")
@_pin_options
@in_session
async def unpin_command(
    session: Session, key: str | None, record_id: str | None, scope: str | None, elevated: bool
) -> None:
    """Let a fact compete for its place in the block again."""
    await _set_pin(session, key, record_id, Reach(scope, elevated=elevated), pinned=False)


async def _set_pin(session: Session, key: str | None, record_id: str | None, reach: Reach, *, pinned: bool) -> None:
    found = await session.record(key, record_id, reach)
    record = await session.service.pin(session.context, found.id, pinned=pinned, elevated=reach.elevated)
    state = "Pinned" if record.pinned else "Unpinned"
    session.show(
        {"record": record_json(record)}, f"{state} {echo(record.key)} at {record.scope}, id {visible_line(record.id)}."
    )
