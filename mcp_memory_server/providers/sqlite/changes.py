"""The change feed, and the cheap question whether anything changed at all."""

from __future__ import annotations

import sqlite3

from mcp_memory_server.providers.base import Change, ChangeBatch


def data_version(db: sqlite3.Connection) -> int:
    """A number that moves whenever another connection commits; it reads one word of shared memory."""
    return db.execute("PRAGMA data_version").fetchone()[0]


def changes(db: sqlite3.Connection, after: int | None) -> ChangeBatch:
    newest = db.execute("SELECT coalesce(max(cursor), 0) FROM change").fetchone()[0]
    if after is None or newest == after:
        return ChangeBatch(newest, ())
    if newest < after:  # a cursor of another store, which stood at this path
        return ChangeBatch(newest, (), gap=True)
    oldest = db.execute("SELECT min(cursor) FROM change").fetchone()[0]
    rows = db.execute("SELECT scope, id FROM change WHERE cursor > ? ORDER BY cursor", (after,))
    return ChangeBatch(newest, tuple(Change(*row) for row in rows), gap=oldest is None or oldest > after + 1)
