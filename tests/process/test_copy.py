"""A copy in a process of its own: killed midway, and while others write to the source and forget."""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

import anyio
import pytest

from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.base import ForgetRequest, PageRequest, RestoreRequest
from mcp_memory_server.providers.contract.samples import ANN, BOB, minute, raw_record, remember
from mcp_memory_server.providers.contract.store import EveryGroup
from tests.providers.postgres_server import fresh_url

from .session import HANG_S

RECORDS: Final = 6_000
FORGOTTEN: Final = "a secret word: xylocarp"

pytestmark = pytest.mark.parametrize("scheme", ["sqlite", "postgresql"])


@pytest.fixture
def target(scheme: str, tmp_path: Path) -> str:
    return fresh_url() if scheme == "postgresql" else f"sqlite:///{tmp_path}/target.db"


@asynccontextmanager
async def filled(folder: Path) -> AsyncGenerator[tuple[str, EveryGroup]]:
    """A store to copy, and its URL."""
    url = f"sqlite:///{folder}/source.db"
    async with open_provider(url) as provider:
        store = cast("EveryGroup", provider)
        for start in range(0, RECORDS, 1000):
            records = [
                raw_record(f"id-{number:05}", f"key {number}", f"fact {number}", (ANN, BOB)[number % 2])
                for number in range(start, start + 1000)
            ]
            await store.restore(RestoreRequest(tuple((record,) for record in records), minute(1)))
        yield url, store


def begin(source: str, target: str) -> subprocess.Popen[bytes]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    command = (sys.executable, "-m", "mcp_memory_server", "copy", "--json", "--from", source, "--to", target)
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=own)


async def ended(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    said, complaints = await anyio.to_thread.run_sync(lambda: process.communicate(timeout=HANG_S * 3))
    assert said, complaints
    return json.loads(said)


async def held_at(url: str) -> dict[str, Sequence[object]]:
    async with open_provider(url) as provider:
        store = cast("EveryGroup", provider)
        return {scope: await store.page(PageRequest(scope, RECORDS)) for scope in await store.scopes()}


async def test_a_killed_copy_goes_on_where_it_was(target: str, tmp_path: Path) -> None:
    async with filled(tmp_path) as (url, _):
        process = begin(url, target)
        async with open_provider(target) as provider:
            store = cast("EveryGroup", provider)
            latest = time.monotonic() + HANG_S
            while not (reached := (await store.stats((ANN, BOB))).records):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < latest
                await anyio.sleep(0.01)
        process.kill()
        process.communicate()
        assert 0 < reached < RECORDS
        done = await ended(begin(url, target))
        assert (done["same"], done["records"]) == (True, RECORDS)
        assert 0 < done["restored"] <= RECORDS - reached
        assert await held_at(target) == await held_at(url)


async def test_what_is_written_and_forgotten_meanwhile_is_as_at_the_source(target: str, tmp_path: Path) -> None:
    async with filled(tmp_path) as (url, store):
        process = begin(url, target)
        for number in range(1, 31):
            written = await remember(store, f"new {number}", FORGOTTEN if number % 2 else f"stays {number}", ANN, 2)
            await remember(store, f"key {number * 2}", f"changed {number}", ANN, 3)
            await anyio.sleep(0.05)  # so that some of it is copied before it goes
            gone = (f"id-{number * 6 + 1:05}", BOB), (f"id-{RECORDS - number * 6:05}", ANN)
            for id, scope in [*gone, *([(written.id, ANN)] if number % 2 else [])]:
                assert await store.forget(ForgetRequest(scope, id, by="ann", at=minute(4)))
        await ended(process)
        last = await ended(begin(url, target))
        assert (last["same"], last["written"]) == (True, 0)
        assert await held_at(target) == await held_at(url)
        assert not holders(tmp_path)


def holders(folder: Path) -> list[str]:
    files = [path for path in folder.iterdir() if path.is_file()]
    return [path.name for path in files if FORGOTTEN.encode() in path.read_bytes()]
