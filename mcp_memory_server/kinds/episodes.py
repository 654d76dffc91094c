"""Episodes: what took place, and when."""

from __future__ import annotations

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.records import Episode, canonical_instant

from .gate import Gate


def normal_episode(started_at: str, ended_at: str | None = None) -> Episode:
    """When something took place.

    Raises:
        InvalidInput: a time that is none or has no zone, or an end before the start, with both values.
    """
    gate = Gate()
    started = gate.take(lambda: _instant("started_at", started_at), "")
    ended = None if ended_at is None else gate.take(lambda: _instant("ended_at", ended_at), None)
    gate.close()
    if ended is not None and ended < started:
        raise InvalidInput.of("ended_at", f"({ended}) is before started_at ({started}); swap or drop one")
    return Episode(started_at=started, ended_at=ended)


def _instant(argument: str, value: str) -> str:
    try:
        return canonical_instant(value)
    except ValueError as error:
        raise InvalidInput.of(argument, str(error)) from None
