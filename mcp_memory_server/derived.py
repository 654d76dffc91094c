"""What is made of an immutable value, kept for as long as the value itself is held by somebody.

A conversation is shown the same few facts again and again. What they look like in a digest, in the block and in JSON
is worked out once. Nothing has to be told when a fact is replaced or forgotten: whoever held the record lets go of it,
and what was made of it goes at the same moment, text and all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, TypeVar
from weakref import ref

V = TypeVar("V")
M = TypeVar("M")

# What fifty conversations at a time are shown. About 1 KB each, and for a line of the block its text.
MOST_KEPT: Final = 1_000


class _Made(ref[V], Generic[V, M]):
    """A weak reference to a value, with what was made of it."""

    __slots__ = ("made", "place")

    place: int
    made: M


class Derived(Generic[V, M]):
    """`make(value)`, worked out once for each value while the value lives.

    Values are told apart by identity, which is right for immutable ones and cheaper than comparing what they hold.
    What `make` returns must not refer to the value, and is shared: nobody may change it. Beyond `MOST_KEPT` the
    oldest are dropped.
    """

    def __init__(self, make: Callable[[V], M]) -> None:
        self._make = make
        self._kept: dict[int, _Made[V, M]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def __call__(self, value: V) -> M:
        place = id(value)
        kept = self._kept.get(place)
        if kept is not None and kept() is value:
            return kept.made
        made = self._make(value)
        kept = _Made[V, M](value, self._forget)
        kept.place, kept.made = place, made
        self._kept[place] = kept
        if len(self._kept) > MOST_KEPT:
            self._kept.pop(next(iter(self._kept)), None)
        return made

    def of_each(self, values: Iterable[V]) -> list[M]:
        """What calling it for one value after another gives; for a digest's worth of them in half the time."""
        found = self._kept
        made: list[M] = []
        for value in values:
            kept = found.get(id(value))
            made.append(kept.made if kept is not None and kept() is value else self(value))
        return made

    def _forget(self, gone: Any) -> None:
        # Called when the value dies, by whichever thread let go of it. An id may be in use again by then.
        if self._kept.get(gone.place) is gone:
            self._kept.pop(gone.place, None)
