"""Erasing records down to the bytes.

SQLite's secure_delete overwrites freed cells and pages with zeros, and a truncating checkpoint empties the log.
What is left is this: when SQLite moves cells between pages to balance a tree, old copies of *living* cells can
stay in a page's unallocated gap, and later deletes do not reach them (measured: in 1 to 3 of 1,000 erasures).
So after each erasure the gaps of the file are searched for the erased text, and a hit is answered by rebuilding
the file with VACUUM.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from mcp_memory_server.providers.base import ForgetRequest

from . import descriptors, entities, files, surfacing
from .names import is_storable
from .writing import ScopeGeneration, advance, announce, drop_signature

_FIND = """
SELECT memory.number, memory.key FROM memory JOIN scope ON scope.id = memory.scope_id
WHERE scope.token = ? AND memory.id = ?
"""
_TEXTS = """
SELECT key, text, details FROM memory WHERE id = :id
UNION ALL SELECT key, text, details FROM history WHERE id = :id
"""
_HAS_LINE: Final = "SELECT 1 FROM audit WHERE id = ? AND scope = ? AND actor_id = ? AND at = ? AND reason = ?"
_SAID_IN_DETAILS: Final = frozenset({"tags", "subject", "predicate", "object", "rule", "working"})
"""The fields of a record in `details` that hold what somebody said; the others hold ids, times and names."""
_LEAST_CHARS: Final = 4
"""A key or a tag shorter than this stands in many a gap by chance, and would have the file rebuilt again and again."""
_CHUNK_BYTES: Final = 1 << 20
"""How much of the file is looked at at once: a multiple of every page size."""
_TREE_PAGES = {2: 12, 5: 12, 10: 8, 13: 8}
"""Size of the header of each kind of b-tree page: interior index, interior table, leaf index, leaf table."""


@dataclass(frozen=True, slots=True)
class Erased:
    """A record that left the tables. `texts` are what must not stay in any file; keep them in memory only."""

    key: str
    ticket: int
    texts: tuple[str, ...]


def erase(db: sqlite3.Connection, request: ForgetRequest) -> Erased | None:
    """Delete the record and all that was derived from it, and open a ticket for its bytes."""
    if not (is_storable(request.scope) and is_storable(request.id)):
        return None
    row = db.execute(_FIND, (request.scope, request.id)).fetchone()
    if row is None:
        return None
    number, key = row
    gone = delete(db, advance(db, request.scope), number, request.id)
    leave_audit_line(db, request)
    announce(db, request.scope, request.id)
    return Erased(key, open_ticket(db), tuple(gone))


def delete(db: sqlite3.Connection, place: ScopeGeneration, number: int, record_id: str) -> list[str]:
    """Take a record and all that hangs on it out of the tables; all the texts that it, its history and names held."""
    rows = db.execute(_TEXTS, {"id": record_id}).fetchall()
    db.execute("DELETE FROM history WHERE id = ?", (record_id,))
    db.execute("DELETE FROM memory WHERE number = ?", (number,))
    drop_signature(db, place, number)
    surfacing.drop(db, record_id)
    folded = entities.sweep(db, (entity for entity, _ in entities.drop(db, record_id)))
    names = (name for name in folded if len(name) >= _LEAST_CHARS)
    return list(dict.fromkeys([*(text for row in rows for text in _texts_of(*row)), *names]))


def _texts_of(key: str, text: str, details: str) -> Iterator[str]:
    """What a row says, as its bytes stand in the file: strings of the JSON in `details` in their escaped form."""
    yield text
    held = json.loads(details)
    beside = [said for field in _SAID_IN_DETAILS & held.keys() for said in _strings(held[field])]
    yield from (piece for piece in (key, *map(_escaped, beside)) if len(piece) >= _LEAST_CHARS)


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list() | dict():
            held = cast("list[object] | dict[str, object]", value)
            for part in held.values() if isinstance(held, dict) else held:
                yield from _strings(part)
        case _:
            pass


def leave_audit_line(db: sqlite3.Connection, request: ForgetRequest) -> None:
    """Note who had it done to which record, when and why, once: what stays when nothing else does."""
    line = (request.id, request.scope, request.by, request.at, request.reason)
    if not db.execute(_HAS_LINE, line).fetchone():  # or it was taken along already (carrying.py)
        db.execute("INSERT INTO audit (id, scope, actor_id, at, reason) VALUES (?, ?, ?, ?, ?)", line)


def open_ticket(db: sqlite3.Connection) -> int:
    """Note that bytes have to leave the files, in the transaction that deletes them."""
    return db.execute("INSERT INTO erasure DEFAULT VALUES RETURNING number").fetchone()[0]


def open_tickets(db: sqlite3.Connection) -> list[int]:
    return [number for (number,) in db.execute("SELECT number FROM erasure")]


def scrub(db: sqlite3.Connection, path: Path, texts: Sequence[str] | None, tickets: Sequence[int]) -> bool:
    """Get the erased bytes out of the files and close the tickets; False while a foreign reader is in the way.

    Runs outside a transaction. `texts` is None when nobody knows any more what was erased, as after a crash:
    then the file is rebuilt whatever it holds. Copies of a damaged store go whole: nobody knows what they hold.
    """
    for copy in files.damaged_copies(path):
        copy.unlink(missing_ok=True)
    if not _empty_log(db):
        return False
    if texts is None or any(not _is_alive(db, piece) for piece in remnants(path, texts)):
        db.execute("VACUUM")
        if not _empty_log(db):
            return False
    db.execute(f"DELETE FROM erasure WHERE number IN ({','.join(map(str, tickets))})")
    return True


def _empty_log(db: sqlite3.Connection) -> bool:
    """Move the log into the file and cut it to nothing, waiting for readers within the busy timeout."""
    blocked, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not blocked


def _is_alive(db: sqlite3.Connection, piece: str) -> bool:
    """Whether a record that is still held says the same, so that the piece betrays nothing of the erased one."""
    held = "SELECT 1 FROM {} WHERE instr(text, :piece) OR instr(key, :piece) OR instr(details, :piece) LIMIT 1"
    named = "SELECT 1 FROM entity WHERE instr(folded, :piece) LIMIT 1"
    queries = (held.format("memory"), held.format("history"), named)
    return any(db.execute(query, {"piece": piece}).fetchone() for query in queries)


def remnants(path: Path, texts: Sequence[str]) -> set[str]:
    """The pieces of the texts that lie in unallocated gaps of the file's b-tree pages.

    The layout is that of the SQLite file format: a page begins with a header, then an array of 2-byte cell
    pointers, then the gap, then the cells up to the page's end.
    """
    pieces = {piece.encode(): piece for text in texts for piece in _pieces(text)}
    found: set[str] = set()
    with descriptors.reading(path) as file:
        (raw_size,) = struct.unpack_from(">H", descriptors.read_at(file, 0, 100), 16)
        page_size = 65536 if raw_size == 1 else raw_size
        start = 0
        while data := descriptors.read_at(file, start, _CHUNK_BYTES):
            for gap in _gaps(data, page_size, is_first=start == 0):
                if gap.count(0) < len(gap):
                    found.update(piece for needle, piece in pieces.items() if needle in gap)
            start += len(data)
    return found


def _gaps(pages: bytes, page_size: int, *, is_first: bool) -> Iterator[bytes]:
    """The unallocated gap of each b-tree page. The file's first page has its header behind that of the file."""
    for page in range(0, len(pages) - page_size + 1, page_size):
        header = page + (100 if is_first and page == 0 else 0)
        kind, cells, content = struct.unpack_from(">BxxHH", pages, header)
        if kind in _TREE_PAGES:
            yield pages[header + _TREE_PAGES[kind] + 2 * cells : page + (content or 65536)]


def _pieces(text: str) -> list[str]:
    """Overlapping pieces of a text: whatever part of 24 characters or more was left holds one of them whole."""
    return [text] if len(text) <= 16 else [text[at : at + 16] for at in (*range(0, len(text) - 16, 8), len(text) - 16)]
