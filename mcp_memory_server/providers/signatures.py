"""What ranking reads of a record: the same for every provider, so that equal records rank equally."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from mcp_memory_server.records import MemoryRecord

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Row


def ranking_row(number: int, record: MemoryRecord) -> Row:
    """The row of a record under the store's own number for it, which rises in the order of first writing."""
    from mcp_memory_server.ranking import Row, encode_signature  # noqa: PLC0415  # numpy: only once something is ranked

    written = datetime.fromisoformat(record.updated_at)
    return Row(
        number=number,
        key=record.key,
        origin_thread=record.origin.thread_id,
        time_ms=round(written.timestamp() * 1000),
        signature=encode_signature(key=record.key, text=record.text, tags=record.tags, subject=record.subject),
    )
