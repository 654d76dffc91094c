"""Row-level security as the second wall: what a query of ours would reach that forgot its scopes, or named others.

Every table is found in the catalogue, with rows of two scopes made up for it, so a new one is held to the wall unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import pytest

from mcp_memory_server.providers.postgres.names import place_of
from tests.providers.postgres_server import StoreUrls, fetch, fresh_store, run, with_connection

OURS: Final = place_of("actor:ann")
THEIRS: Final = place_of("actor:bob")

SHARED: Final = {"migration", "note", "secret"}
"""Tables of the store as a whole, which hold not a word of anybody's memory."""

TABLES: Final = """
SELECT relname AS name, relrowsecurity AND relforcerowsecurity AS is_walled,
    ARRAY(SELECT polname::text FROM pg_policy WHERE polrelid = pg_class.oid) AS policies
FROM pg_class WHERE relnamespace = 'mcp_memory'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
ORDER BY relname
"""
COLUMNS: Final = """
SELECT relname AS table, attname AS name, format_type(atttypid, NULL) AS type
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = 'mcp_memory'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
ORDER BY relname, attnum
"""
PARTITIONS: Final = """
SELECT relname FROM pg_class WHERE relnamespace = 'mcp_memory'::regnamespace AND relispartition AND relkind = 'r'
"""
VALUES: Final[dict[str, Any]] = {
    "text": "x", "bigint": 1, "integer": 1, "smallint": 0, "boolean": True, "bytea": b"x", "uuid": UUID(int=1),
}  # fmt: skip
"""Something to put into a column of each type; into one of arrays goes an empty one."""


@dataclass(frozen=True)
class Table:
    """A table of the schema, with the columns that it has beside `scope_id`."""

    name: str
    columns: Sequence[str]
    values: Sequence[Any]

    def insert(self) -> str:
        names = ", ".join(["scope_id", *self.columns])
        places = ", ".join(f"${number}" for number in range(1, len(self.columns) + 2))
        return f"INSERT INTO mcp_memory.{self.name} ({names}) VALUES ({places})"


@dataclass(frozen=True)
class Walled:
    """A store with a row of ours and a row of theirs in every table that has scopes."""

    urls: StoreUrls
    tables: Sequence[Table]

    @property
    def names(self) -> list[str]:
        return [table.name for table in self.tables]

    def counts(self) -> dict[str, tuple[int, int]]:
        """How many rows of ours and of theirs each table holds, as the owner sees it."""
        query = "SELECT count(*) FILTER (WHERE scope_id = $1), count(*) FILTER (WHERE scope_id = $2) FROM mcp_memory.{}"

        async def count(connection: Any) -> dict[str, tuple[int, int]]:
            return {name: tuple(await connection.fetchrow(query.format(name), OURS, THEIRS)) for name in self.names}

        return with_connection(self.urls.admin_url, count)


@pytest.fixture
def walled() -> Walled:
    urls = fresh_store()
    columns: dict[str, dict[str, str]] = {}
    for row in fetch(urls.admin_url, COLUMNS):
        columns.setdefault(row["table"], {})[row["name"]] = row["type"]
    tables = [
        Table(name, tuple(types), tuple(VALUES.get(kind, []) for kind in types.values()))
        for name, types in columns.items()
        if types.pop("scope_id", None) is not None
    ]

    async def fill(connection: Any) -> None:
        for table in tables:
            await connection.executemany(table.insert(), [(place, *table.values) for place in (OURS, THEIRS)])

    with_connection(urls.admin_url, fill)
    return Walled(urls, tables)


def answers(walled: Walled, scopes: str | None, statements: Iterable[str], *values: object) -> list[list[Any] | None]:
    """The rows of each statement of the servers' role in a transaction of its own about these scopes, undone then.

    None for a statement that was refused.
    """

    async def answer(connection: Any, statement: str) -> list[Any] | None:
        transaction = connection.transaction()
        await transaction.start()
        try:
            if scopes is not None:
                await connection.execute(f"SET LOCAL mcp_memory.scopes = '{scopes}'")
            return await connection.fetch(statement, *values)
        except asyncpg.InsufficientPrivilegeError:
            return None
        finally:
            await transaction.rollback()

    async def answer_all(connection: Any) -> list[list[Any] | None]:
        return [await answer(connection, statement) for statement in statements]

    return with_connection(walled.urls.url, answer_all)


def scopes_in(walled: Walled, scopes: str | None, statements: Iterable[str]) -> list[set[UUID]]:
    """At which scopes the rows are that each statement, whose first column says so, gives."""
    return [{row[0] for row in rows or ()} for rows in answers(walled, scopes, statements)]


ABOUT_US: Final = f"{{{OURS}}}"


def test_every_table_with_scopes_stands_behind_the_wall_and_the_others_are_known() -> None:
    tables = fetch(fresh_store().admin_url, TABLES)
    assert {table["name"] for table in tables if not table["is_walled"]} == SHARED
    assert all(table["policies"] == ["by_scope"] for table in tables if table["is_walled"])


def test_the_rows_of_two_scopes_are_there_to_be_kept_apart(walled: Walled) -> None:
    """Or the tests below would hold of empty tables."""
    assert len(walled.tables) >= 14
    assert set(walled.counts().values()) == {(1, 1)}


def test_a_query_that_forgets_its_scopes_or_names_others_reads_nothing_of_theirs(walled: Walled) -> None:
    asked = "SELECT scope_id FROM mcp_memory.{} WHERE {}"
    for where, read in {
        "true": {OURS},
        f"scope_id = '{OURS}' OR true": {OURS},
        f"scope_id = '{THEIRS}'": set[UUID](),
        f"scope_id <> '{OURS}'": set[UUID](),
    }.items():
        found = scopes_in(walled, ABOUT_US, (asked.format(table.name, where) for table in walled.tables))
        assert dict(zip(walled.names, found, strict=True)) == dict.fromkeys(walled.names, read)


def test_a_join_that_forgets_the_scope_reaches_nothing_of_theirs(walled: Walled) -> None:
    asked = "SELECT b.scope_id FROM mcp_memory.memory AS a FULL JOIN mcp_memory.{} AS b ON true"
    assert scopes_in(walled, ABOUT_US, map(asked.format, walled.names)) == [{OURS}] * len(walled.tables)


def test_a_change_that_forgets_its_scopes_or_names_others_changes_nothing_of_theirs(walled: Walled) -> None:
    for where, changed in {"": {OURS}, f"WHERE scope_id = '{THEIRS}'": set[UUID]()}.items():
        updates = [
            f"UPDATE mcp_memory.{table.name} SET {table.columns[0]} = {table.columns[0]} {where} RETURNING scope_id"
            for table in walled.tables
        ]
        deletions = [f"DELETE FROM mcp_memory.{name} {where} RETURNING scope_id" for name in walled.names]
        for statements in (updates, deletions):
            assert scopes_in(walled, ABOUT_US, statements) == [changed] * len(walled.tables)


def test_what_was_deleted_without_a_where_was_ours_alone(walled: Walled) -> None:
    """Committed, and looked at as the owner: not what a statement says of itself."""

    async def delete_all(connection: Any) -> None:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL mcp_memory.scopes = '{ABOUT_US}'")
            for table in walled.tables:
                await connection.execute(f"DELETE FROM mcp_memory.{table.name}")

    with_connection(walled.urls.url, delete_all)
    assert set(walled.counts().values()) == {(0, 1)}


@pytest.mark.parametrize("scopes", [ABOUT_US, "{}", "", None])
def test_nothing_is_written_into_a_scope_that_the_transaction_is_not_about(walled: Walled, scopes: str | None) -> None:
    elsewhere = place_of("global")
    for table in walled.tables:
        insertions = [table.insert(), f"{table.insert()} ON CONFLICT DO NOTHING"]
        assert answers(walled, scopes, insertions, elsewhere, *table.values) == [None, None], table.name
    if scopes == ABOUT_US:
        moves = [f"UPDATE mcp_memory.{name} SET scope_id = '{elsewhere}'" for name in walled.names]
        assert answers(walled, scopes, moves) == [None] * len(walled.tables)


@pytest.mark.parametrize("scopes", ["{}", "", None])
def test_a_transaction_that_is_about_nothing_reaches_nothing(walled: Walled, scopes: str | None) -> None:
    reads = [f"SELECT 1 FROM mcp_memory.{name}" for name in walled.names]
    deletions = [f"DELETE FROM mcp_memory.{name} RETURNING 1" for name in walled.names]
    assert answers(walled, scopes, [*reads, *deletions]) == [[]] * 2 * len(walled.tables)


def test_what_one_transaction_was_about_is_gone_in_the_next(walled: Walled) -> None:
    async def ask(connection: Any) -> int:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL mcp_memory.scopes = '{ABOUT_US}'")
            assert await connection.fetchval("SELECT count(*) FROM mcp_memory.memory") == 1
        return await connection.fetchval("SELECT count(*) FROM mcp_memory.memory")

    assert with_connection(walled.urls.url, ask) == 0


def test_a_transaction_reaches_all_the_scopes_that_it_names_and_an_operators_act_all(walled: Walled) -> None:
    for scopes in (f"{{{OURS},{THEIRS}}}", "*"):
        reads = [f"SELECT scope_id FROM mcp_memory.{name}" for name in walled.names]
        assert scopes_in(walled, scopes, reads) == [{OURS, THEIRS}] * len(walled.tables)


def test_a_partition_is_no_way_round(walled: Walled) -> None:
    """The policy stands on the table as a whole, so a partition by itself must not be open at all."""
    partitions = [row["relname"] for row in fetch(walled.urls.admin_url, PARTITIONS)]
    assert len(partitions) >= 2 * len(walled.tables)
    for statement in ("SELECT 1 FROM mcp_memory.{}", "DELETE FROM mcp_memory.{}"):
        assert answers(walled, "*", map(statement.format, partitions)) == [None] * len(partitions)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE mcp_memory.memory DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE mcp_memory.memory NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY by_scope ON mcp_memory.memory",
        "CREATE OR REPLACE FUNCTION mcp_memory.allows_all() RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE TABLE mcp_memory.mine (x integer)",
        "TRUNCATE mcp_memory.memory",
        "UPDATE mcp_memory.migration SET number = 0",
        "SET row_security = off; SELECT 1 FROM mcp_memory.memory",
    ],
)
def test_the_servers_role_cannot_take_the_wall_down(statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        run(fresh_store().url, statement)


def test_the_servers_role_is_a_plain_one_that_owns_nothing() -> None:
    urls = fresh_store()
    (role,) = fetch(
        urls.url,
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication,"
        " has_database_privilege(current_database(), 'CREATE'), has_schema_privilege('mcp_memory', 'CREATE'),"
        " EXISTS (SELECT 1 FROM pg_shdepend WHERE refobjid = pg_roles.oid AND deptype = 'o')"
        " FROM pg_roles WHERE rolname = current_user",
    )
    assert set(role.values()) == {False}


def test_no_function_of_ours_acts_as_its_owner() -> None:
    functions = fetch(
        fresh_store().admin_url,
        "SELECT proname, prosecdef FROM pg_proc WHERE pronamespace = 'mcp_memory'::regnamespace",
    )
    assert {row["proname"] for row in functions} >= {"allowed_scopes", "allows_all"}
    assert not any(row["prosecdef"] for row in functions)


def test_a_policy_is_looked_at_once_a_statement_and_not_once_a_row(walled: Walled) -> None:
    plans = answers(walled, ABOUT_US, (f"EXPLAIN (VERBOSE) SELECT * FROM mcp_memory.{name}" for name in walled.names))
    for plan in plans:
        lines = [row[0].strip() for row in plan or ()]
        filters = [line for line in lines if line.startswith("Filter:")]
        assert any(line.startswith("InitPlan 1") for line in lines), lines
        assert filters, lines
        assert not any("current_setting" in line or "allowed_scopes" in line for line in filters), lines
