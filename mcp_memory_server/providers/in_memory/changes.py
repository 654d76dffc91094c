"""The change feed."""

from __future__ import annotations

from collections import deque
from typing import Final

from mcp_memory_server.providers.base import Change, ChangeBatch
from mcp_memory_server.records import MemoryRecord

_KEPT_CHANGES: Final = 10_000


class ChangeFeed:
    """The newest changes; a cursor is how many there had been."""

    def __init__(self) -> None:
        self._kept: deque[Change] = deque(maxlen=_KEPT_CHANGES)
        self._count = 0

    def report(self, record: MemoryRecord) -> None:
        self._kept.append(Change(record.scope, record.id))
        self._count += 1

    def since(self, after: int | None) -> ChangeBatch:
        if after is None:
            return ChangeBatch(self._count, ())
        missed = self._count - after
        if not 0 <= missed <= len(self._kept):
            return ChangeBatch(self._count, (), gap=True)
        return ChangeBatch(self._count, tuple(self._kept)[len(self._kept) - missed :])
