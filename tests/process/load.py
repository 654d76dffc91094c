"""Clients of both eras that write and read without end, and check what they see against what was acknowledged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle
from typing import Any, Final

import anyio
import httpx2
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from mcp_memory_server.server.failures import ERROR_CODE_META
from tests.server.answers import data_of, read_json

from .ledger import Ledger
from .session import HANG_S
from .town import Era, attached

KEYS: Final = 6

Reading = Callable[[Client], Awaitable[dict[str, str]]]


class ToldOfFailure(Exception):
    """A tool said that it failed, with our code."""


async def done(client: Client, tool: str, **given: Any) -> dict[str, Any]:
    """The data of a call."""
    result = await client.call_tool(tool, given)
    if result.is_error:
        raise ToldOfFailure((result.meta or {}).get(ERROR_CODE_META))
    return data_of(result)


async def recalled(client: Client, **given: Any) -> dict[str, str]:
    return {entry["key"]: entry["text"] for entry in (await done(client, "recall_digest", **given))["entries"]}


async def digest(client: Client) -> dict[str, str]:
    return {entry["key"]: entry["text"] for entry in (await read_json(client, "memory://digest"))["entries"]}


async def scope(client: Client) -> dict[str, str]:
    """The first scope of whoever asks, as a person reads it."""
    stats = await read_json(client, "memory://stats")
    page = await read_json(client, stats["scopes"][0]["uri"])
    return {record["key"]: record["text"] for record in page["records"]}


READINGS: Final[dict[str, Reading]] = {
    "list": recalled,
    "query": partial(recalled, query="Which parcel is at which depot?"),
    "digest": digest,
    "scope": scope,
}


@dataclass
class Load:
    """People, for each of whom one client writes and others read, until they are told to stop."""

    base: str
    ledgers: dict[str, Ledger] = field(default_factory=dict[str, Ledger])
    reads: Counter[tuple[str, Era]] = field(default_factory=Counter[tuple[str, Era]])
    failures: Counter[str] = field(default_factory=Counter[str])
    """What clients were told that went wrong: our codes; and `nothing` where no server said anything."""
    stopping: bool = False

    async def write(self, name: str, token: str, era: Era) -> None:
        """Change key after key; each change is sent again until it is acknowledged."""
        ledger, changes = self.ledgers[name], changes_without_end()
        key, fact = next(changes)
        ledger.send(key, fact)

        async def change(client: Client) -> None:
            nonlocal key, fact
            if fact is None:
                await forget(client, key)
            else:
                await done(client, "remember", key=key, fact=fact)
            ledger.acknowledge(key)
            key, fact = next(changes)
            ledger.send(key, fact)

        await self._repeat(token, era, change)

    async def read(self, name: str, token: str, era: Era) -> None:
        """Look at all of it, in one way after another."""
        ledger, ways = self.ledgers[name], cycle(READINGS.items())

        async def look(client: Client) -> None:
            way, reading = next(ways)
            before = ledger.acknowledged()
            ledger.check(await reading(client), before)
            self.reads[way, era] += 1

        await self._repeat(token, era, look)

    async def progress(self, changes: int = 4) -> None:
        """Wait until everybody has had so many more changes acknowledged."""
        wanted = {name: ledger.count + changes for name, ledger in self.ledgers.items()}
        await until(lambda: all(self.ledgers[name].count >= least for name, least in wanted.items()))

    async def refusals(self, code: str, more: int = 3) -> None:
        """Wait until clients were told so that many times more."""
        least = self.failures[code] + more
        await until(lambda: self.failures[code] >= least)

    async def _repeat(self, token: str, era: Era, act: Callable[[Client], Awaitable[None]]) -> None:
        """Act again and again, attached anew where a client could not attach or was cut off."""
        while not self.stopping:
            try:
                async with attached(self.base, token, era) as client:
                    while not self.stopping:
                        try:
                            await act(client)
                        except ToldOfFailure as failure:
                            self.failures[str(failure)] += 1
                        except MCPError as error:
                            self.failures[code_of(error)] += 1
            except* (MCPError, httpx2.TransportError):
                self.failures["nothing"] += 1


def changes_without_end() -> Iterator[tuple[str, str | None]]:
    """Keys and what becomes of them: now and then one is forgotten."""
    for number in count():
        key = f"parcel {number % KEYS}"
        yield key, None if number % (KEYS + 1) == KEYS else f"{key} is at depot {number}"


async def forget(client: Client, key: str) -> None:
    try:
        await done(client, "forget", key=key)
    except ToldOfFailure as failure:
        if str(failure) != "not_found":  # it was forgotten, and the answer did not arrive
            raise


def code_of(error: MCPError) -> str:
    match error.error.data:
        case {"mcp-memory/error": str(code)}:
            return code
        case _:
            return "nothing"


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(HANG_S):
        while not holds():  # noqa: ASYNC110  # what it waits for is done by many
            await anyio.sleep(0.02)
