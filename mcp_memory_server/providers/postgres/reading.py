"""Records: by digest order, by id or key, by page, and counted."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory_server.providers.base import Listing, ListRequest, PageRequest, Stats
from mcp_memory_server.records import MemoryRecord, Sensitivity

from .connection import Transaction


async def list_records(db: Transaction, request: ListRequest) -> Listing:
    raise NotImplementedError


async def page(db: Transaction, request: PageRequest) -> tuple[MemoryRecord, ...]:
    raise NotImplementedError


async def all_scopes(db: Transaction) -> tuple[str, ...]:
    raise NotImplementedError


async def stats(db: Transaction, scopes: Sequence[str], max_sensitivity: Sensitivity | None) -> Stats:
    raise NotImplementedError
