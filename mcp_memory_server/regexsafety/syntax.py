"""The tree of a parsed pattern: what it matches, free of any dialect's spelling.

Flags are resolved while parsing: a case-insensitive ``a`` is the set {a, A}, a dot is the set it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from .charset import CharSet


class Mode(Enum):
    """How a repetition chooses between one more round and going on."""

    GREEDY = "greedy"
    LAZY = "lazy"
    POSSESSIVE = "possessive"


class Place(Enum):
    """Assertions about the two characters around a position."""

    START = "start of input"
    START_LINE = "start of a line"
    END = "end of input"
    END_LINE = "end of a line"
    END_OR_LAST_NEWLINE = "end of input, or before its last newline"
    WORD = "word boundary"
    NOT_WORD = "no word boundary"


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of the pattern text, in characters of the Python string."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a set; the empty set never matches."""

    ranges: CharSet


@dataclass(frozen=True, slots=True)
class Sequence:
    """The items one after another; no items match the empty string."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The branches in order of preference."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``least`` to ``most`` rounds of the body; ``most`` is None for no upper bound."""

    body: Node
    least: int
    most: int | None
    mode: Mode
    span: Span


@dataclass(frozen=True, slots=True)
class Group:
    """A capture that something refers to; other captures are dissolved by the parser."""

    body: Node
    index: int


@dataclass(frozen=True, slots=True)
class Atomic:
    """The first way in which the body matches, with no way back into it."""

    body: Node


@dataclass(frozen=True, slots=True)
class Reference:
    """The text last captured by a group."""

    index: int
    fold_case: bool


@dataclass(frozen=True, slots=True)
class Conditional:
    """``met`` when the group has captured something, else ``unmet``."""

    index: int
    met: Node
    unmet: Node


@dataclass(frozen=True, slots=True)
class Look:
    """Whether the body matches ahead of (or behind) the position, consuming nothing."""

    body: Node
    ahead: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class Anchor:
    """A condition on the characters around the position."""

    place: Place
    ranges: CharSet
    """The word characters for the boundary places, the line ends for the others."""


Node: TypeAlias = Chars | Sequence | Choice | Repeat | Group | Atomic | Reference | Conditional | Look | Anchor

EMPTY = Sequence(())


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, in the order of the text."""
    match node:
        case Sequence(items):
            return items
        case Choice(branches):
            return branches
        case Conditional(_, met, unmet):
            return (met, unmet)
        case Repeat() | Group() | Atomic() | Look():
            return (node.body,)
        case Chars() | Reference() | Anchor():
            return ()


def walk(tree: Node) -> list[Node]:
    """Every node, each parent before its children, without recursion."""
    nodes = [tree]
    for node in nodes:
        nodes.extend(children(node))
    return nodes
