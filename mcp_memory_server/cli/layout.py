"""Records and tables as aligned text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mcp_memory_server.digest import Override
from mcp_memory_server.providers.base import Hit
from mcp_memory_server.records import MemoryRecord, visible_line

from .columns import align

PINNED: Final = "* is pinned: it is in every block."


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], width: int | None, flexible: int) -> str:
    """Aligned columns under their headings. Where lines would pass `width`, the flexible column is cut."""
    lines = [list(headings), *([visible_line(str(cell)) for cell in row] for row in rows)]
    return align(lines, width, flexible)


def records_table(records: Iterable[MemoryRecord], width: int | None) -> str:
    """One record a line: what it says, where, by whom, since when, and its id last, whole; and what `*` means."""
    records = tuple(records)
    rows = [
        (
            "*" if record.pinned else "",
            record.key,
            record.text,
            record.scope,
            author_of(record.origin.author),
            minute_of(record.updated_at),
            _marked(record),
        )
        for record in records
    ]
    shown = table(("", "KEY", "FACT", "SCOPE", "BY", "UPDATED", "ID"), rows, width, flexible=2)
    return f"{shown}\n\n{PINNED}" if any(record.pinned for record in records) else shown


def _marked(record: MemoryRecord) -> str:
    """The id, with what keeps the record from being shown to models."""
    marks = [record.status] if record.status != "active" else []
    marks += ["archived"] if record.archived_at is not None else []
    return f"{record.id} ({', '.join(marks)})" if marks else record.id


def versions_table(versions: Iterable[MemoryRecord], width: int | None) -> str:
    """One version a line, oldest first."""
    rows = [
        (
            version.version,
            version.text,
            author_of(version.origin.author),
            version.origin.actor_ref or "",
            minute_of(version.updated_at),
            minute_of(version.valid_from) if version.valid_from else "",
            minute_of(version.valid_to) if version.valid_to else "",
            _state_of(version),
        )
        for version in versions
    ]
    return table(("VERSION", "FACT", "BY", "FOR", "WRITTEN", "FROM", "UNTIL", "STATE"), rows, width, flexible=1)


def _state_of(version: MemoryRecord) -> str:
    if version.superseded_by is not None:
        return "replaced" if version.superseded_by == version.id else "superseded"
    if version.archived_at is not None:
        return "archived"
    return "current" if version.status == "active" else version.status


def hits_table(hits: Iterable[Hit], width: int | None) -> str:
    """One hit a line, best first, with its score and what made most of it."""
    rows = [
        (
            f"{hit.score:.2f}",
            max(hit.signals, key=lambda name: hit.signals[name]) if hit.score else "",
            hit.record.key,
            hit.record.text,
            hit.record.scope,
            author_of(hit.record.origin.author),
            minute_of(hit.record.updated_at),
            hit.record.id,
        )
        for hit in hits
    ]
    return table(("SCORE", "MOSTLY", "KEY", "FACT", "SCOPE", "BY", "WRITTEN", "ID"), rows, width, flexible=3)


def author_of(author: str) -> str:
    """As the block names the two: what people stated, and what an assistant noted."""
    return "person" if author == "human" else "note"


def minute_of(instant: str) -> str:
    return f"{instant[:10]} {instant[11:16]}Z"


def record_json(record: MemoryRecord) -> dict[str, Any]:
    return record.model_dump(mode="json")


def override_json(override: Override) -> dict[str, Any]:
    return override.model_dump(mode="json")
