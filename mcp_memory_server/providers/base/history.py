"""The group `history`: earlier versions of records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from mcp_memory_server.records import MemoryRecord

from .required import MemoryProvider


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    scopes: tuple[str, ...]
    id: str


@dataclass(frozen=True, slots=True)
class VersionRef:
    """One version of one record: what the journal holds in place of text."""

    id: str
    version: int


@dataclass(frozen=True, slots=True)
class VersionsRequest:
    scopes: tuple[str, ...]
    refs: tuple[VersionRef, ...]


class HistoryProvider(MemoryProvider, Protocol):
    async def history(self, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
        """Every version of the record, oldest first, the current one last; empty when it is not at the scopes.

        A replaced version is closed: `superseded_by` names the record's id, and `valid_to` is when it was
        replaced, unless it had ended before.
        """
        ...

    async def versions(self, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
        """Versions as they were when current, not closed. Erased and foreign ones are absent."""
        ...
