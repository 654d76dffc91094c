"""What a person's memory may show, by what was sent to it and what was acknowledged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Bounds = Mapping[str, int]


@dataclass
class Ledger:
    """The states of each key, in order: a fact, or None where it was forgotten. One writer at a time changes a key.

    A reader asks for what was `acknowledged` before it reads, and what was `sent` when the answer is there. What it
    read lies between: nothing older, or an acknowledged write was lost or a read stale, and nothing made up.
    """

    states: dict[str, list[str | None]] = field(default_factory=dict[str, list[str | None]])
    settled: dict[str, int] = field(default_factory=dict[str, int])
    count: int = 0
    """How many changes were acknowledged."""

    def send(self, key: str, state: str | None) -> None:
        self.states.setdefault(key, [None]).append(state)

    def acknowledge(self, key: str) -> None:
        self.settled[key] = len(self.states[key]) - 1
        self.count += 1

    def acknowledged(self) -> Bounds:
        return dict(self.settled)

    def check(self, shown: Mapping[str, str], before: Bounds) -> None:
        """`shown` are all facts of the memory by key, read after `before` was taken and before anything else here."""
        for key, states in self.states.items():
            possible = states[before.get(key, 0) :]
            assert shown.get(key) in possible, f"{key} shows {shown.get(key)!r}, and not one of {possible}"
        assert shown.keys() <= self.states.keys()
