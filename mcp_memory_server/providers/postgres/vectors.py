"""Vectors beside the signatures: which records still want them, and taking them in."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory_server.providers.base import VectorCount, VectorsWrite
from mcp_memory_server.records import MemoryRecord

from .connection import Transaction


async def unembedded(
    db: Transaction, embedder: str, limit: int, scopes: Sequence[str] | None
) -> tuple[MemoryRecord, ...]:
    raise NotImplementedError


async def put_vectors(db: Transaction, request: VectorsWrite) -> int:
    raise NotImplementedError


async def count_vectors(db: Transaction, embedder: str, scopes: Sequence[str] | None) -> VectorCount:
    raise NotImplementedError
