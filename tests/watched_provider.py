"""The in-memory provider behind a door: what goes through is noted, and may be made to fail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import anyio

from mcp_memory_server.providers.base import Capabilities, ForgetRequest, Forgotten, Group, Listing, ListRequest
from mcp_memory_server.providers.in_memory import InMemoryProvider


class WatchedProvider:
    """Every call is added to `calls`; one that `failing` names raises what stands there instead.

    `done` has an event for each name, set once such a call succeeded. `without` are groups that it does not declare.
    """

    def __init__(self, without: Iterable[Group] = ()) -> None:
        self.store = InMemoryProvider()
        self.capabilities = Capabilities("watched", frozenset(Group) - frozenset(without))
        self.calls: list[tuple[str, Any]] = []
        self.failing: dict[str, Exception] = {}
        self.done: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)

    async def list(self, request: ListRequest) -> Listing:
        return await self._call("list", request)

    async def forget(self, request: ForgetRequest) -> Forgotten | None:
        return await self._call("forget", request)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        """The calls of the optional groups."""
        return lambda *request: self._call(name, *request)

    async def _call(self, name: str, *request: Any) -> Any:
        self.calls.append((name, request[0] if request else None))
        if name in self.failing:
            raise self.failing[name]
        result = await getattr(self.store, name)(*request)
        self.done[name].set()
        return result

    def called(self) -> Sequence[str]:
        """The names of the calls, in order."""
        return [name for name, _ in self.calls]
