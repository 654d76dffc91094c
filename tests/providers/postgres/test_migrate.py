"""Making, upgrading and opening the schema: who may, what the servers' role is given, and what is told."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import pytest

from mcp_memory_server.errors import ConfigurationError, StoreTooNew, StoreUnavailable
from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.base import ListRequest, SearchRequest, WriteRequest
from mcp_memory_server.providers.contract.store import Store, opened
from mcp_memory_server.providers.migrating import Migrated, MigrationRequest
from mcp_memory_server.providers.postgres import migrate, open_postgres
from mcp_memory_server.records import MemoryOrigin
from tests.providers.postgres_server import PARTITIONS, StoreUrls, cluster, fetch, fresh_store, run, url_of

AT: Final = "2026-03-01T09:00:00.000Z"
LEDGER: Final = "SELECT number, name, applied_at FROM mcp_memory.migration ORDER BY number"
NEXT: Final = (2, "0002_extra", "CREATE TABLE extra (scope_id uuid NOT NULL PRIMARY KEY) /* by scope */;")


def fact(scope: str, text: str) -> WriteRequest:
    return WriteRequest(scope, "office", text, MemoryOrigin(author="human"), AT)


def migrated(url: str, request: MigrationRequest | None = None) -> Migrated:
    return asyncio.run(migrate.migrate_store(url, request or MigrationRequest()))


async def held(url: str, *, migrates: bool = True) -> int:
    """Opens the store; how many facts Ann has in it."""
    async with open_postgres(url, migrates=migrates) as provider:
        return len((await provider.list(ListRequest(("actor:ann",)))).records)


def opens(url: str, *, migrates: bool = True) -> None:
    assert asyncio.run(held(url, migrates=migrates)) == 0


@pytest.fixture
def blank() -> StoreUrls:
    return cluster().blank()


@pytest.fixture
def next_release(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes this release one that has a migration more."""

    def begin() -> None:
        known = migrate.migrations()
        monkeypatch.setattr(migrate, "migrations", lambda: (*known, NEXT))

    return begin


# --- by the owner -------------------------------------------------------------------------------------


def test_several_processes_at_once_make_one_store(blank: StoreUrls) -> None:
    command = [sys.executable, "-m", "mcp_memory_server", "migrate"]
    environment = os.environ | {"MCP_MEMORY_URL": blank.url, "MCP_MEMORY_ADMIN_URL": blank.owner_url}
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    told = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], told
    assert sorted(said.split()[0] for said, _ in told) == ["Made", "The", "The"]
    assert [row["number"] for row in fetch(blank.owner_url, LEDGER)] == [
        number for number, _, _ in migrate.migrations()
    ]
    opens(blank.url)


@pytest.mark.parametrize("partitions", [0, 4])
async def test_a_store_works_in_any_number_of_partitions(blank: StoreUrls, partitions: int) -> None:
    done = await migrate.migrate_store(blank.owner_url, MigrationRequest(partitions, cluster().role))
    assert (done.before, done.after, done.partitions) == (0, migrate.latest_version(), partitions)
    query = "SELECT count(*) AS parts FROM pg_inherits WHERE inhparent = 'mcp_memory.memory'::regclass"
    assert fetch(blank.admin_url, query)[0]["parts"] == partitions
    scopes = tuple(f"actor:{number}" for number in range(8))
    async with opened(Store(lambda: open_provider(blank.url))) as provider:
        for scope in scopes:
            await provider.write(fact(scope, f"Lyon, says {scope}"))
        assert [record.scope for record in (await provider.list(ListRequest(scopes))).records] == list(scopes)
        found = await provider.search(SearchRequest((scopes[3],), "Lyon", 5, AT))
        assert [hit.record.scope for hit in found] == [scopes[3]]


def test_doing_it_again_changes_nothing_and_keeps_the_partitions(blank: StoreUrls) -> None:
    migrated(blank.owner_url, MigrationRequest(3))
    before = fetch(blank.owner_url, LEDGER)
    again = migrated(blank.owner_url, MigrationRequest(7))
    assert (again.before, again.after, again.partitions) == (again.after, migrate.latest_version(), 3)
    assert fetch(blank.owner_url, LEDGER) == before


def test_an_upgrade_splits_new_tables_as_the_store_is_split_and_lets_servers_use_them(
    next_release: Callable[[], None],
) -> None:
    store = fresh_store()
    next_release()
    done = migrated(store.owner_url, MigrationRequest(9, cluster().role))
    assert (done.before, done.after, done.partitions) == (1, 2, PARTITIONS)
    query = "SELECT count(*) AS parts FROM pg_inherits WHERE inhparent = 'mcp_memory.extra'::regclass"
    assert fetch(store.admin_url, query)[0]["parts"] == PARTITIONS
    assert fetch(store.url, "SELECT * FROM mcp_memory.extra") == []
    opens(store.url)


def test_a_migration_that_fails_leaves_the_version_before(monkeypatch: pytest.MonkeyPatch) -> None:
    store = fresh_store()
    broken = (2, "0002_broken", "CREATE TABLE extra (x integer); SELECT 1 / 0;")
    known = migrate.migrations()
    monkeypatch.setattr(migrate, "migrations", lambda: (*known, broken))
    with pytest.raises(StoreUnavailable, match="SQLSTATE 22012"):
        migrated(store.owner_url)
    monkeypatch.undo()
    assert fetch(store.admin_url, "SELECT to_regclass('mcp_memory.extra') AS found")[0]["found"] is None
    opens(store.url)


def test_a_store_of_a_newer_release_is_left_alone() -> None:
    store = fresh_store()
    run(store.owner_url, "INSERT INTO mcp_memory.migration (number, name) VALUES (99, '0099_later')")
    before = fetch(store.owner_url, LEDGER)
    with pytest.raises(StoreTooNew, match="version 99"):
        migrated(store.owner_url, MigrationRequest(server_role=cluster().role))
    for url in (store.url, store.owner_url):
        with pytest.raises(StoreTooNew, match="version 99"):
            opens(url)
    assert fetch(store.owner_url, LEDGER) == before


def test_another_programs_schema_of_the_name_is_left_alone(blank: StoreUrls) -> None:
    run(blank.owner_url, "CREATE SCHEMA mcp_memory; CREATE TABLE mcp_memory.theirs (x integer)")
    with pytest.raises(StoreUnavailable, match="another program's"):
        migrated(blank.owner_url)
    with pytest.raises(StoreUnavailable, match="another program's"):
        opens(blank.owner_url)


def test_a_schema_that_was_made_for_the_owner_is_enough(blank: StoreUrls) -> None:
    """As where nobody but an administrator may create one."""
    run(blank.admin_url, f"CREATE SCHEMA mcp_memory AUTHORIZATION {cluster().role}")
    done = migrated(blank.url)
    assert (done.before, done.after) == (0, migrate.latest_version())
    opens(blank.url)


def test_who_is_not_the_owner_is_told_what_to_give(blank: StoreUrls) -> None:
    """Also where nothing is left to do: or who connects as the wrong role would believe to be the owner."""
    for url in (blank.url, fresh_store().url):
        with pytest.raises(ConfigurationError, match="may not migrate the store") as told:
            migrated(url)
        assert "MCP_MEMORY_ADMIN_URL" in str(told.value)
        assert cluster().role in str(told.value)


# --- the servers' role --------------------------------------------------------------------------------


def test_a_role_that_is_not_there_is_told_with_the_line_that_makes_it(blank: StoreUrls) -> None:
    with pytest.raises(StoreUnavailable) as told:
        migrated(blank.owner_url, MigrationRequest(server_role='Servers of "Acme"'))
    assert """CREATE ROLE "Servers of ""Acme\""" LOGIN PASSWORD '...';""" in str(told.value)
    assert fetch(blank.admin_url, "SELECT to_regnamespace('mcp_memory') AS found")[0]["found"] is None


def test_the_role_is_given_what_a_server_needs_and_no_more() -> None:
    store = fresh_store()
    rights = fetch(
        store.url,
        """
        SELECT relname AS name, relispartition AS is_part,
            ARRAY(
                SELECT privilege FROM unnest(ARRAY[
                    'SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN'
                ]) AS privilege WHERE has_table_privilege(pg_class.oid, privilege)
            ) AS rights
        FROM pg_class WHERE relnamespace = 'mcp_memory'::regnamespace AND relkind IN ('r', 'p')
        """,
    )
    of_tables = {row["name"]: row["rights"] for row in rights if not row["is_part"]}
    assert of_tables.pop("migration") == ["SELECT", "MAINTAIN"]
    assert len(of_tables) >= 16
    assert all(found == ["SELECT", "INSERT", "UPDATE", "DELETE", "MAINTAIN"] for found in of_tables.values())
    assert {tuple(row["rights"]) for row in rights if row["is_part"]} == {("MAINTAIN",)}


def test_what_the_role_was_given_beside_is_taken_back() -> None:
    store = fresh_store()
    run(store.owner_url, f"GRANT SELECT ON mcp_memory.memory_0 TO {cluster().role}")
    run(store.url, "SELECT 1 FROM mcp_memory.memory_0")
    migrated(store.owner_url, MigrationRequest(server_role=cluster().role))
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        run(store.url, "SELECT 1 FROM mcp_memory.memory_0")


def test_what_the_owner_cannot_give_is_noted_with_what_a_superuser_has_to_run(blank: StoreUrls) -> None:
    run(cluster().url, 'CREATE ROLE "plain server"')
    try:
        request = MigrationRequest(server_role="plain server")
        (note,) = migrated(blank.owner_url, request).notes
        assert 'GRANT pg_checkpoint TO "plain server"' in note
        assert migrated(blank.admin_url, request).notes == []
    finally:
        cluster().drop()
        run(cluster().url, 'DROP ROLE "plain server"')


def test_a_role_that_the_wall_does_not_hold_is_noted(blank: StoreUrls) -> None:
    assert "owns the tables" in migrated(blank.owner_url).notes[0]
    assert "Row-level security does not apply" in migrated(blank.admin_url).notes[0]
    by_superuser = migrated(blank.owner_url, MigrationRequest(server_role="postgres"))
    assert "Row-level security does not apply to the role 'postgres'" in by_superuser.notes[0]


# --- by the servers -----------------------------------------------------------------------------------


def test_with_one_role_that_owns_the_database_opening_is_enough(blank: StoreUrls) -> None:
    opens(blank.owner_url)
    assert [row["number"] for row in fetch(blank.owner_url, LEDGER)] == [
        number for number, _, _ in migrate.migrations()
    ]
    opens(blank.owner_url)


def test_the_one_role_is_held_by_the_wall_as_well(blank: StoreUrls) -> None:
    async def write() -> None:
        async with open_postgres(blank.owner_url) as provider:
            await provider.write(fact("actor:ann", "Lyon"))

    asyncio.run(write())
    count = "SELECT count(*) AS rows FROM mcp_memory.memory"
    assert (fetch(blank.owner_url, count)[0]["rows"], fetch(blank.admin_url, count)[0]["rows"]) == (0, 1)


def test_an_older_store_is_upgraded_by_the_one_role(next_release: Callable[[], None], blank: StoreUrls) -> None:
    opens(blank.owner_url)
    next_release()
    opens(blank.owner_url)
    assert [row["number"] for row in fetch(blank.owner_url, LEDGER)] == [1, 2]


def test_servers_that_own_nothing_name_the_command(next_release: Callable[[], None], blank: StoreUrls) -> None:
    with pytest.raises(StoreUnavailable, match=r"the database holds none.*`mcp-memory-server migrate`"):
        opens(blank.url)
    store = fresh_store()
    next_release()
    with pytest.raises(StoreUnavailable, match=r"has schema version 1.*needs 2.*`mcp-memory-server migrate`"):
        opens(store.url)


def test_where_an_owner_is_named_opening_leaves_it_to_them(blank: StoreUrls) -> None:
    with pytest.raises(StoreUnavailable, match="`mcp-memory-server migrate`"):
        opens(blank.owner_url, migrates=False)
    assert fetch(blank.admin_url, "SELECT to_regnamespace('mcp_memory') AS found")[0]["found"] is None


def test_a_role_that_was_given_nothing_is_told_who_gives_it(blank: StoreUrls) -> None:
    migrated(blank.owner_url)
    with pytest.raises(StoreUnavailable, match="may not use the store in this database") as told:
        opens(blank.url)
    assert "`mcp-memory-server migrate`" in str(told.value)


async def test_a_postgres_that_is_too_old_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    store: Any = fresh_store()
    monkeypatch.setattr(migrate, "_OLDEST", 99)
    with pytest.raises(StoreUnavailable, match="99 is the oldest"):
        await held(store.url)
    with pytest.raises(StoreUnavailable, match="99 is the oldest"):
        await migrate.migrate_store(store.owner_url, MigrationRequest())


def test_a_database_that_cannot_hold_every_text_is_refused_before_anything_is_made() -> None:
    url = url_of(cluster().url, "in_latin_1")
    run(cluster().url, "CREATE DATABASE in_latin_1 TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    try:
        with pytest.raises(ConfigurationError, match="keeps text as LATIN1"):
            opens(url)
        with pytest.raises(ConfigurationError, match="ENCODING 'UTF8'"):
            migrated(url)
        assert fetch(url, "SELECT to_regnamespace('mcp_memory')")[0][0] is None
    finally:
        run(cluster().url, "DROP DATABASE in_latin_1 WITH (FORCE)")
