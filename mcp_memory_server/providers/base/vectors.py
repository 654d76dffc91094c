"""The group `vectors`: an embedder's vectors beside the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mcp_memory_server.records import MemoryRecord

from .history import VersionRef
from .searching import SearchingProvider


@dataclass(frozen=True, slots=True)
class RecordVectors:
    """One version's vectors, as `embedding.encode_records` makes them."""

    scope: str
    ref: VersionRef
    pooled: bytes
    tokens: bytes | None = None


@dataclass(frozen=True, slots=True)
class VectorsWrite:
    """Vectors that the embedder of that id made."""

    embedder: str
    records: tuple[RecordVectors, ...]


@dataclass(frozen=True, slots=True)
class VectorCount:
    """How many records can be found, and how many of them have vectors of an embedder."""

    searchable: int
    embedded: int


class VectorProvider(SearchingProvider, Protocol):
    """Vectors beside the records: the work of the operator's embedder, over the whole store unless scopes are named."""

    async def unembedded(
        self, embedder: str, limit: int, scopes: Sequence[str] | None = None
    ) -> tuple[MemoryRecord, ...]:
        """At most `limit` records that search can find and that have no vectors of this embedder."""
        ...

    async def put_vectors(self, request: VectorsWrite) -> int:
        """Hold the vectors of those versions that are still current; how many were.

        They replace vectors of another embedder. A new version of a record has none, and forgetting takes them.
        """
        ...

    async def count_vectors(self, embedder: str, scopes: Sequence[str] | None = None) -> VectorCount: ...
