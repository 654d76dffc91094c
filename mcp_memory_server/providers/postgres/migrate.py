"""The schema, as numbered files in one ledger."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final

from mcp_memory_server.errors import StoreTooNew

from .connection import SCHEMA

DEFAULT_PARTITIONS: Final = 16

_LOCK: Final = 0x4D4D_5331
"""Processes that start together take this advisory lock one after the other, and find the work done."""
_BY_SCOPE: Final = "/* by scope */"
_LEDGER: Final = """
CREATE TABLE IF NOT EXISTS migration (
    number      integer PRIMARY KEY,
    name        text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
)
"""
_EMPTY_PARENTS: Final = """
SELECT relname FROM pg_partitioned_table JOIN pg_class ON oid = partrelid
WHERE relnamespace = $1::text::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = partrelid)
ORDER BY relname
"""


@cache
def migrations() -> tuple[tuple[int, str, str], ...]:
    """(number, name, SQL) of each file in `migrations/`, in order."""
    folder = resources.files("mcp_memory_server.providers.postgres") / "migrations"
    found = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple((int(name[:4]), name.removesuffix(".sql"), (folder / name).read_text("utf-8")) for name in found)


def latest_version() -> int:
    return migrations()[-1][0]


async def schema_version(connection: Any) -> int:
    """The number of the last migration applied; 0 for a database without our schema."""
    held = await connection.fetchval("SELECT to_regclass($1)", f"{SCHEMA}.migration")
    if held is None:
        return 0
    return await connection.fetchval(f"SELECT coalesce(max(number), 0) FROM {SCHEMA}.migration")


async def migrate(connection: Any, partitions: int = DEFAULT_PARTITIONS) -> None:
    """Bring the schema to the latest version, all in one transaction.

    Args:
        connection: of a role that may create the schema, or owns it.
        partitions: how many each table of a new store is split into, by the hash of the scope; 0 for none, as an
            engine wants it that distributes the tables itself.

    Raises:
        StoreTooNew: a newer release wrote it; nothing is changed.
    """
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        version = await schema_version(connection)
        if version > latest_version():
            raise StoreTooNew(version, latest_version())
        await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}; SET LOCAL search_path = {SCHEMA}; {_LEDGER}")
        for number, name, sql in migrations():
            if number > version:
                await connection.execute(sql.replace(_BY_SCOPE, "PARTITION BY HASH (scope_id)" if partitions else ""))
                await _split(connection, partitions)
                await connection.execute("INSERT INTO migration (number, name) VALUES ($1, $2)", number, name)


async def _split(connection: Any, partitions: int) -> None:
    for (table,) in await connection.fetch(_EMPTY_PARENTS, SCHEMA):
        for rest in range(partitions):
            await connection.execute(
                f"CREATE TABLE {table}_{rest} PARTITION OF {table} "
                f"FOR VALUES WITH (MODULUS {partitions}, REMAINDER {rest})"
            )
