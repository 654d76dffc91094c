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
_TABLES: Final = """
SELECT relname FROM pg_class
WHERE relnamespace = $1::text::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
ORDER BY relname
"""
MAINTAINABLE: Final = 17
"""The first release of Postgres in which a role that does not own a table can be let VACUUM it."""
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


async def migrate(connection: Any, partitions: int = DEFAULT_PARTITIONS, server_role: str | None = None) -> None:
    """Bring the schema to the latest version, all in one transaction.

    Args:
        connection: of a role that may create the schema, or owns it.
        partitions: how many each table of a new store is split into, by the hash of the scope; 0 for none, as an
            engine wants it that distributes the tables itself.
        server_role: who the servers connect as; it is given what they need. None where that is the owner itself.

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
        if server_role is not None:
            await _grant(connection, server_role)


async def _grant(connection: Any, role: str) -> None:
    """Give a role what a server needs.

    Of a partition it may not read a row, for the policy stands on the table as a whole: who asks a partition goes
    round it.
    """
    name = await connection.fetchval("SELECT quote_ident($1)", role)
    tables = ", ".join(f"{SCHEMA}.{table}" for (table,) in await connection.fetch(_TABLES, SCHEMA))
    await connection.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {name}")
    await connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {name}")
    await connection.execute(f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {SCHEMA} TO {name}")
    if connection.get_server_version().major >= MAINTAINABLE:
        await connection.execute(f"GRANT MAINTAIN ON ALL TABLES IN SCHEMA {SCHEMA} TO {name}")


async def _split(connection: Any, partitions: int) -> None:
    for (table,) in await connection.fetch(_EMPTY_PARENTS, SCHEMA):
        for rest in range(partitions):
            await connection.execute(
                f"CREATE TABLE {table}_{rest} PARTITION OF {table} "
                f"FOR VALUES WITH (MODULUS {partitions}, REMAINDER {rest})"
            )
