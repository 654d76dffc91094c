"""Record to row and back: the columns of every SQL store, and beside them what lists and searches are narrowed by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mcp_memory_server.providers import rows
from mcp_memory_server.providers.rows import RECORD_COLUMNS, record_values
from mcp_memory_server.providers.timeline import begins
from mcp_memory_server.records import MemoryRecord, lane_of

from .names import stored, told

NARROWING_COLUMNS: Final = (
    "lane", "kind", "owner", "sensitivity", "begins", "valid_to", "archived_at", "thread", "tags",
)  # fmt: skip
"""Columns of `memory` that follow from the rest of the row. SQLite makes them of the JSON in `details`; here that would
fail on a text with a NUL, which Postgres's JSON refuses."""

COLUMNS: Final = ", ".join(f"memory.{name}" for name in RECORD_COLUMNS)
"""For a select of current records that `record_of` reads."""
OLD_COLUMNS: Final = ", ".join(f"history.{name}" for name in RECORD_COLUMNS)
"""For one of replaced versions."""

_ESCAPED: Final = tuple(RECORD_COLUMNS.index(name) for name in ("id", "key", "text"))


def record_of(scope: str, values: Sequence[Any]) -> MemoryRecord:
    """The record of a row whose columns begin with `RECORD_COLUMNS`."""
    held = list(values[: len(RECORD_COLUMNS)])
    for place in _ESCAPED:
        held[place] = told(held[place])
    return rows.record_of(scope, held)


def stored_values(record: MemoryRecord) -> list[Any]:
    """The values of `RECORD_COLUMNS`."""
    held: list[Any] = list(record_values(record))
    for place in _ESCAPED:
        held[place] = stored(held[place])
    return held


def narrowing_values(record: MemoryRecord) -> list[Any]:
    """The values of `NARROWING_COLUMNS`."""
    return [
        stored(lane_of(record)),
        record.kind,
        record.owner or "user",
        record.sensitivity,
        begins(record),
        record.valid_to,
        record.archived_at,
        stored(record.origin.thread_id or ""),
        [stored(tag) for tag in record.tags],
    ]
