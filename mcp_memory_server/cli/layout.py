"""Records and tables as aligned text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

from mcp_memory_server.digest import Override
from mcp_memory_server.records import MemoryRecord, visible_line

_GAP: Final = "  "
_LEAST_WIDTH: Final = 16


def display_width(text: str) -> int:
    """The columns that a terminal gives to the text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], width: int | None, flexible: int) -> str:
    """Aligned columns under their headings. Where lines would pass `width`, the flexible column is cut."""
    lines = [list(headings), *([visible_line(str(cell)) for cell in row] for row in rows)]
    widths = [max(display_width(line[column]) for line in lines) for column in range(len(headings))]
    if width is not None:
        spare = width - sum(widths) - len(_GAP) * (len(widths) - 1)
        widths[flexible] = min(widths[flexible], max(_LEAST_WIDTH, widths[flexible] + spare))
    return "\n".join(
        _GAP.join(_fitted(cell, size) for cell, size in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _fitted(cell: str, width: int) -> str:
    if display_width(cell) > width:
        while display_width(cell) > width - 1:
            cell = cell[:-1]
        cell += "…"
    return cell + " " * (width - display_width(cell))


def records_table(records: Iterable[MemoryRecord], width: int | None) -> str:
    """One record a line: what it says, where, by whom, since when, and its id last, whole."""
    rows = [
        (
            "*" if record.pinned else "",
            record.key,
            record.text,
            record.scope,
            author_of(record.origin.author),
            minute_of(record.updated_at),
            record.id if record.status == "active" else f"{record.id} ({record.status})",
        )
        for record in records
    ]
    return table(("", "KEY", "FACT", "SCOPE", "BY", "UPDATED", "ID"), rows, width, flexible=2)


def versions_table(versions: Iterable[MemoryRecord], width: int | None) -> str:
    """One version a line, oldest first."""
    rows = [
        (
            version.version,
            version.text,
            author_of(version.origin.author),
            version.origin.actor_ref or "",
            minute_of(version.updated_at),
            "replaced" if version.superseded_by else "current",
        )
        for version in versions
    ]
    return table(("VERSION", "FACT", "BY", "FOR", "WRITTEN", "STATE"), rows, width, flexible=1)


def author_of(author: str) -> str:
    """As the block names the two: what people stated, and what an assistant noted."""
    return "person" if author == "human" else "note"


def minute_of(instant: str) -> str:
    return f"{instant[:10]} {instant[11:16]}Z"


def record_json(record: MemoryRecord) -> dict[str, Any]:
    return record.model_dump(mode="json")


def override_json(override: Override) -> dict[str, Any]:
    return override.model_dump(mode="json")


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
