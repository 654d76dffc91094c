"""How long a client waits for the handshake, against what importing the SDK alone takes.

    python benchmarks/startup.py [--memories 100000] [--rounds 10]

Prints medians and ratios of one run, and ends with status 1 when the handshake takes more than 1.3 times the import.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from mcp_memory_server import MemoryOrigin, MemoryRecord
from mcp_memory_server.providers.base import RestoreRequest
from mcp_memory_server.providers.sqlite import open_sqlite

AT = "2026-01-01T00:00:00.000Z"
LIMIT = 1.3
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


async def fill(url: str, memories: int) -> None:
    """A store with that many facts of 500 actors."""
    origin = MemoryOrigin(author="agent")
    async with open_sqlite(url, synchronous="NORMAL") as provider:
        for start in range(0, memories, 10_000):
            records = tuple(
                (
                    MemoryRecord(
                        id=f"fact-{number}",
                        key=f"key-{number}",
                        text=f"Service {number % 97} of team {number % 53} moved to region {number % 31} in {number}.",
                        scope=f"actor:{number % 500}",
                        origin=origin,
                        created_at=AT,
                        updated_at=AT,
                    ),
                )
                for number in range(start, min(start + 10_000, memories))
            )
            await provider.restore(RestoreRequest(records, AT))


def handshake(url: str) -> None:
    """Start a server and wait for its answer to `initialize`."""
    command = [sys.executable, "-m", "mcp_memory_server", "--url", url, "--actor", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        server.stdin.flush()
        assert b'"serverInfo"' in server.stdout.readline()
        server.kill()


def run(*command: str) -> None:
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def seconds(action: Callable[[], None]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'memory.db'}"
        anyio.run(fill, url, options.memories)
        actions: dict[str, Callable[[], None]] = {
            "import mcp": lambda: run("-c", "import mcp"),
            "handshake": lambda: handshake(url),
            "block": lambda: run("-m", "mcp_memory_server", "--url", url, "--actor", "1", "block"),
        }
        taken: dict[str, list[float]] = {name: [] for name in actions}
        for _ in range(options.rounds):  # in turns, so that a busy moment hits all of them
            for name, action in actions.items():
                taken[name].append(seconds(action))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    print(f"{options.memories} memories, {options.rounds} rounds, medians")
    for name, median in medians.items():
        print(f"{name:12}{median:8.3f} s{median / medians['import mcp']:8.2f} x import mcp")
    ratio = medians["handshake"] / medians["import mcp"]
    print(
        f"{'ok' if ratio <= LIMIT else 'ABOVE'}: the handshake takes {ratio:.2f} times the import; the limit is {LIMIT}"
    )
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
