"""Whether the time of an answer tells a stranger what others hold: two distributions for each question, in one run.

    python benchmarks/probing.py [--calls 1000] [--facts 2000]

A real server process over HTTP on an SQLite file, where Ann's tenant holds facts. Eve, of another tenant, asks for
ids, keys and digests that Ann's tenant has, and for those that nobody has, in random order. Told are the medians in
milliseconds, their ratio, and how often the foreign one of two answers took longer: 0.5 is what a guess gets. Names
that nobody has are compared with each other, too: that is what chance alone does on this machine.
"""

from __future__ import annotations

import argparse
import bisect
import json
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import mcp_types as types
from load import server
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from mcp_memory_server.identity import Actor
from mcp_memory_server.server.auth.token_file import TokenFile

OWN: Final = 50
"""Facts that the stranger holds herself."""
Ask = Callable[[Client, str], Awaitable[Any]]


def tool(name: str, argument: str) -> Ask:
    return lambda client, named: client.call_tool(name, {argument: named})


def completion(client: Client, named: str) -> Awaitable[Any]:
    reference = types.ResourceTemplateReference(uri="memory://records/{id}")
    return client.complete(reference, {"name": "id", "value": named})


QUESTIONS: Final[dict[str, tuple[str, Ask]]] = {
    "forget by id": ("id", tool("forget", "id")),
    "forget by key": ("key", tool("forget", "key")),
    "history by id": ("id", tool("memory_history", "id")),
    "replay a digest": ("digest", tool("recall_digest", "digest_id")),
    "read a record": ("id", lambda client, named: client.read_resource(f"memory://records/{named}")),
    "read a scope": ("scope", lambda client, named: client.read_resource(f"memory://scopes/{named}")),
    "complete an id": ("id", completion),
}


Names = dict[str, list[str]]
"""Names by sort of thing: ids, keys, digests, scopes."""


def nobodys(names: Names) -> Names:
    """As many names that are nobody's, alike in form and length, and next to those that are somebody's."""
    return {sort: [_alike(name) for name in held] for sort, held in names.items()}


def _alike(name: str) -> str:
    return name[:-4] + "".join(random.choices("ghijkmnopqrstuvwxyz", k=4))


async def attached(url: str, token: str, use: Callable[[Client], Awaitable[Any]]) -> Any:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return await use(client)


async def fill(client: Client, facts: int) -> Names:
    held: Names = {"id": [], "key": [], "digest": [], "scope": ["actor%3Aann"]}
    for number in range(facts):
        result = await client.call_tool("remember", {"key": f"key {number:05}", "fact": f"fact {number}"})
        record = json.loads(json.dumps(result.structured_content))["record"]
        held["id"].append(record["id"])
        held["key"].append(record["key"])
    for number in range(50):
        shown = await client.call_tool("recall_digest", {"query": f"fact {number}"})
        held["digest"].append(json.loads(json.dumps(shown.structured_content))["digest_id"])
    return held


async def probe(client: Client, held: Names, calls: int) -> None:
    names = {"foreign": held, "unknown": nobodys(held), "control": nobodys(held)}
    for name, (sort, ask) in QUESTIONS.items():
        times: dict[str, list[float]] = {kind: [] for kind in names}
        for turn in range(calls + 20):
            for kind in random.sample(sorted(times), 3):
                took_ms = await _timed(ask, client, random.choice(names[kind][sort]))
                if turn >= 20:
                    times[kind].append(took_ms)
        p50 = {kind: statistics.median(taken) for kind, taken in times.items()}
        print(
            f"{name:16} p50 {p50['foreign']:.3f} and {p50['unknown']:.3f} ms, "
            f"ratio {p50['foreign'] / p50['unknown']:.3f} (chance {p50['control'] / p50['unknown']:.3f}), "
            f"longer {longer(times['foreign'], times['unknown']):.3f} "
            f"(chance {longer(times['control'], times['unknown']):.3f})",
            flush=True,
        )


async def _timed(ask: Ask, client: Client, named: str) -> float:
    began = time.perf_counter()
    with suppress(MCPError):
        await ask(client, named)
    return (time.perf_counter() - began) * 1000


def longer(some: list[float], others: list[float]) -> float:
    """The share of all pairs in which the one of `some` took longer."""
    ordered = sorted(others)
    below = sum(bisect.bisect_left(ordered, one) + bisect.bisect_right(ordered, one) for one in some)
    return below / 2 / len(some) / len(others)


async def run(folder: Path, calls: int, facts: int) -> None:
    file = TokenFile(folder / "tokens.json")
    tokens = {
        who: file.add(who, Actor(who, tenant), "2026-01-01T00:00:00.000Z")
        for who, tenant in (("ann", "acme"), ("eve", "globex"))
    }
    with server(folder, toolsets="search") as (_, url):
        held = await attached(url, tokens["ann"], lambda client: fill(client, facts))

        async def eve(client: Client) -> None:
            await fill(client, OWN)
            await probe(client, held, calls)

        await attached(url, tokens["eve"], eve)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--facts", type=int, default=2000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(run, Path(folder), given.calls, given.facts)


if __name__ == "__main__":
    main()
