"""The schema, as numbered files in one ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import cache
from importlib import resources

from mcp_memory_server.errors import StoreTooNew, StoreUnavailable
from mcp_memory_server.providers.entity_names import fold_name

from .files import APPLICATION_ID

_LEDGER = """
CREATE TABLE IF NOT EXISTS migration (
    number      INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    applied_at  TEXT NOT NULL
)
"""


@cache
def migrations() -> tuple[tuple[int, str, str], ...]:
    """(number, name, SQL) of each file in `migrations/`, in order."""
    folder = resources.files("mcp_memory_server.providers.sqlite") / "migrations"
    found = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple((int(name[:4]), name.removesuffix(".sql"), (folder / name).read_text("utf-8")) for name in found)


def latest_version() -> int:
    return migrations()[-1][0]


def schema_version(db: sqlite3.Connection) -> int:
    """The number of the last migration applied; 0 for an empty file.

    Raises:
        StoreUnavailable: the database has tables of somebody else.
    """
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not tables:
        return 0
    if "migration" not in tables:
        raise StoreUnavailable(
            "The file is another program's SQLite database. It was left untouched: name another file."
        )
    return db.execute("SELECT coalesce(max(number), 0) FROM migration").fetchone()[0]


def migrate(db: sqlite3.Connection) -> None:
    """Bring the store to the latest schema: each migration with its line in the ledger in one transaction.

    Processes that start together wait for each other and find the work done; a killed one leaves the last
    whole step. One of an earlier release may have the store open all the while: a migration that changes what a
    column means gives it another name, so that such a process fails instead of going by the old meaning.

    Raises:
        StoreTooNew: a newer release wrote it; nothing is changed.
    """
    latest = latest_version()
    # Look before locking: most starts find nothing to do, and must not wait for a writer.
    if (version := schema_version(db)) == latest:
        return
    if version > latest:
        raise StoreTooNew(version, latest)
    db.create_function("fold_name", 1, fold_name, deterministic=True)
    for number, name, sql in migrations():
        db.execute("BEGIN IMMEDIATE")
        try:
            db.execute(_LEDGER)
            if schema_version(db) < number:
                for statement in _statements(sql):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute("INSERT INTO migration VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))", (number, name))
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def _statements(sql: str) -> Iterator[str]:
    """The statements of a file, one by one: `executescript` would commit the transaction that they stand in."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement
