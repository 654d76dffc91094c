"""Mending a damaged store: keep a copy, begin a new file, and take over every record that can still be read."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Generator, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from mcp_memory_server.providers.base import RestoreRequest
from mcp_memory_server.providers.rows import RECORD_COLUMNS, record_of
from mcp_memory_server.providers.signatures import signature_of
from mcp_memory_server.records import MemoryRecord, canonical_instant, lane_of

from . import files, migrate, pages, restoring

logger = logging.getLogger(__name__)

OpenRaw = Callable[[Path], sqlite3.Connection]

# memory: number (kept as the rowid), id, scope_id, the columns of a record after its id, and since 0003 its lane.
_MEMORY_WIDTHS: Final = (len(RECORD_COLUMNS) + 2, len(RECORD_COLUMNS) + 3)
_HISTORY_WIDTH: Final = len(RECORD_COLUMNS)
_NARROW_WIDTH: Final = 3
_MENDING_TIMEOUT_S: Final = 60.0


def mend(path: Path, open_raw: OpenRaw, still_damaged: Callable[[], bool]) -> None:
    """Replace the damaged file at `path` by a new store that holds what could be read of it.

    Processes that find the same damage take turns; whoever comes later finds it mended.
    """
    with _turn(path):
        if not still_damaged():
            return
        for unfinished in files.unfinished_stores(path):
            unfinished.unlink(missing_ok=True)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        copy = files.damaged_copy_name(path, stamp)
        shutil.copy2(path, copy)
        for companion in files.companions(path):
            if companion.name.endswith("-wal") and companion.exists():
                shutil.copy2(companion, copy.with_name(copy.name + "-wal"))
        records = readable_records(copy)
        fresh = files.unfinished_store_name(path, stamp)
        _build(fresh, open_raw, records)
        # The log belongs to the old file. With it gone first, a crash right here leaves the damaged file and
        # its copy, and the next start mends again.
        for companion in files.companions(path):
            companion.unlink(missing_ok=True)
        os.replace(fresh, path)
        logger.error(
            "the store %s was damaged: %d records saved; the damaged file is kept as %s until something is forgotten",
            path,
            len(records),
            copy,
        )


@contextlib.contextmanager
def _turn(path: Path) -> Generator[None]:
    """One process at a time. SQLite's own lock on a file beside the store ends with its holder, on every system."""
    turnstile = path.with_name(path.name + ".mending")
    with contextlib.closing(sqlite3.connect(turnstile, timeout=_MENDING_TIMEOUT_S, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        yield
        turnstile.unlink(missing_ok=True)


def _build(fresh: Path, open_raw: OpenRaw, records: list[tuple[MemoryRecord, ...]]) -> None:
    files.create(fresh)
    with contextlib.closing(open_raw(fresh)) as db:
        migrate.migrate(db)
        request = RestoreRequest(tuple(records), at=canonical_instant(datetime.now(UTC)))
        db.execute("BEGIN IMMEDIATE")
        restoring.restore(db, request, [signature_of(versions[-1]) for versions in records])
        db.execute("COMMIT")


def readable_records(path: Path) -> list[tuple[MemoryRecord, ...]]:
    """The versions of every record whose current one can be read, oldest first."""
    rows = list(pages.read_rows(path))
    tokens = _scope_tokens(rows)
    current: dict[str, MemoryRecord] = {}
    for row in rows:
        if len(row.values) in _MEMORY_WIDTHS and row.rowid is not None:
            _, record_id, scope_id, *rest = row.values
            record = _record(tokens.get(scope_id), (record_id, *rest))
            if record and record.version >= (current[record.id].version if record.id in current else 0):
                current[record.id] = record
    unique = {(record.scope, record.key, lane_of(record)): record for record in current.values()}
    old: dict[str, dict[int, MemoryRecord]] = {}
    for row in rows:
        if len(row.values) == _HISTORY_WIDTH and row.rowid is None:
            # The primary key (id, version) stands first in a table without rowids.
            record_id, version, key, text, created_at, updated_at, *rest = row.values
            now = current.get(record_id) if isinstance(record_id, str) else None
            past = _record(now and now.scope, (record_id, key, text, created_at, updated_at, version, *rest))
            if past and now and past.key == now.key and past.version < now.version:
                old.setdefault(past.id, {})[past.version] = past
    return [
        (*(past for _, past in sorted(old.get(record.id, {}).items())), record)
        for record in sorted(unique.values(), key=lambda record: record.id)
    ]


def _scope_tokens(rows: Iterable[pages.Row]) -> dict[pages.Value, str]:
    """The scopes' tokens by row id: from their own table, and where that is lost from the change feed."""
    scope_of: dict[pages.Value, pages.Value] = {}
    tokens: dict[pages.Value, str] = {}
    for row in rows:
        if row.rowid is None:
            continue
        match row.values:
            case (None, str(token), int()):
                tokens[row.rowid] = token
            case (None, str(token), str(record_id)):
                scope_of[record_id] = token
            case _:
                pass
    for row in rows:
        if len(row.values) in _MEMORY_WIDTHS:
            token = scope_of.get(row.values[1])
            if isinstance(token, str):
                tokens.setdefault(row.values[2], token)
    return tokens


def _record(scope: str | None, values: tuple[pages.Value, ...]) -> MemoryRecord | None:
    if scope is None:
        return None
    try:
        return record_of(scope, values)
    except (ValidationError, ValueError, TypeError):
        return None
