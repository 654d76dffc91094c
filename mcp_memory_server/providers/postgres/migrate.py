"""The schema, as numbered files in one ledger.

The owner of the tables migrates, the servers' role only looks: `migrate_store` is the owner's act, `check_schema` what
a server does when it opens the store. Where both are one role, as for a first try, opening does the owner's act too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

from mcp_memory_server.errors import ConfigurationError, StoreTooNew, StoreUnavailable
from mcp_memory_server.providers.migrating import Migrated, MigrationRequest

from . import roles
from .connecting import address_of, connected
from .connection import SCHEMA, Database, Limits, Transaction, mapped_errors

_OLDEST: Final = 15
"""The first release of Postgres in which a plain role can be let write out the log, as forgetting needs it."""
_LOCK: Final = 0x4D4D_5331
"""Processes that start together take this advisory lock one after the other, and find the work done."""
_LOCK_TIMEOUT_S: Final = 30
"""How long a migration waits for those who use a table; the advisory lock it waits for as long as it takes."""
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
_UNSAMPLED: Final = """
SELECT attname FROM pg_attribute
WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attstattarget = 0
"""
_PARTITIONS: Final = f"SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('{SCHEMA}.memory')"
_FOREIGN: Final = """
SELECT EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = space.oid) FROM pg_namespace AS space WHERE nspname = $1
"""
_OWNS: Final = "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = $1"
_STATE: Final = """
SELECT
    current_setting('server_version_num')::integer / 10000,
    current_setting('server_encoding'),
    ledger.oid IS NOT NULL,
    coalesce(has_schema_privilege(space.oid, 'USAGE') AND has_table_privilege(ledger.oid, 'SELECT'), false),
    CASE WHEN space.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
        ELSE pg_has_role(space.nspowner, 'USAGE') END
FROM (VALUES (1)) AS one LEFT JOIN pg_namespace AS space ON space.nspname = $1
LEFT JOIN pg_class AS ledger ON ledger.relnamespace = space.oid AND ledger.relname = 'migration'
"""


@cache
def migrations() -> tuple[tuple[int, str, str], ...]:
    """(number, name, SQL) of each file in `migrations/`, in order."""
    folder = resources.files("mcp_memory_server.providers.postgres") / "migrations"
    found = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple((int(name[:4]), name.removesuffix(".sql"), (folder / name).read_text("utf-8")) for name in found)


def latest_version() -> int:
    return migrations()[-1][0]


# --- by the servers -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _State:
    release: int
    encoding: str
    version: int
    is_readable: bool
    may_migrate: bool


async def _state(db: Transaction) -> _State:
    row = await db.row(_STATE, SCHEMA)
    assert row is not None
    release, encoding, has_ledger, is_readable, may_migrate = row
    version = await db.value(f"SELECT coalesce(max(number), 0) FROM {SCHEMA}.migration") if is_readable else 0
    return _State(release, encoding, version, is_readable or not has_ledger, may_migrate)


async def check_schema(database: Database, url: str, limits: Limits, *, migrates: bool) -> None:
    """See that the store has the schema of this release.

    Args:
        migrates: whether to make and upgrade it where the role may, because no other role is there for it.

    Raises:
        StoreTooNew: a newer release wrote it.
        StoreUnavailable: there is no store yet, an older one, or one that this role may not use.
        ConfigurationError: the database cannot hold every text.
    """
    state = await database.read((), _state)
    _check_database(state.release, state.encoding)
    if not state.is_readable:
        raise StoreUnavailable(
            "The role in the URL may not use the store in this database. Run `mcp-memory-server migrate` with this URL "
            "and the owner's in MCP_MEMORY_ADMIN_URL: it gives the role what a server needs."
        )
    if state.version == latest_version():
        return
    if state.version > latest_version():
        raise StoreTooNew(state.version, latest_version())
    if migrates and state.may_migrate:
        await migrate_store(url, MigrationRequest(), limits=limits)
        return
    found = f"has schema version {state.version}, and this release needs {latest_version()}" if state.version else ""
    raise StoreUnavailable(
        f"The store {found or 'is not there yet: the database holds none'}. Run `mcp-memory-server migrate` with the "
        "URL of its owner in MCP_MEMORY_ADMIN_URL."
    )


def _check_database(release: int, encoding: str) -> None:
    if release < _OLDEST:
        raise StoreUnavailable(
            f"The database is run by Postgres {release}; {_OLDEST} is the oldest that a store can be kept in."
        )
    if encoding != "UTF8":
        raise ConfigurationError(
            f"The database keeps text as {encoding}, which not every text can be written in. Make one for the store: "
            "CREATE DATABASE memory ENCODING 'UTF8' TEMPLATE template0."
        )


# --- by the owner -------------------------------------------------------------------------------------


async def migrate_store(url: str, request: MigrationRequest, *, limits: Limits | None = None) -> Migrated:
    """Bring the store in a database to the schema of this release.

    Args:
        url: of the owner, or of a role that may create a schema in the database.
        request: the owner itself counts as no `server_role`.
        limits: told in errors only.

    Raises:
        ConfigurationError, StoreUnavailable, StoreTooNew, StoreBusy
    """
    with mapped_errors(limits or Limits(busy_timeout_s=_LOCK_TIMEOUT_S)):
        async with connected(url) as connection:
            encoding = await connection.fetchval("SELECT current_setting('server_encoding')")
            _check_database(connection.get_server_version().major, encoding)
            if request.server_role == await connection.fetchval("SELECT current_user"):
                request = replace(request, server_role=None)
            try:
                return await migrate(connection, request)
            except asyncpg.InsufficientPrivilegeError as error:
                raise ConfigurationError(_not_the_owner(address_of(url).role)) from error


def server_role_of(url: str) -> str:
    """Who servers connect as by this URL.

    Raises:
        ConfigurationError: it does not say.
    """
    role = address_of(url).role
    if role is None:
        raise ConfigurationError("The URL names no user, so say by --server-role as whom servers connect.")
    return role


def _not_the_owner(role: str | None) -> str:
    return (
        f"The role {role or 'of this user'} may not migrate the store: it neither owns the schema {SCHEMA} nor may "
        "create it. Give the URL of a role that may in MCP_MEMORY_ADMIN_URL, or GRANT CREATE ON DATABASE to this one."
    )


async def migrate(connection: Any, request: MigrationRequest) -> Migrated:
    """Bring the schema to the latest version and give the servers' role its rights, all in one transaction.

    Args:
        connection: of a role that may create the schema, or owns it.

    Raises:
        StoreTooNew: a newer release wrote it; nothing is changed.
        StoreUnavailable: the schema is another program's, or there is no such role.
        ConfigurationError: the connection's role is not the owner.
    """
    async with connection.transaction():
        await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT_S}s'")
        before = await _make_ledger(connection)
        if not await connection.fetchval(_OWNS, SCHEMA):
            raise ConfigurationError(_not_the_owner(await connection.fetchval("SELECT current_user")))
        await connection.execute(f"SET LOCAL search_path = {SCHEMA}")
        partitions: int = await connection.fetchval(_PARTITIONS) if before else request.partitions
        for number, name, sql in migrations():
            if number > before:
                await connection.execute(sql.replace(_BY_SCOPE, "PARTITION BY HASH (scope_id)" if partitions else ""))
                await _split(connection, partitions)
                await connection.execute("INSERT INTO migration (number, name) VALUES ($1, $2)", number, name)
        return Migrated(
            database=await connection.fetchval("SELECT current_database()"),
            before=before,
            after=latest_version(),
            partitions=partitions,
            server_role=request.server_role,
            notes=await _let_serve(connection, request.server_role),
        )


async def schema_version(connection: Any) -> int:
    """The number of the last migration applied; 0 for a database without our schema.

    Raises:
        StoreUnavailable: the schema of our name is another program's.
    """
    if await connection.fetchval("SELECT to_regclass($1)", f"{SCHEMA}.migration") is None:
        if await connection.fetchval(_FOREIGN, SCHEMA):
            raise StoreUnavailable(
                f"The schema {SCHEMA} of this database holds another program's tables. It was left untouched: name "
                "another database."
            )
        return 0
    return await connection.fetchval(f"SELECT coalesce(max(number), 0) FROM {SCHEMA}.migration")


async def _make_ledger(connection: Any) -> int:
    """The version that the store has so far, with a ledger to note the next ones in."""
    version = await schema_version(connection)
    if version > latest_version():
        raise StoreTooNew(version, latest_version())
    if not version:
        # Not IF NOT EXISTS, which asks for the right to create one even where it is there.
        if await connection.fetchval("SELECT to_regnamespace($1)", SCHEMA) is None:
            await connection.execute(f"CREATE SCHEMA {SCHEMA}")
        await connection.execute(f"SET LOCAL search_path = {SCHEMA}; {_LEDGER}")
    return version


async def _split(connection: Any, partitions: int) -> None:
    """Give each table that a migration made its partitions."""
    for row in await connection.fetch(_EMPTY_PARENTS, SCHEMA):
        table = row["relname"]
        for rest in range(partitions):
            await connection.execute(
                f"CREATE TABLE {table}_{rest} PARTITION OF {table} "
                f"FOR VALUES WITH (MODULUS {partitions}, REMAINDER {rest})"
            )
        # A partition does not take this over from its table when it is made.
        for column in await connection.fetch(_UNSAMPLED, table):
            await connection.execute(f"ALTER TABLE {table} ALTER {column['attname']} SET STATISTICS 0")


async def _let_serve(connection: Any, role: str | None) -> list[str]:
    """Give the servers' role its rights; what falls short."""
    if role is None:
        served_by: str = await connection.fetchval("SELECT current_user")
        gap = await roles.gap_in_the_wall(connection, served_by)
        return [] if gap is None else [gap]
    await roles.grant(connection, role)
    notes = [gap] if (gap := await roles.gap_in_the_wall(connection, role)) else []
    if not roles.can_vacuum(connection):
        notes.append(
            f"Before Postgres {roles.VACUUM_SINCE} a role cannot be let rewrite tables that it does not own: what is "
            "forgotten is pending until `mcp-memory-server doctor` runs as the owner."
        )
    if not await roles.grant_log(connection, role):
        name = await connection.fetchval("SELECT quote_ident($1)", role)
        notes.append(
            "The role may not close and write out the log, so what is forgotten stays in it until the server has done "
            f"so. Let a superuser run: GRANT pg_checkpoint TO {name}; GRANT EXECUTE ON FUNCTION pg_switch_wal() TO "
            f"{name};"
        )
    return notes
