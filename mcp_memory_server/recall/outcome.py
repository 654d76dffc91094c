"""What a selective recall comes to: one of three, matched to the end with `assert_never`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

DegradeReason = Literal[
    "empty_scope",
    "no_manifest",
    "selector_failed",
    "selector_timed_out",
    "selector_overdue",
    "selector_invented",
]
"""Why there is no selection: nothing is held, or no note could be listed; the selector raised or answered something
else than ids, did not answer in time, has earlier calls that never ended, or named only notes that are not there."""


@dataclass(frozen=True, slots=True)
class Block:
    """Text to show, and the keys of the notes in it: the selected and the linked ones, never the merely listed.

    `shown_chars` says how much of its only note is shown, where no more of it fits the limits.
    """

    text: str
    surfaced: frozenset[str]
    shown_chars: int | None = None


@dataclass(frozen=True, slots=True)
class NothingNew:
    """Everything that could be selected was shown before: show nothing. A success, not a fallback."""

    @property
    def surfaced(self) -> frozenset[str]:
        return frozenset()


@dataclass(frozen=True, slots=True)
class Degrade:
    """There is no selection: show the whole block. Nothing was surfaced, so nothing is lost."""

    reason: DegradeReason

    @property
    def surfaced(self) -> frozenset[str]:
        return frozenset()


Outcome: TypeAlias = Block | NothingNew | Degrade
