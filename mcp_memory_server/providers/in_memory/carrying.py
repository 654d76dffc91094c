"""What stands beside the records, page by page, and taking it in."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from mcp_memory_server.providers.base import (
    AuditLine,
    Carried,
    CarryPage,
    CarryRequest,
    EntityId,
    HeldVectors,
    JournaledDigest,
    Merge,
    OrderPage,
    Part,
    SurfaceRequest,
)
from mcp_memory_server.providers.scope_index import ScopeIndex
from mcp_memory_server.providers.versions import check_carried
from mcp_memory_server.records import MemoryRecord

from .entities import Entities
from .journal import Journal
from .surfacing import SurfacedSets


@dataclass(frozen=True, slots=True)
class Carrying:
    """The parts of one store. Places in what only grows are counted; elsewhere the names of a row are its place."""

    entities: Entities
    audit: deque[AuditLine]
    journal: Journal
    surfaced: SurfacedSets
    index: ScopeIndex

    def in_order(self, current: Iterable[MemoryRecord], limit: int, after: str | None) -> OrderPage:
        """`current` is the current version of every record."""
        numbered = sorted((self.index.number_of(record), record.scope, record.id) for record in current)
        found = [row for row in numbered if after is None or row[0] > int(after)][:limit]
        return OrderPage(
            tuple((scope, id) for _, scope, id in found), str(found[-1][0]) if len(found) == limit else None
        )

    def page(self, request: CarryRequest, current: Iterable[MemoryRecord]) -> CarryPage:
        """`current` is the current version of every record."""
        after = None if request.after is None else json.loads(request.after)
        behind = ((place, row) for place, row in self._placed(request.part, current) if after is None or place > after)
        found = list(islice(behind, request.limit))
        return CarryPage(
            tuple(row for _, row in found), json.dumps(found[-1][0]) if len(found) == request.limit else None
        )

    def _placed(self, part: Part, current: Iterable[MemoryRecord]) -> Iterator[tuple[object, Carried]]:
        match part:
            case "entities":
                yield from (([row.scope, row.folded], row) for row in self.entities.ids())
            case "merges":
                yield from enumerate(self.entities.lines())
            case "audit":
                yield from enumerate(self.audit)
            case "journal":
                yield from ((row.digest_id, row) for row in self.journal.all())
            case "surfaced":
                yield from (([row.actor_id, row.conversation_id], row) for row in self.surfaced.all())
            case "vectors":
                for record in sorted(current, key=lambda record: record.id):
                    if (row := self.index.vectors_of(record)) is not None:
                        yield record.id, row

    def take(self, rows: Sequence[Carried], current: Mapping[str, MemoryRecord]) -> None:
        """`current` is the current version of every record, by id."""
        check_carried(rows)
        for row in rows:
            match row:
                case EntityId():
                    self.entities.adopt(row)
                case Merge():
                    self.entities.take(row)
                case AuditLine():
                    self.take_line(row)
                case JournaledDigest():
                    self.journal.append((row,))
                case SurfaceRequest():
                    self.surfaced.add(row, {(record.scope, record.id) for record in current.values()})
                case HeldVectors():
                    self._take_vectors(row, current)

    def take_line(self, line: AuditLine) -> None:
        """Hold an audit line, once."""
        if line not in self.audit:
            self.audit.append(line)

    def _take_vectors(self, row: HeldVectors, current: Mapping[str, MemoryRecord]) -> None:
        vectors = row.vectors
        record = current.get(vectors.ref.id)
        if (
            record is not None
            and (record.scope, record.version, record.status) == (vectors.scope, vectors.ref.version, "active")
            and not self.index.has_vectors(record, row.embedder)
        ):
            self.index.put_vectors(record, row.embedder, vectors.pooled, vectors.tokens)
