"""SQLite's locks stay while this process looks at the store's file beside it: what is acknowledged then counts."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from mcp_memory_server.providers.contract.samples import erasing, remember
from mcp_memory_server.providers.sqlite import SqliteProvider, open_sqlite

_READ = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); print(db.execute('SELECT key FROM memory').fetchall())"


def keys_seen_by_another_process(path: Path) -> str:
    """What a process finds that opens the store and closes it: the last one to close folds the log and removes it."""
    done = subprocess.run([sys.executable, "-c", _READ, path], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


async def forget(provider: SqliteProvider) -> None:
    await provider.forget(erasing(await remember(provider, "gone", "goes")))


async def examine(provider: SqliteProvider) -> None:
    await provider.examine()


async def open_it_again(provider: SqliteProvider) -> None:
    async with open_sqlite(f"sqlite:///{provider.path}") as other:
        await forget(other)


@pytest.mark.parametrize("look", [forget, examine, open_it_again])
async def test_looking_at_the_file_gives_no_lock_away(
    look: Callable[[SqliteProvider], Awaitable[None]], tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    async with open_sqlite(f"sqlite:///{path}") as provider:
        await look(provider)
        await remember(provider, "before", "text")
        await anyio.to_thread.run_sync(keys_seen_by_another_process, path)
        await remember(provider, "after", "text")
        assert "after" in await anyio.to_thread.run_sync(keys_seen_by_another_process, path)
    with closing(sqlite3.connect(path)) as db:
        assert {key for (key,) in db.execute("SELECT key FROM memory")} == {"before", "after"}


async def test_no_descriptor_outlives_the_store(tmp_path: Path) -> None:
    for _ in range(3):
        async with open_sqlite(f"sqlite:///{tmp_path}/memory.db") as provider:
            for _ in range(5):
                await forget(provider)
                await examine(provider)
            assert _open_here(tmp_path) < 20
        assert _open_here(tmp_path) == 0


def _open_here(folder: Path) -> int:
    """How many files in the folder this process has open; where no system tells, none."""
    if not os.path.isdir("/proc/self/fd"):
        return 0
    links = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
    return sum(os.readlink(link).startswith(str(folder)) for link in links if os.path.lexists(link))
