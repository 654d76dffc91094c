"""The group `changes`: what any process changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .required import MemoryProvider


@dataclass(frozen=True, slots=True)
class Change:
    """A record at `scope` was written, pinned or erased."""

    scope: str
    id: str


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Changes after a cursor, oldest first, the same record once or several times.

    `gap`: some were pruned meanwhile, or this store never gave that cursor, so anything may have changed.
    """

    cursor: int
    changes: tuple[Change, ...]
    gap: bool = False


class ChangingProvider(MemoryProvider, Protocol):
    async def changes(self, after: int | None) -> ChangeBatch:
        """What changed since the cursor `after`, by any process on this store. None asks for the cursor only.

        A call that left everything as it was (`unchanged`, refused, a pin that was set already) is no change.
        Cheap when nothing changed: it is polled several times a second.
        """
        ...
