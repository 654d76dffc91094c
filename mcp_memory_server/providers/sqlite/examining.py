"""The state of the store, for its operator."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mcp_memory_server.providers.base import Condition

from . import files, migrate

_COUNTED: Final = {"records": "memory", "audit_lines": "audit", "journaled_digests": "journal"}
_UNSEARCHABLE: Final = """
SELECT count(*) FROM memory WHERE status = 'active' AND number NOT IN (SELECT number FROM signature)
"""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def condition(db: sqlite3.Connection, path: Path) -> Condition:
    """Read every page, count what is held, and look at the files."""
    size = sum(file.stat().st_size for file in (path, *files.companions(path)) if file.exists())
    mode = stat.S_IMODE(path.stat().st_mode)
    details: dict[str, str | int] = {
        "path": str(path),
        "size_bytes": size,
        "permissions": f"{mode:04o}",
        "sqlite_version": sqlite3.sqlite_version,
        "schema_version": migrate.schema_version(db),
    }
    details |= {name: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for name, table in _COUNTED.items()}
    pending = db.execute("SELECT count(*) FROM erasure").fetchone()[0]
    copies = files.damaged_copies(path)
    details |= {"pending_erasures": pending, "damaged_copies": len(copies)}
    notices = tuple(f"A damaged copy from mending is kept until something is forgotten: {copy}" for copy in copies)
    return Condition(details, tuple(_faults(db, path, mode, pending)), notices)


def record_maintenance(db: sqlite3.Connection, at: str) -> None:
    db.execute("INSERT OR REPLACE INTO note (name, value) VALUES ('last_maintenance', ?)", (at,))


def last_maintenance(db: sqlite3.Connection) -> str | None:
    row = db.execute("SELECT value FROM note WHERE name = 'last_maintenance'").fetchone()
    return None if row is None else row[0]


def _faults(db: sqlite3.Connection, path: Path, mode: int, pending: int) -> Iterator[str]:
    # At most three findings: they name tables and indexes, and one is reason enough.
    for (finding,) in db.execute("PRAGMA integrity_check(3)").fetchall():
        if finding != "ok":
            yield f"The file is inconsistent ({finding}). Export everything, move it away, and import into a new store."
    if unsearchable := db.execute(_UNSEARCHABLE).fetchone()[0]:
        yield f"{unsearchable} records cannot be found by search. Export everything and import it again."
    if pending:
        yield f"{pending} erasures wait: another program holds the file open. Close it and run doctor again."
    if os.name == "posix" and mode & _OTHERS:
        yield f"Others on this machine may read the file. Make it yours alone: chmod 600 {path}"
