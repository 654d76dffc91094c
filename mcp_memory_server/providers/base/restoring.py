"""The group `restore`: taking in records as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mcp_memory_server.records import MemoryRecord

from .writing import WritingProvider


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """Records to take in as they are, ids, times, versions and pins included.

    Each tuple is one record's versions, oldest first, the current one last; `at` stamps the change feed.
    `replace_at`, unless None, are the only scopes at which what is held already may be replaced.
    """

    records: tuple[tuple[MemoryRecord, ...], ...]
    at: str
    replace_at: tuple[str, ...] | None = None


class RestoringProvider(WritingProvider, Protocol):
    async def restore(self, request: RestoreRequest) -> int:
        """Take all of them in, in order, or none; how many were new or changed.

        A record whose id is held already, or whose (`scope`, `key`, lane) is, is replaced with its history. One whose
        id is held at its scope keeps its place in the order of writing there; any other stands last.

        Raises:
            InvalidInput: see `versions.check_restorable`, or an id is held at a scope outside `replace_at`; nothing
                was taken in.
        """
        ...
