"""Many clients at once over HTTP, mixed reads and writes, as ratios to a call that does nothing, in one run.

    python benchmarks/load.py [--clients 64] [--seconds 60] [--minutes 0]

A real server process on an empty SQLite file, each client a principal of its own with a token. One call in four
writes. Beside them, in turns of the same run, a tool is called that does nothing (no_op.py): it takes the same way
through uvicorn, the SDK, authentication and limits. Afterwards every acknowledged write is read back.

Then the same clients call that tool alone, for a tenth of the time: against that stands how many calls a second the
server answered.

With --minutes the load goes on for so long. The memory of the server is told as it was after the first tenth, when
most caches are warm, after a half, and at the end. The clients run in this process and share the machine's cores with
the server.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import psutil
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_memory_server.identity import Actor
from mcp_memory_server.server.auth.token_file import TokenFile

SERVER: Final = Path(__file__).with_name("no_op.py")
WRITES: Final = 4
"""One call in so many writes."""
KEYS: Final = 50
"""Of each client: so that writes also replace, and the store does not grow without end."""

ALONE: Final = 0.1
"""The share of the run for which the clients do nothing but nothing, afterwards."""
SAMPLED: Final = (0.1, 0.5, 1.0)
"""The shares of the run after which the server's memory is looked at: what fills up once is full after the half."""


@dataclass(slots=True)
class Outcome:
    """Milliseconds by kind of call, what was acknowledged, what failed; `does_nothing` is what clients are to do."""

    does_nothing: bool = False
    times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    acked: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    errors: list[str] = field(default_factory=list[str])

    @property
    def calls(self) -> int:
        return sum(map(len, self.times.values()))


@contextmanager
def server(folder: Path, **given: str) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """A server that is ready, and its address."""
    log = folder / "server.log"
    settings = {"url": f"sqlite:///{folder}/memory.db", "token_file": f"{folder}/tokens.json", "port": "0"}
    settings |= {"transport": "streamable-http", "requests_per_minute": "0", "log_level": "INFO"}
    settings |= {"toolsets": "nothing"} | given
    environment = {**os.environ, **{f"MCP_MEMORY_{name.upper()}": value for name, value in settings.items()}}
    with log.open("wb") as stderr:
        command = [sys.executable, str(SERVER), "serve"]
        process = subprocess.Popen(command, stderr=stderr, env=environment)
    try:
        while "startup complete" not in (text := log.read_text("utf-8")):
            if process.poll() is not None:
                raise SystemExit(text)
            time.sleep(0.05)
        found = re.search(r"at (http://\S+/mcp)", text)
        assert found is not None
        yield process, found[1]
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    finally:
        process.kill()


async def one_client(url: str, name: str, token: str, until: float, outcome: Outcome) -> None:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        number = 0
        while time.monotonic() < until:
            number += 1
            await _call(client, outcome, "nothing", "nothing", {})
            if outcome.does_nothing:
                continue
            if number % WRITES:
                await _call(client, outcome, "recall", "recall_digest", {"query": f"what is number {number % KEYS}"})
                continue
            key = f"number {number // WRITES % KEYS}"
            if await _call(client, outcome, "remember", "remember", {"key": key, "fact": f"{name} said {number}"}):
                outcome.acked[name, key] = number


async def _call(client: Client, outcome: Outcome, kind: str, tool: str, given: dict[str, Any]) -> bool:
    """Whether it was answered as it should be."""
    began = time.perf_counter()
    try:
        result = await client.call_tool(tool, given)
    except Exception as error:  # counted: what it is makes no difference to whoever called
        outcome.errors.append(f"{kind}: {error!r}")
        return False
    outcome.times.setdefault(kind, []).append((time.perf_counter() - began) * 1000)
    if result.is_error:
        outcome.errors.append(f"{kind}: {result.content}")
        return False
    return True


async def lost(url: str, tokens: dict[str, str], outcome: Outcome) -> int:
    """How many acknowledged writes cannot be read back."""
    missing = 0
    for name, token in tokens.items():
        held: dict[str, str] = {}
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            contents: Any = (await client.read_resource(f"memory://scopes/actor%3A{name}")).contents[0]
            held = {record["key"]: record["text"] for record in json.loads(contents.text)["records"]}
        mine = {key: number for (who, key), number in outcome.acked.items() if who == name}
        missing += sum(held.get(key) != f"{name} said {number}" for key, number in mine.items())
    return missing


async def run(folder: Path, clients: int, seconds: float) -> bool:
    """Print the figures; whether they are as they should be."""
    tokens = {f"client-{number}": "" for number in range(clients)}
    file = TokenFile(folder / "tokens.json")
    for name in tokens:
        tokens[name] = file.add(name, Actor(name, "acme"), "2026-01-01T00:00:00.000Z")
    outcome, idle, sizes = Outcome(), Outcome(does_nothing=True), list[float]()
    with server(folder) as (process, url):
        began = time.monotonic()
        async with anyio.create_task_group() as tasks:
            for name, token in tokens.items():
                tasks.start_soon(one_client, url, name, token, began + seconds, outcome)
            for share in SAMPLED:
                await anyio.sleep(began + seconds * share - time.monotonic())
                sizes.append(psutil.Process(process.pid).memory_info().rss / 2**20)
        rate = outcome.calls / (time.monotonic() - began)
        missing = await lost(url, tokens, outcome)
        began = time.monotonic()
        async with anyio.create_task_group() as tasks:
            for name, token in tokens.items():
                tasks.start_soon(one_client, url, name, token, began + seconds * ALONE, idle)
        idle_rate = idle.calls / (time.monotonic() - began)
    print(
        f"{outcome.calls} calls, {rate:.0f} a second, half of them doing nothing: {rate / idle_rate:.2f} x the "
        f"{idle_rate:.0f} a second of such calls alone"
    )
    outcome.errors += idle.errors
    return report(outcome, sizes, missing)


def report(outcome: Outcome, sizes: list[float], missing: int) -> bool:
    nothing = outcome.times["nothing"]
    for kind, times in sorted(outcome.times.items()):
        ordered = sorted(times)
        p50, p99 = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
        against = p50 / statistics.median(nothing), p99 / sorted(nothing)[int(len(nothing) * 0.99)]
        waited = f"p50 {p50:7.1f} ms ({against[0]:.2f}x)  p99 {p99:7.1f} ms ({against[1]:.2f}x)"
        print(f"{kind:9} {len(times):7} calls  {waited}")
    print(f"errors {len(outcome.errors)}, lost acknowledged writes {missing} of {len(outcome.acked)} keys")
    print(
        f"memory {sizes[0]:.0f} MB after a tenth, {sizes[1]:.0f} MB after a half, {sizes[2]:.0f} MB at the end "
        f"({sizes[2] / sizes[0]:.3f}x, of the half {sizes[2] / sizes[1]:.3f}x)"
    )
    for error in outcome.errors[:5]:
        print(f"  {error}")
    return not outcome.errors and not missing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--minutes", type=float, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds = given.minutes * 60 or given.seconds
        good = anyio.run(run, Path(folder), given.clients, seconds)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
