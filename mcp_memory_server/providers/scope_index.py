"""What search reads of records that are held in memory: a block of signatures for each scope.

Nothing here runs before the first search, and the ranking (with numpy) is imported only then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from mcp_memory_server import ranking
from mcp_memory_server.records import MemoryRecord

from .base import Filter, HeldVectors, Hit, RecordVectors, SearchRequest, VersionRef
from .signatures import numbered, ranking_question, ranking_row

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Row, SignatureBlock


@dataclass(frozen=True, slots=True)
class _Vectors:
    embedder: str
    pooled: bytes
    tokens: bytes | None


@dataclass(frozen=True, slots=True)
class _Ranked:
    """What is ranked of one scope: the block, the current records, and the `versions` that stand in it besides."""

    block: SignatureBlock
    current: Mapping[int, MemoryRecord]
    versions: Mapping[int, MemoryRecord]

    def record(self, number: int) -> MemoryRecord:
        return self.versions.get(number) or self.current[number]


class ScopeIndex:
    """Follows the current records of each scope; a search first takes in what changed since the one before."""

    def __init__(self, language: str | None = None) -> None:
        self._language = language
        self._numbers: dict[str, int] = {}
        self._next_number = count(1)
        self._blocks: dict[str, SignatureBlock] = {}
        self._records: dict[str, dict[int, MemoryRecord]] = {}
        self._changed: dict[str, dict[int, MemoryRecord | None]] = {}
        self._vectors: dict[int, _Vectors] = {}
        self._embedder: str | None = None

    def put(self, record: MemoryRecord) -> None:
        """The record is now current, and may be found when it is active."""
        number = self._numbers.get(record.id)
        if number is None:
            number = self._numbers[record.id] = next(self._next_number)
        self._vectors.pop(number, None)
        if record.status == "active":
            self._changed.setdefault(record.scope, {})[number] = record
        else:
            self._withdraw(record.scope, number)

    def remove(self, record: MemoryRecord) -> None:
        """The record is gone; nothing of it stays here."""
        self._withdraw(record.scope, self._numbers.pop(record.id))

    def number_of(self, record: MemoryRecord) -> int:
        """The place of a current record in the order of writing."""
        return self._numbers[record.id]

    def put_vectors(self, record: MemoryRecord, embedder: str, pooled: bytes, tokens: bytes | None) -> None:
        """The vectors of a current, active record."""
        number = self._numbers[record.id]
        self._vectors[number] = _Vectors(embedder, pooled, tokens)
        self._changed.setdefault(record.scope, {})[number] = record

    def has_vectors(self, record: MemoryRecord, embedder: str) -> bool:
        held = self._vectors.get(self._numbers[record.id])
        return held is not None and held.embedder == embedder

    def vectors_of(self, record: MemoryRecord) -> HeldVectors | None:
        held = self._vectors.get(self._numbers[record.id])
        if held is None:
            return None
        ref = VersionRef(record.id, record.version)
        return HeldVectors(held.embedder, RecordVectors(record.scope, ref, held.pooled, held.tokens))

    def _withdraw(self, scope: str, number: int) -> None:
        self._vectors.pop(number, None)
        self._changed.setdefault(scope, {})[number] = None
        self._records.get(scope, {}).pop(number, None)

    def search(self, request: SearchRequest, limit: int, among: Iterable[MemoryRecord]) -> list[Hit]:
        """The versions of the `limit` best keys `among` those at the scopes, best first; nothing else is ranked."""
        self._use_embedder(request.embedded and request.embedded.embedder)
        by_scope: dict[str, list[MemoryRecord]] = {}
        for record in among:
            by_scope.setdefault(record.scope, []).append(record)
        scopes = [scope for scope in dict.fromkeys(request.scopes) if scope in by_scope]
        ranked = [self._ranked(scope, by_scope[scope], request.filter) for scope in scopes]
        question = ranking_question(request, self._language, partial(self._tokens, ranked))
        found = ranking.rank([held.block for held in ranked], question, limit)
        return [Hit(ranked[hit.block_index].record(hit.number), hit.score, hit.signals) for hit in found]

    def _ranked(self, scope: str, among: Sequence[MemoryRecord], asked: Filter) -> _Ranked:
        """The block of these versions of a scope's records: its own, and rows made now for those that it has not."""
        self._take_in(scope)
        current = self._records.get(scope, {})
        block = self._block(scope)
        kept: list[int] = []
        others: list[tuple[int, MemoryRecord]] = []
        for record in among:
            number = self._numbers[record.id]
            if current.get(number) is record:
                kept.append(number)
            else:
                others.append((number, record))
        if len(kept) < len(block):
            block = block.restricted_to(kept)
        versions = numbered(others, asked)
        if versions:
            rows = [ranking_row(number, record, self._language) for number, record in versions.items()]
            block = block.with_changes(rows)
        return _Ranked(block, current, versions)

    def _use_embedder(self, embedder: str | None) -> None:
        """Blocks hold the vectors of one embedder: for another one they are made anew."""
        if embedder == self._embedder:
            return
        self._embedder = embedder
        self._blocks.clear()
        for scope, records in self._records.items():
            self._changed[scope] = {**records, **self._changed.get(scope, {})}

    def _tokens(self, ranked: Sequence[_Ranked], asked: Sequence[tuple[int, int]]) -> list[bytes | None]:
        held = (None if number in ranked[block].versions else self._vectors.get(number) for block, number in asked)
        return [vectors.tokens if vectors and vectors.embedder == self._embedder else None for vectors in held]

    def _row(self, number: int, record: MemoryRecord) -> Row:
        row = ranking_row(number, record, self._language)
        vectors = self._vectors.get(number)
        if vectors is None or vectors.embedder != self._embedder:
            return row
        return row._replace(vector=vectors.pooled)

    def _block(self, scope: str) -> SignatureBlock:
        return self._blocks.get(scope) or ranking.SignatureBlock()

    def _take_in(self, scope: str) -> None:
        changed = self._changed.pop(scope, None)
        if not changed:
            return
        records = self._records.setdefault(scope, {})
        for number in changed:
            records.pop(number, None)
        kept = {number: record for number, record in changed.items() if record is not None}
        records.update(kept)
        self._blocks[scope] = self._block(scope).with_changes(
            [self._row(number, record) for number, record in kept.items()],
            changed.keys() - kept.keys(),
        )
