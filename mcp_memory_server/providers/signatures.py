"""What ranking reads of a record: the same for every provider, so that equal records rank equally."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from mcp_memory_server.records import MemoryRecord

from .base import WriteRequest

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Row


def signature_of(fact: MemoryRecord | WriteRequest) -> bytes:
    """The signature of a record, or of the record that a write will make."""
    from mcp_memory_server.ranking import encode_signature  # noqa: PLC0415  # numpy: only once something is ranked

    return encode_signature(key=fact.key, text=fact.text, tags=fact.tags, subject=fact.subject)


def epoch_ms(instant: str) -> int:
    """Milliseconds since 1970 UTC; rounded, because a float holds most of them a little too low."""
    return round(datetime.fromisoformat(instant).timestamp() * 1000)


def ranking_row(number: int, record: MemoryRecord) -> Row:
    """The row of a record under the store's own number for it, which rises in the order of first writing."""
    from mcp_memory_server.ranking import Row  # noqa: PLC0415  # numpy

    return Row(
        number=number,
        key=record.key,
        origin_thread=record.origin.thread_id,
        time_ms=epoch_ms(record.updated_at),
        signature=signature_of(record),
    )
