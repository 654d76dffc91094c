"""What a call costs over stdio, as ratios to a call that does nothing, in one run.

    python benchmarks/latency.py [--sizes 10000,100000] [--calls 200]

For each store size a real server process is attached to by a client that writes lines and reads lines, so that the
client's own work does not hide the server's. The call that does nothing names an unknown tool: it takes the same way
through the transport and the SDK and is answered at once. Callers hold 200 and 2,400 facts; the rest of the store is
other people's. Cold is the first question of a fresh process.

A durable write is measured at the provider without transport, against a bare transaction of one row under the same
settings on the same disk.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from mcp_memory_server import MemoryOrigin, MemoryRecord
from mcp_memory_server.providers.base import RestoreRequest, WriteRequest
from mcp_memory_server.providers.sqlite import open_sqlite

AT = "2026-01-01T00:00:00.000Z"
ORIGIN = MemoryOrigin(author="agent")
CALLERS = {"small": 200, "large": 2_400}
OTHERS_EACH = 200
QUERIES = (
    "Which database does Priya prefer for billing?",
    "What moved to Gdansk in the spring?",
    "Who owns the rollout of the search service?",
    "When is the next release of checkout?",
    "What does Kofi like for lunch?",
)
PEOPLE = [
    "Marta",
    "Jonas",
    "Aiko",
    "Priya",
    "Diego",
    "Ines",
    "Kofi",
    "Lena",
    "Omar",
    "Sara",
    "Tomas",
    "Yuki",
    "Nadia",
    "Piotr",
    "Elif",
    "Hugo",
]
PLACES = [
    "Lyon",
    "Gdansk",
    "Osaka",
    "Pune",
    "Bogota",
    "Porto",
    "Accra",
    "Bremen",
    "Beirut",
    "Uppsala",
    "Brno",
    "Sapporo",
    "Varna",
]
SERVICES = [
    "billing",
    "ledger",
    "search",
    "notification",
    "checkout",
    "onboarding",
    "reporting",
    "inventory",
    "payroll",
    "identity",
]
STORES = ["Postgres", "SQLite", "DuckDB", "MySQL", "Redis", "Cassandra", "ClickHouse"]


def fact(number: int) -> str:
    person, place = PEOPLE[number % 16], PLACES[number % 13]
    service, store = SERVICES[number % 10], STORES[number % 7]
    return (
        f"{person} prefers {store} for the {service} service, works from {place}, and reviews every migration "
        f"of round {number} before it ships."
    )


def records(scope: str, count: int, start: int) -> tuple[tuple[MemoryRecord, ...], ...]:
    return tuple(
        (
            MemoryRecord(
                id=f"{scope}-{number}",
                key=f"fact-{number}",
                text=fact(number),
                scope=scope,
                origin=ORIGIN,
                created_at=AT,
                updated_at=AT,
            ),
        )
        for number in range(start, start + count)
    )


async def grow(url: str, have: int, want: int) -> None:
    """Fill the store up to `want` facts: both callers', and other people's."""
    async with open_sqlite(url, synchronous="NORMAL") as provider:
        if not have:
            for name, count in CALLERS.items():
                await provider.restore(RestoreRequest(records(f"actor:{name}", count, 0), AT))
                have += count
        while have < want:
            count = min(OTHERS_EACH * 50, want - have)
            batch: list[tuple[MemoryRecord, ...]] = []
            for start in range(have, have + count, OTHERS_EACH):
                batch += records(f"actor:other-{start}", min(OTHERS_EACH, have + count - start), start)
            await provider.restore(RestoreRequest(tuple(batch), AT))
            have += count


class Client:
    """A client of one server process, one call at a time."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._requests, self._answers = server.stdin, server.stdout
        self._number = 0

    def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._requests.write(json.dumps(message).encode() + b"\n")
        self._requests.flush()
        return json.loads(self._answers.readline())["result"]

    def call(self, tool: str, **arguments: Any) -> float:
        """Milliseconds until the answer was read."""
        started = time.perf_counter()
        answer = self.send("tools/call", {"name": tool, "arguments": arguments})
        taken = (time.perf_counter() - started) * 1000
        assert answer["isError"] is (tool == "nothing"), answer
        return taken


@contextmanager
def attached(url: str, actor: str) -> Generator[Client]:
    command = [sys.executable, "-m", "mcp_memory_server", "--url", url, "--actor", actor, "--log-level", "ERROR"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        client = Client(server)
        client.send(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "benchmark", "version": "1"},
            },
        )
        assert server.stdin is not None
        server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        client.send("tools/list", {})
        yield client
        server.stdin.close()
        server.wait(10)


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of calls of one kind."""

    taken: list[float]

    @property
    def p50(self) -> float:
        return statistics.median(self.taken)

    @property
    def p95(self) -> float:
        return sorted(self.taken)[int(len(self.taken) * 0.95)]


def measure(url: str, actor: str, calls: int) -> dict[str, Times]:
    """Cold and warm calls of one caller, taken in turns so that a busy moment hits all kinds."""
    cold: list[float] = []
    for _ in range(5):
        with attached(url, actor) as client:
            settled = time.monotonic() + 1.0
            while time.monotonic() < settled:
                client.call("nothing")
            cold.append(client.call("recall_digest", query=QUERIES[0]))
    kinds: dict[str, list[float]] = {"nothing": [], "recall": [], "list": [], "remember": []}
    with attached(url, actor) as client:
        for number in range(calls + 10):
            taken = {
                "nothing": client.call("nothing"),
                "recall": client.call("recall_digest", query=QUERIES[number % len(QUERIES)]),
                "list": client.call("recall_digest"),
                "remember": client.call(
                    "remember", key=f"bench-{number % 50}", fact=f"Round {number} of {time.time()}"
                ),
            }
            if number >= 10:
                for kind, milliseconds in taken.items():
                    kinds[kind].append(milliseconds)
    return {"cold recall": Times(cold), **{kind: Times(taken) for kind, taken in kinds.items()}}


async def write_ratio(folder: Path, count: int = 300) -> float:
    """A durable write at the provider over a bare transaction of one row, medians."""
    bare: list[float] = []
    ours: list[float] = []
    with closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE fact (id TEXT PRIMARY KEY, key TEXT, text TEXT, at TEXT)")
        async with open_sqlite(f"sqlite:///{folder / 'ours.db'}") as provider:
            for number in range(count):
                row = (f"id-{number}", f"key-{number}", fact(number), AT)
                started = time.perf_counter()
                db.execute("BEGIN IMMEDIATE")
                db.execute("INSERT INTO fact VALUES (?, ?, ?, ?)", row)
                db.execute("COMMIT")
                bare.append(time.perf_counter() - started)
                request = WriteRequest("actor:ann", f"key-{number}", fact(number), ORIGIN, AT)
                started = time.perf_counter()
                await provider.write(request)
                ours.append(time.perf_counter() - started)
    return statistics.median(ours) / statistics.median(bare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000", help="facts in the store, ascending; up to 1000000")
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    print(f"{'store':>9} {'caller':>7} {'call':12}{'p50 ms':>9}{'p95 ms':>9}{'x nothing':>11}{'x first size':>14}")
    first: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'memory.db'}"
        for before, size in zip((0, *sizes), sizes, strict=False):
            anyio.run(grow, url, before, size)
            for actor, facts in CALLERS.items():
                times = measure(url, actor, options.calls)
                for kind, taken in times.items():
                    grown = taken.p50 / first.setdefault((actor, kind), taken.p50)
                    ratio = taken.p50 / times["nothing"].p50
                    print(
                        f"{size:>9} {facts:>7} {kind:12}{taken.p50:>9.2f}{taken.p95:>9.2f}{ratio:>11.1f}{grown:>14.2f}",
                        flush=True,
                    )
        ratio = anyio.run(write_ratio, Path(folder))
        print(f"a durable write at the provider: {ratio:.2f} x a bare one-row transaction")


if __name__ == "__main__":
    main()
