"""Ranking rows of scopes, held in memory and brought up to date by what changed since."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mcp_memory_server.providers.base import Hit, SearchRequest
from mcp_memory_server.providers.key_order import in_digest_order, with_pins
from mcp_memory_server.providers.rows import record_of

from .reading import COLUMNS, PINNED_RECORDS, scope_ids

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Row, SignatureBlock

DEFAULT_CACHE_BYTES: Final = 48 * 1024 * 1024

_GENERATIONS = "SELECT id, generation FROM scope WHERE id IN (SELECT value FROM json_each(?))"
_ROWS = "SELECT number, key, thread, time_ms, lexical FROM signature WHERE scope_id = ?"
_CHANGED_ROWS = f"{_ROWS} AND generation > ?"
_REMOVED = "SELECT number FROM removal WHERE scope_id = ? AND generation > ?"
_BY_NUMBER = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number FROM memory
WHERE memory.number IN (SELECT value FROM json_each(?)) AND memory.scope_id IN (SELECT value FROM json_each(?))
"""


@dataclass(frozen=True, slots=True)
class _Held:
    generation: int
    block: SignatureBlock


class ScopeBlocks:
    """Signature blocks of the scopes used last, at most `max_bytes` of them.

    A block is good for one generation of its scope. The generation is read in the same transaction as the
    texts, so a write of any process is seen by the next search, at the cost of the rows that it changed.
    """

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[int, _Held] = OrderedDict()

    def clear(self) -> None:
        self._held.clear()

    def current(self, db: sqlite3.Connection, scope_id: int, generation: int) -> SignatureBlock:
        """The scope's block as of the running transaction, in which `generation` was read."""
        held = self._held.get(scope_id)
        if held is None or held.generation > generation:
            block = _block_of(_rows(db.execute(_ROWS, (scope_id,))))
        elif held.generation < generation:
            since = (scope_id, held.generation)
            removed = [number for (number,) in db.execute(_REMOVED, since)]
            block = held.block.with_changes(_rows(db.execute(_CHANGED_ROWS, since)), removed)
        else:
            block = held.block
        self._held[scope_id] = _Held(generation, block)
        self._held.move_to_end(scope_id)
        return block

    def shrink(self) -> None:
        """Drop the blocks used least recently until the rest fits."""
        total = sum(held.block.nbytes for held in self._held.values())
        while total > self._max_bytes and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            total -= dropped.block.nbytes


def search(db: sqlite3.Connection, blocks: ScopeBlocks, request: SearchRequest) -> tuple[Hit, ...]:
    from mcp_memory_server.ranking import Question, rank  # noqa: PLC0415  # numpy, after the handshake

    scopes = scope_ids(db, request.scopes)
    ids = _json_list(scopes)
    generations = dict(db.execute(_GENERATIONS, (ids,)).fetchall())
    searched = list(scopes)
    held = [blocks.current(db, scope_id, generations[scope_id]) for scope_id in searched]
    blocks.shrink()
    pinned = [record_of(scopes[row[-1]], row) for row in db.execute(PINNED_RECORDS, {"scopes": ids})]
    pinned_keys = {record.key for record in pinned}
    question = Question(request.query, datetime.fromisoformat(request.at))
    found = rank(held, question, request.limit + len(pinned_keys))
    records = {
        (row[-2], row[-1]): record_of(scopes[row[-2]], row)
        for row in db.execute(_BY_NUMBER, (_json_list(hit.number for hit in found), ids))
    }
    hits = (Hit(records[searched[hit.block_index], hit.number], hit.score, hit.signals) for hit in found)
    in_order = [record for held_key in in_digest_order(pinned, request.scopes) for record in held_key]
    return with_pins(hits, in_order, request.limit)


def _rows(rows: Iterable[Sequence[object]]) -> list[Row]:
    from mcp_memory_server.ranking import Row  # noqa: PLC0415  # numpy

    return [Row(*row) for row in rows]  # pyright: ignore[reportArgumentType]  # the columns of _ROWS are its fields


def _block_of(rows: list[Row]) -> SignatureBlock:
    from mcp_memory_server.ranking import SignatureBlock  # noqa: PLC0415  # numpy

    return SignatureBlock.from_rows(rows)


def _json_list(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
