"""Commands about the store as a whole: `stats`, `export`, `import`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, Final

import click

from mcp_memory_server.exchange.json_lines import header_line, read_records, record_lines
from mcp_memory_server.exchange.sealing import Sealing, SealState, split_seal
from mcp_memory_server.providers.base import Stats
from mcp_memory_server.service import Reach
from mcp_memory_server.service.imports import check_importable
from mcp_memory_server.service.wiring import utc_now

from .columns import counted
from .layout import minute_of, table
from .sealing import find_key, make_key
from .session import Session, in_session, reach_flags
from .streams import STDIN, all_of


@click.command("stats")
@reach_flags
@in_session
async def stats_command(session: Session, reach: Reach) -> None:
    """Count what is held.

    At the scopes that apply to you, unless a flag names others.
    """
    scopes = await session.service.scopes_within(session.context, reach)
    counts = await session.service.stats(session.context, scopes)
    session.show(asdict(counts), _stats_text(counts))


def _stats_text(counts: Stats) -> str:
    superseded = counted(counts.versions - counts.records, "replaced version")
    lines = [
        f"{counted(counts.records, 'record')}, {counts.pinned} pinned, {superseded}",
        f"last write: {minute_of(counts.last_write) if counts.last_write else 'never'}",
        f"last maintenance: {minute_of(counts.last_maintenance) if counts.last_maintenance else 'never'}",
    ]
    if counts.pending_erasures:
        lines.append(f"erasures that wait for another process: {counts.pending_erasures}")
    tables = {
        "SCOPE": [(count.scope, count.records) for count in counts.by_scope],
        "KIND": sorted(counts.by_kind.items()),
        "STATUS": sorted(counts.by_status.items()),
    }
    shown = [table((name, "RECORDS"), rows, None, flexible=0) for name, rows in tables.items() if rows]
    return "\n\n".join(["\n".join(lines), *shown])


@click.command("export")
@click.argument("file", default=STDIN, type=click.Path(dir_okay=False, allow_dash=True))
@reach_flags
@in_session
async def export_command(session: Session, file: str, reach: Reach) -> None:
    """Write records with their history as JSON Lines.

    To standard output, or to FILE, which only its owner may read. By default the scopes that apply to you here;
    --mine for everything about you, --all --elevated for the whole store. The last line is a seal, by which `import`
    on this machine knows the file again.
    """
    scopes = await session.service.scopes_within(session.context, reach)
    count = 0
    sealing = Sealing(make_key())
    with _output(file) as out:
        out.write(sealing.take(f"{header_line(utc_now())}\n".encode()))
        async for versions in session.service.held_versions(scopes):
            count += 1
            out.writelines(sealing.take(f"{line}\n".encode()) for line in record_lines(versions))
        out.write(sealing.last_line())
    if file != STDIN:
        session.show({"exported": count, "file": file}, f"Exported {counted(count, 'record')} to {file}.")


@contextlib.contextmanager
def _output(file: str) -> Generator[BinaryIO]:
    """Standard output, or a file that takes its name only when it is whole."""
    if file == STDIN:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(file)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with open(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
            yield out
        unfinished.replace(target)
    except OSError as error:
        raise click.FileError(file, error.strerror or str(error)) from error
    finally:
        unfinished.unlink(missing_ok=True)


@click.command("import")
@click.argument("file", type=click.File("rb"), callback=all_of)
@click.option("--all", "everything", is_flag=True, help="Also scopes that do not apply to you; needs --elevated.")
@click.option("--elevated", is_flag=True, help="Your word that you act as an administrator.")
@click.option("--trust", is_flag=True, help="Your word that the file says who said what, and that it may be shown.")
@in_session
async def import_command(session: Session, file: bytes, everything: bool, elevated: bool, trust: bool) -> None:
    """Take in records from JSON Lines, all or none.

    From FILE, or from standard input with `-`. An export of this machine comes back as it left: a record whose id or
    key is held already is replaced with its history. Of any other file every record waits for review as an imported
    note, unless you --trust it. Scopes that others share need --elevated.
    """
    lines, seal = split_seal(file.split(b"\n"), find_key())
    limit = session.settings.max_fact_chars
    if trust or seal == "own":
        records = read_records(lines, limit)
        changed = await session.service.take_in(session.context, records, elevated=elevated, any_scope=everything)
        waiting, said = 0, ""
    else:
        records = read_records(lines, limit, check_importable)
        taken = await session.service.take_in_foreign(session.context, records, elevated=elevated, any_scope=everything)
        changed, waiting = taken.changed, taken.waiting
        said = f" {_WHY_FOREIGN[seal]} {_waiting_text(waiting)}"
    session.show(
        {"records": len(records), "changed": changed, "waiting": waiting, "seal": seal},
        f"Took in {counted(len(records), 'record')}; {changed} were new or changed.{said}",
    )


_WHY_FOREIGN: Final[dict[SealState, str]] = {
    "broken": "The file was changed after it was exported here.",
    "foreign": "The file was exported on another machine.",
    "none": "The file has no seal of an export.",
}


def _waiting_text(waiting: int) -> str:
    if not waiting:
        return "Nothing new of it waits for review."
    return (
        f"Waiting for review, and shown to no model until then: {counted(waiting, 'record')} of it. See "
        "`mcp-memory-server review`, or import it again with --trust to take it at its word."
    )
