"""What search reads of records that are held in memory: a block of signatures for each scope.

Nothing here runs before the first search, and the ranking (with numpy) is imported only then.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING

from mcp_memory_server.records import MemoryRecord

from .base import Hit
from .signatures import ranking_row

if TYPE_CHECKING:
    from mcp_memory_server.ranking import SignatureBlock


class ScopeIndex:
    """Follows the current records of each scope; a search first takes in what changed since the one before."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._next_number = count(1)
        self._blocks: dict[str, SignatureBlock] = {}
        self._records: dict[str, dict[int, MemoryRecord]] = {}
        self._changed: dict[str, dict[int, MemoryRecord | None]] = {}

    def put(self, record: MemoryRecord) -> None:
        """The record is now current, and may be found when it is active."""
        number = self._numbers.get(record.id)
        if number is None:
            number = self._numbers[record.id] = next(self._next_number)
        if record.status == "active":
            self._changed.setdefault(record.scope, {})[number] = record
        else:
            self._withdraw(record.scope, number)

    def remove(self, record: MemoryRecord) -> None:
        """The record is gone; nothing of it stays here."""
        self._withdraw(record.scope, self._numbers.pop(record.id))

    def _withdraw(self, scope: str, number: int) -> None:
        self._changed.setdefault(scope, {})[number] = None
        self._records.get(scope, {}).pop(number, None)

    def search(self, scopes: Sequence[str], query: str, limit: int, at: str) -> list[Hit]:
        """The records of the `limit` best keys at `scopes`, best first; nothing else is read to rank them."""
        from mcp_memory_server.ranking import Question, rank  # noqa: PLC0415  # numpy

        for scope in scopes:
            self._take_in(scope)
        searched = [scope for scope in dict.fromkeys(scopes) if scope in self._blocks]
        if not searched:
            return []
        question = Question(query, datetime.fromisoformat(at))
        found = rank([self._blocks[scope] for scope in searched], question, limit)
        return [Hit(self._records[searched[hit.block_index]][hit.number], hit.score, hit.signals) for hit in found]

    def _take_in(self, scope: str) -> None:
        from mcp_memory_server.ranking import SignatureBlock  # noqa: PLC0415  # numpy

        changed = self._changed.pop(scope, None)
        if not changed:
            return
        records = self._records.setdefault(scope, {})
        for number in changed:
            records.pop(number, None)
        kept = {number: record for number, record in changed.items() if record is not None}
        records.update(kept)
        self._blocks[scope] = self._blocks.get(scope, SignatureBlock()).with_changes(
            [ranking_row(number, record) for number, record in kept.items()],
            changed.keys() - kept.keys(),
        )
