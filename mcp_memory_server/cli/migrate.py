"""`migrate`: the act of the role that owns a Postgres store's tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import anyio
import click

from mcp_memory_server.config import load_settings
from mcp_memory_server.opening import migrate_store
from mcp_memory_server.providers.migrating import DEFAULT_PARTITIONS, Migrated

from .failures import told
from .flags import Flags, setting_flags
from .session import log_to_stderr, show

_NOTHING = "Nothing to do: a store of this kind is made and upgraded when it is opened."


@click.command("migrate")
@click.option(
    "--partitions",
    metavar="N",
    type=click.IntRange(0, 1024),
    default=DEFAULT_PARTITIONS,
    help=f"Into how many a new store's tables are split by scope; default: {DEFAULT_PARTITIONS}, 0 for none.",
)
@click.option("--server-role", metavar="NAME", help="Whom servers connect as; default: the user in --url.")
@setting_flags(hidden=True)
@click.pass_context
def migrate_command(ctx: click.Context, *, partitions: int, server_role: str | None) -> None:
    """Make or upgrade a Postgres store, and let servers use it.

    By the URL of the tables' owner in MCP_MEMORY_ADMIN_URL, or in the file that --admin-url-file names; without one by
    --url itself. Servers connect by --url, as a role that owns nothing: it is given what they need and no more. Doing
    it again is safe, also while others do.
    """
    flags = Flags.of(ctx)
    with told(flags):
        settings = load_settings(flags.settings)
        log_to_stderr(settings)
        done = anyio.run(migrate_store, settings, partitions, server_role)
    show(_document(done), _text(done), as_json=flags.json)


def _document(done: Migrated | None) -> dict[str, Any]:
    return {"migrated": None if done is None else asdict(done)}


def _text(done: Migrated | None) -> str:
    if done is None:
        return _NOTHING
    split = f"each table in {done.partitions} partitions" if done.partitions else "no table split into partitions"
    if done.before == done.after:
        lines = [f"The store in the database {done.database} is at version {done.after} already, {split}."]
    elif done.before:
        lines = [f"The store in the database {done.database} went from version {done.before} to {done.after}, {split}."]
    else:
        lines = [f"Made a store of version {done.after} in the database {done.database}, {split}."]
    if done.server_role is None:
        lines.append("Servers connect as the owner of the tables.")
    else:
        lines.append(f"Servers may use it as {done.server_role}.")
    return "\n".join([*lines, *(f"Note: {note}" for note in done.notes)])
