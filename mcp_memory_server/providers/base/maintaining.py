"""The group `maintain`: the state of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from .required import MemoryProvider


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of a store, for its operator only: facts by name, what is wrong, and what is worth knowing.

    Each fault says what to do about it. None of it holds a record's text.
    """

    details: Mapping[str, str | int]
    faults: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class MaintainedProvider(MemoryProvider, Protocol):
    async def examine(self) -> Condition:
        """Look at all of the store. What can be mended is, and pending erasures are completed, before that.

        It takes as long as reading everything; a sound store stays as it is.
        """
        ...

    async def record_maintenance(self, at: str) -> None:
        """Keep when maintenance was last done; `Stats.last_maintenance` tells it."""
        ...
