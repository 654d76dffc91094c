"""Versions of a record, as history and as what a replay was shown."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_memory_server.providers.base import HistoryRequest, VersionRef, VersionsRequest
from mcp_memory_server.records import MemoryRecord

from .connection import Transaction


async def history(db: Transaction, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
    raise NotImplementedError


async def versions(db: Transaction, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
    raise NotImplementedError
