"""What a call costs over stdio, as ratios to a call that does nothing, in one run.

    python benchmarks/latency.py [--sizes 10000,100000,1000000] [--calls 400] [--stores FOLDER]

For each store size a real server process is attached to. The call that does nothing is that of a tool which takes the
whole way of a call and reads no memory (no_op.py). Callers hold 200 and 2,400 facts; the rest of the store is other
people's. Cold is the first question of a fresh process. How a recall grows with the store is told by asking all stores
in turn: one after another they would be compared by what the machine's clock did meanwhile. Beside the time that the
client waited stands the processor time of the server, which other work on the machine moves less.

A durable write is measured at the provider without transport, against a bare transaction of one row under the same
settings on the same disk. Filling a store of a million takes some minutes; with --stores it is kept for the next run.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import memory
from facts import AT, CALLERS, ORIGIN, QUERIES, fact, filled
from stdio_client import Client, attached

from mcp_memory_server.providers.base import WriteRequest
from mcp_memory_server.providers.sqlite import open_sqlite

# The most that a call may take, as a multiple of the call that does nothing.
LIMITS: Final = {("small", "warm recall"): 2, ("large", "warm recall"): 6, ("small", "cold recall"): 25}
GROWTH_LIMIT: Final = 1.3
SERVER: Final = str(Path(__file__).with_name("no_op.py"))
WRITE_LIMIT: Final = 2
# One process differs from the next by some hundredths, by where its memory happens to lie.
SERVERS: Final = 4
HEADS: Final = (
    f"{'':33}{'ms':>8}{'ms':>8}{'x no-':>8}{'x no-op':>8}\n"
    f"{'facts':>9} {'own':>6} {'call':16}{'p50':>8}{'p95':>8}{'op':>8}{'work':>8}"
)


@dataclass(frozen=True, slots=True)
class Times:
    """Calls of one kind: how long the client waited, and what the server worked, in milliseconds."""

    waited: list[float] = field(default_factory=list[float])
    worked: list[float] = field(default_factory=list[float])

    def take(self, client: Client, tool: str, arguments: dict[str, str] | None = None) -> None:
        before = client.processor_ms()
        self.waited.append(client.call(tool, arguments))
        self.worked.append(client.processor_ms() - before)

    @property
    def p50(self) -> float:
        return statistics.median(self.waited)

    @property
    def p95(self) -> float:
        return sorted(self.waited)[int(len(self.waited) * 0.95)]

    @property
    def work(self) -> float:
        return statistics.median(self.worked)


def _command(url: str, actor: str) -> list[str]:
    return [SERVER, "--url", url, "--actor", actor, "--log-level", "ERROR", "--toolsets", "nothing"]


def measure(url: str, actor: str, calls: int) -> dict[str, Times]:
    """Calls of one caller, each kind in turn, so that a busy moment hits all of them."""
    kinds = {kind: Times() for kind in ("nothing", "warm recall", "list", "cold recall", "remember", "recall after it")}
    for _ in range(5):
        with attached(_command(url, actor)) as client:
            settled = time.monotonic() + 1.0
            while time.monotonic() < settled:
                client.call("nothing")
            kinds["cold recall"].take(client, "recall_digest", {"query": QUERIES[0]})
    for _ in range(SERVERS):
        with attached(_command(url, actor)) as client:
            for query in QUERIES:  # each question was asked once
                client.call("recall_digest", {"query": query})
            for number in range(calls // SERVERS):
                kinds["nothing"].take(client, "nothing")
                kinds["warm recall"].take(client, "recall_digest", {"query": QUERIES[number % len(QUERIES)]})
                kinds["list"].take(client, "recall_digest")
    with attached(_command(url, actor)) as client:
        for number in range(calls):
            written = {"key": f"bench-{number % 50}", "fact": f"Round {number} of {time.time()}"}
            kinds["remember"].take(client, "remember", written)
            kinds["recall after it"].take(client, "recall_digest", {"query": QUERIES[number % len(QUERIES)]})
    return kinds


async def write_ratios(folder: Path, count: int = 300) -> tuple[float, float]:
    """A durable write at the provider over a bare transaction of one row: the median, and the fastest tenth.

    The median is mostly the disk's; where it answers at once, as in the fastest tenth, our own work shows.
    """
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
    fastest = count // 10
    return statistics.median(ours) / statistics.median(bare), sorted(ours)[fastest] / sorted(bare)[fastest]


def word(ratio: float, limit: float | None) -> str:
    if limit is None:
        return ""
    return f"ok, limit {limit}" if ratio <= limit else f"ABOVE {limit}"


def report(size: int, actor: str, times: dict[str, Times]) -> None:
    """A line for each kind of call."""
    nothing = times["nothing"]
    for kind, taken in times.items():
        ratio = taken.p50 / nothing.p50
        works = f"{taken.work / nothing.work:>8.1f}" if nothing.work else ""
        waits = f"{taken.p50:>8.2f}{taken.p95:>8.2f}{ratio:>8.1f}"
        limit = LIMITS.get((actor, kind))
        print(f"{size:>9} {CALLERS[actor]:>6} {kind:16}{waits}{works}  {word(ratio, limit)}", flush=True)


def growth(urls: list[str], actor: str, calls: int) -> list[float]:
    """A warm recall in each store over one in the first, all stores being asked in turn."""
    taken = [Times() for _ in urls]
    with ExitStack() as stack:
        clients = [stack.enter_context(attached(_command(url, actor))) for url in urls]
        for number in range(calls + len(QUERIES)):
            if number == len(QUERIES):  # each question was asked once
                taken = [Times() for _ in urls]
            for client, times in zip(clients, taken, strict=True):
                times.take(client, "recall_digest", {"query": QUERIES[number % len(QUERIES)]})
    return [times.p50 / taken[0].p50 for times in taken]


def run(folder: Path, sizes: list[int], calls: int) -> None:
    urls = [anyio.run(filled, folder, size) for size in sizes]
    for actor in CALLERS:
        for size, grown in list(zip(sizes, growth(urls, actor, calls), strict=True))[1:]:
            told = f"{grown:.2f} x that at {sizes[0]}: {word(grown, GROWTH_LIMIT)}"
            print(f"{size:>9} {CALLERS[actor]:>6} a warm recall takes {told}", flush=True)
    print(HEADS)
    for size, url in zip(sizes, urls, strict=True):
        for actor in CALLERS:
            report(size, actor, measure(url, actor, calls))
    print(memory.shown(*memory.measure(urls[-1])))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        ratio, fastest = anyio.run(write_ratios, Path(scratch))
    print(
        f"a durable write at the provider: {ratio:.2f} x a bare one-row transaction; {word(ratio, WRITE_LIMIT)}; "
        f"{fastest:.2f} x in the fastest tenth"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000", help="facts in the stores, ascending")
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--stores", type=Path, help="where the stores are made and kept; else they are removed")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folder: Path = options.stores or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        run(folder, sizes, options.calls)


if __name__ == "__main__":
    main()
