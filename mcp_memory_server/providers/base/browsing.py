"""The group `browse`: everything at a scope, page by page, and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mcp_memory_server.records import MemoryRecord, Sensitivity

from .required import MemoryProvider


@dataclass(frozen=True, slots=True)
class PageCursor:
    """A place between two records of a scope: behind that record of the key, or behind all of the key's."""

    key: str
    id: str | None = None

    @classmethod
    def behind(cls, record: MemoryRecord) -> PageCursor:
        return cls(record.key, record.id)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Records of one scope in order of key, those of one key in order of id, behind `after`, at most `limit`."""

    scope: str
    limit: int
    after: PageCursor | None = None


@dataclass(frozen=True, slots=True)
class ScopeCount:
    scope: str
    records: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts at the requested scopes, and the state of the store. `details` are shown to operators only.

    Records are counted in every status; `versions` counts them and the versions they replaced. `by_scope` has the
    requested scopes that hold a record, in the order requested; `by_kind` and `by_status` what occurs.
    `last_write` is the newest `updated_at` there. `last_maintenance` is that of the store, None before the first.
    """

    records: int
    pinned: int
    versions: int
    by_scope: tuple[ScopeCount, ...]
    by_kind: Mapping[str, int]
    by_status: Mapping[str, int]
    last_write: str | None
    pending_erasures: int
    last_maintenance: str | None = None
    details: Mapping[str, str | int] = field(default_factory=dict[str, "str | int"])


class BrowsingProvider(MemoryProvider, Protocol):
    async def page(self, request: PageRequest) -> tuple[MemoryRecord, ...]:
        """All statuses; fewer than `limit` records means that these were the last."""
        ...

    async def scopes(self) -> tuple[str, ...]:
        """Every scope that holds a record, sorted. Administrative: it names what callers must not see."""
        ...

    async def stats(self, scopes: Sequence[str], max_sensitivity: Sensitivity | None = None) -> Stats:
        """Counts at the scopes, of records up to that sensitivity only where one is given."""
        ...
