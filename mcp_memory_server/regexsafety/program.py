"""The tree as a program of a backtracking matcher: what the engine runs and the automaton is made from.

An instruction is known by its number. ``ops`` says what it does, ``args`` with what, ``nexts`` where to go on,
``alts`` the second way where there is one. Programs are built from their end, so that every instruction knows its
successor when it is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from .alphabet import Alphabet
from .syntax import Span


class Op(IntEnum):
    """What an instruction does."""

    CHAR = 0
    """Consume one atom of the mask ``arg``."""
    BACK = 1
    """The same, leftwards (inside a lookbehind)."""
    SPLIT = 2
    """Try ``next``; when that fails, ``alt``."""
    OPEN = 3
    """Begin a round of the loop with the bit ``arg``: nothing consumed yet."""
    CHECK = 4
    """End that round; when nothing was consumed, go to ``alt``, or fail where ``alt`` is NOWHERE."""
    AHEAD = 5
    """The next atom, or EDGE, is in the mask."""
    BEHIND = 6
    """The previous atom, or EDGE, is in the mask."""
    BOUNDARY = 7
    """The previous and the next atom differ in being in the mask."""
    NO_BOUNDARY = 8
    """They do not differ."""
    LAST_NEWLINE = 9
    """At the end, or before a newline (the mask) that is the last character."""
    LOOK = 10
    """Run ``alt`` up to END; go on from here when it succeeded (``arg`` 0) or failed (``arg`` 1)."""
    ATOMIC = 11
    """Run ``alt`` up to END; go on from where it ended."""
    SAVE = 12
    """Store the position in slot ``arg``."""
    CLEAR = 13
    """Forget the captures whose slots are in the mask ``arg``."""
    REFERENCE = 14
    """Consume the text of the group with the first slot ``arg``."""
    CONDITION = 15
    """``next`` when slot ``arg`` is set, else ``alt``."""
    RESET = 16
    """Begin counting in slot ``arg``."""
    COUNT = 17
    """Another round (``next``) or on (``alt``), as the counter with number ``arg`` allows."""
    END = 18
    """The body of a LOOK or ATOMIC has matched."""
    MATCH = 19
    """The pattern has matched."""


NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Counter:
    """A repetition that is counted instead of unrolled."""

    slot: int
    least: int
    most: int | None
    lazy: bool


@dataclass(frozen=True, slots=True)
class ReferenceRule:
    """How a back reference compares: backwards inside a lookbehind, with or without case."""

    slot: int
    fold_case: bool
    backward: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """A repetition of the pattern text; ``parent`` is the number of the one around it, or NOWHERE."""

    span: Span
    parent: int
    one_character: bool
    """Whether a round is one character of one set: such a loop alone is never ambiguous."""


@dataclass(slots=True)
class Program:
    """Instructions in parallel lists, as the inner loops want them."""

    alphabet: Alphabet
    ops: list[int] = field(default_factory=list[int])
    args: list[int] = field(default_factory=list[int])
    nexts: list[int] = field(default_factory=list[int])
    alts: list[int] = field(default_factory=list[int])
    loop_of: list[int] = field(default_factory=list[int])
    """The innermost loop around each instruction, or NOWHERE."""
    look_of: list[int] = field(default_factory=list[int])
    """The innermost lookahead whose body holds each instruction, or NOWHERE."""
    loops: list[Loop] = field(default_factory=list[Loop])
    counters: list[Counter] = field(default_factory=list[Counter])
    references: list[ReferenceRule] = field(default_factory=list[ReferenceRule])
    slots: int = 0
    """How many values a thread carries: captured positions and counters."""
    start: int = 0
    relaxed: bool = False
    """True when a count, reference, lookaround or atomic group is only approximated."""

    def emit(self, op: Op, arg: int, following: int, alternative: int, loop: int, look: int) -> int:  # noqa: PLR0913, PLR0917  # the fields of an instruction
        """Append an instruction and return its number."""
        self.ops.append(int(op))
        self.args.append(arg)
        self.nexts.append(following)
        self.alts.append(alternative)
        self.loop_of.append(loop)
        self.look_of.append(look)
        return len(self.ops) - 1
