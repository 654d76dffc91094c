"""Ranking rows of scopes, held in memory and brought up to date by what changed since."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcp_memory_server.providers.base import Hit, SearchRequest
from mcp_memory_server.providers.key_order import in_digest_order, with_pins
from mcp_memory_server.providers.rows import record_of
from mcp_memory_server.providers.signatures import signature_of

from .reading import COLUMNS, PINNED_RECORDS, scope_ids
from .vectors import embedder_number

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Ranked, Row, SignatureBlock

DEFAULT_CACHE_BYTES: Final = 48 * 1024 * 1024

_GENERATIONS = "SELECT id, generation FROM scope WHERE id IN (SELECT value FROM json_each(?))"
_ROWS = "SELECT number, key, thread, time_ms, lexical FROM signature WHERE scope_id = :scope"
_ROWS_WITH_VECTORS = """
SELECT number, key, thread, time_ms, lexical, CASE WHEN embedder = :embedder THEN pooled END
FROM signature WHERE scope_id = :scope
"""
_CHANGED: Final = " AND generation > :since"
_REMOVED = "SELECT number FROM removal WHERE scope_id = ? AND generation > ?"
_BY_NUMBER = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number FROM memory
WHERE memory.number IN (SELECT value FROM json_each(?)) AND memory.scope_id IN (SELECT value FROM json_each(?))
"""
_TOKENS = "SELECT number, vectors FROM token WHERE number IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class _Held:
    generation: int
    block: SignatureBlock


class ScopeBlocks:
    """Signature blocks of the scopes used last, at most `max_bytes` of them.

    A block is good for one generation of its scope. The generation is read in the same transaction as the
    texts, so a write of any process is seen by the next search, at the cost of the rows that it changed.
    Blocks hold the vectors of one embedder, or none.
    """

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[tuple[int, int | None], _Held] = OrderedDict()

    def clear(self) -> None:
        self._held.clear()

    def current(self, db: sqlite3.Connection, scope_id: int, generation: int, embedder: int | None) -> SignatureBlock:
        """The scope's block as of the running transaction, in which `generation` was read."""
        place = (scope_id, embedder)
        held = self._held.get(place)
        if held is None or held.generation > generation:
            block = _block_of(_rows(db, scope_id, embedder))
        elif held.generation < generation:
            removed = [number for (number,) in db.execute(_REMOVED, (scope_id, held.generation))]
            block = held.block.with_changes(_rows(db, scope_id, embedder, since=held.generation), removed)
        else:
            block = held.block
        self._held[place] = _Held(generation, block)
        self._held.move_to_end(place)
        return block

    def shrink(self) -> None:
        """Drop the blocks used least recently until the rest fits."""
        total = sum(held.block.nbytes for held in self._held.values())
        while total > self._max_bytes and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            total -= dropped.block.nbytes


def search(db: sqlite3.Connection, blocks: ScopeBlocks, request: SearchRequest) -> tuple[Hit, ...]:
    scopes = scope_ids(db, request.scopes)
    ids = _json_list(scopes)
    pinned = [record_of(scopes[row[-1]], row) for row in db.execute(PINNED_RECORDS, {"scopes": ids})]
    wanted = request.limit + len({record.key for record in pinned})
    searched = list(scopes)
    found = _ranked(db, blocks, request, searched, wanted)
    records = {
        (row[-2], row[-1]): record_of(scopes[row[-2]], row)
        for row in db.execute(_BY_NUMBER, (_json_list(hit.number for hit in found), ids))
    }
    hits = (Hit(records[searched[hit.block_index], hit.number], hit.score, hit.signals) for hit in found)
    in_order = [record for held_key in in_digest_order(pinned, request.scopes) for record in held_key]
    return with_pins(hits, in_order, request.limit)


def _ranked(
    db: sqlite3.Connection, blocks: ScopeBlocks, request: SearchRequest, searched: Sequence[int], limit: int
) -> list[Ranked]:
    from mcp_memory_server.ranking import Question, rank  # noqa: PLC0415  # numpy, after the handshake

    embedded = request.embedded
    embedder = None if embedded is None else embedder_number(db, embedded.embedder)
    generations = dict(db.execute(_GENERATIONS, (_json_list(searched),)).fetchall())
    held = [blocks.current(db, scope_id, generations[scope_id], embedder) for scope_id in searched]
    blocks.shrink()
    vectors = None
    if embedded is not None and embedder is not None:
        vectors = replace(embedded.vectors, token_source=partial(_tokens, db))
    return rank(held, Question(request.query, datetime.fromisoformat(request.at), vectors), limit)


def _tokens(db: sqlite3.Connection, asked: Sequence[tuple[int, int]]) -> list[bytes | None]:
    """The token vectors of records by (block, number), for late interaction."""
    found = dict(db.execute(_TOKENS, (_json_list(number for _, number in asked),)).fetchall())
    return [found.get(number) for _, number in asked]


def _rows(db: sqlite3.Connection, scope_id: int, embedder: int | None, since: int | None = None) -> list[Row]:
    """The scope's rows, or those that changed after the generation `since`."""
    from mcp_memory_server.ranking import SIGNATURE_VERSION, Row  # noqa: PLC0415  # numpy

    query = (_ROWS if embedder is None else _ROWS_WITH_VECTORS) + ("" if since is None else _CHANGED)
    asked = {"scope": scope_id, "embedder": embedder, "since": since}
    rows: list[tuple[Any, ...]] = db.execute(query, asked).fetchall()
    return [Row(*(row if row[4][0] == SIGNATURE_VERSION else _signed_anew(db, row))) for row in rows]


def _signed_anew(db: sqlite3.Connection, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row whose signature an earlier release wrote in another form; `reindex` writes it anew for good."""
    values = db.execute(f"SELECT {COLUMNS} FROM memory WHERE number = ?", row[:1]).fetchone()
    return (*row[:4], signature_of(record_of("", values)), *row[5:])


def _block_of(rows: list[Row]) -> SignatureBlock:
    from mcp_memory_server.ranking import SignatureBlock  # noqa: PLC0415  # numpy

    return SignatureBlock.from_rows(rows)


def _json_list(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
