"""Reading rows out of a SQLite file page by page, without SQLite, as far as the bytes make sense.

For a damaged store only. Follows the SQLite file format (https://www.sqlite.org/fileformat2.html): sections 1.6
(b-tree pages), 2.1 (records) and 4 (the write-ahead log). Interior pages are not needed: every leaf is read where
it lies, so a lost root loses no row.
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

Value = int | float | str | bytes | None

_LEAF_TABLE: Final = 13
_LEAF_INDEX: Final = 10


class _NotARecord(Exception):
    """The bytes at hand are no record."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of some table: with its rowid, or None where the table has none."""

    rowid: int | None
    values: tuple[Value, ...]


def read_rows(path: Path) -> Iterator[Row]:
    """Every row on every leaf page that can be decoded, of whichever table, in file order."""
    pages, page_size = _load(path)
    for number, page in sorted(pages.items()):
        header = 100 if number == 1 else 0
        if len(page) < page_size or page[header] not in (_LEAF_TABLE, _LEAF_INDEX):
            continue
        is_table = page[header] == _LEAF_TABLE
        (cells,) = struct.unpack_from(">H", page, header + 3)
        for index in range(min(cells, page_size // 4)):
            try:
                (at,) = struct.unpack_from(">H", page, header + 8 + 2 * index)
                yield _read_cell(pages, page, at, is_table)
            except (_NotARecord, struct.error, IndexError, UnicodeDecodeError):
                continue


def logged(log: Path, page_size: int) -> Container[int]:
    """The numbers of the pages of which a write-ahead log, where there is one, has committed frames."""
    try:
        return _committed_frames(log.read_bytes(), page_size)
    except FileNotFoundError:
        return ()


def _load(path: Path) -> tuple[dict[int, bytes], int]:
    """The file's pages by number, those of committed frames of the log laid over them; and the page size."""
    data = path.read_bytes()
    (raw_size,) = struct.unpack_from(">H", data, 16)
    size = 65536 if raw_size == 1 else raw_size
    pages = {start // size + 1: data[start : start + size] for start in range(0, len(data), size)}
    log = path.with_name(path.name + "-wal")
    if log.exists():
        pages |= _committed_frames(log.read_bytes(), size)
    return pages, size


def _committed_frames(log: bytes, page_size: int) -> dict[int, bytes]:
    committed: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    salts = log[16:24]
    for start in range(32, len(log) - page_size - 23, page_size + 24):
        number, commit = struct.unpack_from(">II", log, start)
        if log[start + 8 : start + 16] != salts:
            break  # left over from before the log was last begun anew
        pending[number] = log[start + 24 : start + 24 + page_size]
        if commit:
            committed |= pending
            pending = {}
    return committed


def _read_cell(pages: dict[int, bytes], page: bytes, at: int, is_table: bool) -> Row:
    length, at = _varint(page, at)
    rowid = None
    if is_table:
        rowid, at = _varint(page, at)
    return Row(rowid, _decode_record(_payload(pages, page, at, length, is_table)))


def _payload(pages: dict[int, bytes], page: bytes, at: int, length: int, is_table: bool) -> bytes:
    """A cell's payload, its overflow pages included."""
    usable = len(page)
    most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
    if length <= most:
        return _exactly(page[at : at + length], length)
    least = (usable - 12) * 32 // 255 - 23
    kept = least + (length - least) % (usable - 4)
    local = kept if kept <= most else least
    parts = [page[at : at + local]]
    (following,) = struct.unpack_from(">I", page, at + local)
    missing = length - local
    for _ in range(missing // (usable - 4) + 1):
        if missing <= 0:
            break
        overflow = pages.get(following, b"")
        parts.append(overflow[4 : 4 + missing])
        missing -= usable - 4
        (following,) = struct.unpack_from(">I", overflow)
    return _exactly(b"".join(parts), length)


def _exactly(payload: bytes, length: int) -> bytes:
    if len(payload) != length:
        raise _NotARecord
    return payload


def _decode_record(payload: bytes) -> tuple[Value, ...]:
    header_length, at = _varint(payload, 0)
    types: list[int] = []
    while at < header_length:
        kind, at = _varint(payload, at)
        types.append(kind)
    values: list[Value] = []
    for kind in types:
        value, at = _decode_value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise _NotARecord
    return tuple(values)


_INTEGER_BYTES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def _decode_value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in _INTEGER_BYTES:
        end = at + _INTEGER_BYTES[kind]
        return int.from_bytes(payload[at:end], signed=True), end
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        raise _NotARecord
    end = at + (kind - 12) // 2
    raw = payload[at:end]
    return (raw.decode() if kind % 2 else raw), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A big-endian integer of 1 to 9 bytes, seven bits each but for the ninth; and where it ends."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9
