"""The group `surfaced`: which records a conversation was shown, so that it is not shown them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .journaling import PruneRequest
from .required import MemoryProvider


@dataclass(frozen=True, slots=True)
class Surfaced:
    """A version of a record that was shown. `id` is unique only together with `scope`."""

    scope: str
    id: str
    version: int


@dataclass(frozen=True, slots=True)
class SurfacedLookup:
    """The set of one actor's conversation. Two actors may have conversations of one id: those never meet."""

    actor_id: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class SurfaceRequest:
    """Records to add to the set of an actor's conversation, at the instant `at`."""

    actor_id: str
    conversation_id: str
    at: str
    shown: Sequence[Surfaced]


class SurfacingProvider(MemoryProvider, Protocol):
    """Erasing a record takes it out of every set, with whatever is derived from its id."""

    async def surface(self, request: SurfaceRequest) -> None:
        """Add to the set, durable on return; of two versions of a record the higher one stays.

        Records that are not held are left out: what was forgotten meanwhile must not come back. `at` becomes the
        conversation's age, also when nothing is added.
        """
        ...

    async def surfaced(self, lookup: SurfacedLookup) -> Sequence[Surfaced]:
        """What the conversation was shown and is held still, by scope and id; nothing for an unknown one."""
        ...

    async def prune_surfaced(self, request: PruneRequest) -> int:
        """Drop whole sets: those not added to since `before`, then the oldest beyond `keep`. How many were dropped."""
        ...
