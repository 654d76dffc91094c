"""A real Postgres with pgvector for the tests, out of a wheel, and fresh databases in it with an empty store each.

The server belongs to the process of the test session and ends with it (postgres_keeper.py); it is started when the
first test needs it. Stores are opened as they are in earnest: by a login role that owns nothing and cannot pass by
row-level security. The owner's URL is for migrations and for looking at what a store holds.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

from mcp_memory_server.providers.migrating import MigrationRequest

T = TypeVar("T")
_driver: Any = asyncpg  # it has no types

DSN_VARIABLE: Final = "MCP_MEMORY_TEST_POSTGRES"
"""The URL of a superuser of a Postgres of 17 or newer with pgvector, to be used in place of the wheel's."""

PARTITIONS: Final = 2
"""Of each table of a test's store: enough to have rows of different scopes apart, and few files to make."""

_SESSION: Final = f"{os.getpid()}_{secrets.token_hex(4)}"
_numbers = count(1)


class Server:
    """A Postgres of the wheel. `start` it; it may be stopped, crashed and started again."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp(prefix="postgres-")
        self.data = Path(folder, "data")
        self.url = f"postgresql://postgres@/postgres?host={quote(folder, safe='')}"
        keeper = Path(__file__).with_name("postgres_keeper.py")
        self._keeper = subprocess.Popen(
            [sys.executable, str(keeper), folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(self) -> None:
        """Returns when it accepts connections; after a crash, when it has recovered."""
        self._ask("start")

    def stop(self) -> None:
        """Cut everybody off and shut down, as an administrator does."""
        self._ask("stop")

    def crash(self) -> None:
        """End it at once: nothing more is written."""
        self._ask("crash")

    def close(self) -> None:
        """Stop it for good and remove its files."""
        if self._keeper.stdin and self._keeper.stdout:
            self._keeper.stdin.close()
            self._keeper.wait(60)
            self._keeper.stdout.close()

    def _ask(self, act: str) -> None:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.write(f"{act}\n")
        self._keeper.stdin.flush()
        if (answer := self._keeper.stdout.readline().strip()) != "done":
            raise RuntimeError(f"Postgres did not {act}: {answer or 'its keeper is gone'}")


@dataclass(frozen=True, slots=True)
class StoreUrls:
    """A database, as three roles connect to it."""

    url: str
    """A server's, which owns nothing."""
    owner_url: str
    """The owner's of the database and of the tables, a plain role too."""
    admin_url: str
    """A superuser's, whom nothing is hidden from."""


class Cluster:
    """A running Postgres, in which stores are made: a migrated template is copied."""

    def __init__(self, url: str) -> None:
        self.url = url
        """Of a superuser, in a database that no store is in."""
        self.role = f"mcp_memory_server_{_SESSION}"
        self.owner = f"mcp_memory_owner_{_SESSION}"
        self._template = f"template_{_SESSION}"
        self._password = secrets.token_hex(16)
        self._databases: list[str] = []

    def prepare(self) -> None:
        """Make the roles and the template."""
        from mcp_memory_server.providers.postgres import migrate  # noqa: PLC0415  # a driver, for tests of Postgres only

        for role in (self.role, self.owner):
            run(self.url, f"CREATE ROLE {role} LOGIN PASSWORD '{self._password}'")
        self._create(self._template, "TEMPLATE template0 ENCODING 'UTF8'")
        wanted = MigrationRequest(PARTITIONS, self.role)
        template = self.urls(self._template)
        with_connection(template.owner_url, lambda connection: migrate.migrate(connection, wanted))
        # What `migrate` asks a superuser for, so that what was forgotten leaves the log at once.
        for right in ("pg_checkpoint", "EXECUTE ON FUNCTION pg_switch_wal()"):
            run(template.admin_url, f"GRANT {right} TO {self.role}")

    def fresh(self) -> StoreUrls:
        """A new database with an empty store."""
        return self._new_database(f"TEMPLATE {self._template}")

    def blank(self) -> StoreUrls:
        """A new database without our schema."""
        return self._new_database("TEMPLATE template0")

    def urls(self, database: str) -> StoreUrls:
        """How each role connects to a database."""
        server, owner = (
            url_of(self.url, database, user=role, password=self._password) for role in (self.role, self.owner)
        )
        return StoreUrls(server, owner, url_of(self.url, database))

    def drop(self) -> None:
        """Drop the databases made so far; whoever is connected to one is cut off."""
        while self._databases:
            run(self.url, f"DROP DATABASE IF EXISTS {self._databases.pop()} WITH (FORCE)")

    def close(self) -> None:
        """Leave nothing in a Postgres that is not ours."""
        self.drop()
        run(self.url, f"DROP DATABASE IF EXISTS {self._template} WITH (FORCE)")
        run(self.url, f"DROP ROLE IF EXISTS {self.role}, {self.owner}")

    def _new_database(self, how: str) -> StoreUrls:
        name = f"test_{_SESSION}_{next(_numbers)}"
        self._create(name, how)
        self._databases.append(name)
        return self.urls(name)

    def _create(self, database: str, how: str) -> None:
        run(self.url, f"CREATE DATABASE {database} OWNER {self.owner} {how}")


@cache
def cluster() -> Cluster:
    """The Postgres of this test session."""
    if dsn := os.environ.get(DSN_VARIABLE):
        found = Cluster(dsn)
    else:
        server = Server()
        atexit.register(server.close)
        server.start()
        found = Cluster(server.url)
    found.prepare()
    return found


@contextmanager
def own_server() -> Generator[tuple[Server, Cluster]]:
    """A Postgres of the wheel for one test alone, which may stop, crash and restart it."""
    server = Server()
    try:
        server.start()
        alone = Cluster(server.url)
        alone.prepare()
        yield server, alone
    finally:
        server.close()


def fresh_store() -> StoreUrls:
    """A database of its own with an empty store; it is dropped after the test."""
    return cluster().fresh()


def files_of(store: StoreUrls) -> list[Path]:
    """The files of the server that a store may be in: its database's, and what is of no database, as the log is.

    None where the server's folder is not on this machine.
    """
    ((folder, database),) = fetch(
        store.admin_url,
        "SELECT current_setting('data_directory'), (SELECT oid FROM pg_database WHERE datname = current_database())",
    )
    others = Path(folder, "base")
    return [
        path
        for path in Path(folder).rglob("*")
        if path.is_file() and (others not in path.parents or path.parent.name == str(database))
    ]


def fresh_url() -> str:
    """As the server opens it."""
    return fresh_store().url


def drop_databases() -> None:
    """Drop those that a test has made, so that the folder does not grow with the number of tests."""
    if cluster.cache_info().currsize:
        cluster().drop()


def leave_nothing() -> None:
    """At the end of the session, for a Postgres that goes on; the wheel's ends as a whole."""
    if cluster.cache_info().currsize:
        cluster().close()


def url_of(url: str, database: str, *, user: str | None = None, password: str | None = None) -> str:
    """The same server's URL with another database, and another user if one is named."""
    parts = urlsplit(url)
    place = parts.netloc
    if user is not None:
        place = f"{user}:{password}@{place.rpartition('@')[2]}"
    return urlunsplit(parts._replace(netloc=place, path=f"/{database}"))


def run(url: str, statement: str) -> None:
    """Run one statement outside any transaction."""
    with_connection(url, lambda connection: connection.execute(statement))


def fetch(url: str, query: str, *values: object) -> list[Any]:
    """The rows of a query, each by column or number."""
    return with_connection(url, lambda connection: connection.fetch(query, *values))


def with_connection(url: str, work: Callable[[Any], Awaitable[T]]) -> T:
    """What `work` gives, run with a connection in a loop of its own: also within a test that has one running."""

    async def connected() -> T:
        connection = await _driver.connect(url)
        try:
            return await work(connection)
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(connected())).result()
