"""The role that servers connect as: what it is given, and whether row-level security holds it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

from mcp_memory_server.errors import StoreUnavailable, echo

from .connection import SCHEMA

VACUUM_SINCE: Final = 17
"""The first release of Postgres in which a role that does not own a table can be let VACUUM it."""

_TABLES: Final = """
SELECT oid, relname FROM pg_class
WHERE relnamespace = $1::text::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migration'
ORDER BY relname
"""
WALL: Final = """
SELECT role.rolsuper OR role.rolbypassrls AS passes,
    EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $2 AND pg_has_role(role.oid, nspowner, 'MEMBER')) AS owns
FROM pg_roles AS role WHERE role.rolname = $1
"""
LACKING: Final = f"""
SELECT
    array_agg(relname::text ORDER BY relname) FILTER (WHERE NOT (
        has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))),
    array_agg(relname::text ORDER BY relname) FILTER (WHERE relname NOT IN ('note', 'secret')
        AND NOT row_security_active(oid))
FROM ({_TABLES}) AS ours
"""
"""The tables that the own role may not use as a server has to, and those that it meets without the wall."""
_MAY_WRITE_OUT: Final = """
SELECT pg_has_role($1, 'pg_checkpoint', 'USAGE') AND has_function_privilege($1, 'pg_switch_wal()', 'EXECUTE')
"""


async def grant(connection: Any, role: str) -> None:
    """Give a role what a server needs, and nothing beyond.

    Of a partition it may not read a row: the policy stands on the table as a whole, so who asks a partition goes
    round it.

    Raises:
        StoreUnavailable: there is no such role.
    """
    name = await connection.fetchval("SELECT quote_ident(rolname) FROM pg_roles WHERE rolname = $1", role)
    if name is None:
        quoted = await connection.fetchval("SELECT quote_ident($1)", role)
        raise StoreUnavailable(
            f"There is no role {echo(role)} that servers could connect as. Make one, with a password of your own, and "
            f"migrate again: CREATE ROLE {quoted} LOGIN PASSWORD '...';"
        )
    tables = ", ".join(row["relname"] for row in await connection.fetch(_TABLES, SCHEMA))
    await connection.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM {name}")
    await connection.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {name}")
    await connection.execute(f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {SCHEMA} TO {name}")
    await connection.execute(f"GRANT SELECT ON migration TO {name}")
    await connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {name}")
    if can_vacuum(connection):
        await connection.execute(f"GRANT MAINTAIN ON ALL TABLES IN SCHEMA {SCHEMA} TO {name}")


def can_vacuum(connection: Any) -> bool:
    """Whether a role that owns nothing can be let VACUUM at all."""
    return connection.get_server_version().major >= VACUUM_SINCE


async def grant_log(connection: Any, role: str) -> bool:
    """Let a role close the log's segment and write it out, where the owner may let it.

    So what `forget` erased leaves the log at once; whether it may now.
    """
    name = await connection.fetchval("SELECT quote_ident($1)", role)
    for right in ("pg_checkpoint", "EXECUTE ON FUNCTION pg_switch_wal()"):
        with contextlib.suppress(asyncpg.InsufficientPrivilegeError):
            async with connection.transaction():
                await connection.execute(f"GRANT {right} TO {name}")
    return await connection.fetchval(_MAY_WRITE_OUT, role)


async def gap_in_the_wall(connection: Any, role: str) -> str | None:
    """Why row-level security does not hold a role as it should; None where it does."""
    return told_gap(role, await connection.fetchrow(WALL, role, SCHEMA))


def told_gap(role: str, found: Sequence[Any] | None) -> str | None:
    """As `gap_in_the_wall`, of what `WALL` found."""
    passes, owns = found or (False, False)
    if passes:
        return (
            f"Row-level security does not apply to the role {echo(role)}, a superuser or one with BYPASSRLS: queries "
            "alone keep scopes apart. Let servers connect as a plain role."
        )
    if owns:
        return (
            f"The role {echo(role)} owns the tables, so it could take row-level security off them. Let servers "
            "connect as a plain role that owns nothing."
        )
    return None


def told_lacks(found: Sequence[Any] | None) -> Iterator[str]:
    """What is to be mended, of what `LACKING` found, where the role is one that the wall holds."""
    closed, bare = found or (None, None)
    if closed:
        yield (
            f"The role may not read and write {', '.join(closed)} as a server has to. Run `mcp-memory-server migrate` "
            "with the URL of the owner in MCP_MEMORY_ADMIN_URL."
        )
    if bare:
        altered = "; ".join(
            f"ALTER TABLE {SCHEMA}.{name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY" for name in bare
        )
        yield f"Row-level security was taken off: queries alone keep scopes apart. Let the owner run: {altered};"
