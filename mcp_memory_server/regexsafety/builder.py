"""Builds a tree from the terms that a parser meets, on a stack of open groups instead of the call stack."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from . import charset, syntax
from .charset import CharSet


class InvalidPattern(Exception):
    """The engine refuses the pattern; the message says why, ``position`` where."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at position {position}")
        self.position = position


class UnsupportedPattern(Exception):
    """The pattern may be valid, but this package does not know or does not dare to say."""


@dataclass(frozen=True, slots=True)
class ParsedPattern:
    """What a parser hands on to the analysis."""

    tree: syntax.Node
    last_code: int
    """The largest code point that a subject string may hold: U+FFFF where the engine sees code units."""
    conditional_captures: bool
    """ECMA-262: captures are forgotten at each round of a loop, and an unset one matches the empty string."""
    sticky: bool = False


@lru_cache(maxsize=1024)
def chars_node(ranges: CharSet) -> syntax.Chars:
    """One shared node for each set."""
    return syntax.Chars(ranges)


@lru_cache(maxsize=1024)
def literal(code: int) -> syntax.Chars:
    """The node of one character."""
    return syntax.Chars(charset.single(code))


@dataclass(slots=True)
class Frame:
    """An open group: ``kind`` says what becomes of it when it closes."""

    kind: str
    start: int
    index: int = 0
    negative: bool = False
    items: list[syntax.Node] = field(default_factory=list[syntax.Node])
    branches: list[syntax.Node] = field(default_factory=list[syntax.Node])


@lru_cache(maxsize=256)
def _joined(left: CharSet, right: CharSet) -> CharSet | None:
    """The union of two sets without a common member, else None."""
    return None if charset.intersection(left, right) else charset.union(left, right)


def _choice(branches: list[syntax.Node], join_sets: bool) -> syntax.Node:
    """A choice; neighbouring single characters that exclude one another become one set.

    ``join_sets`` does so with a choice of nothing but single characters even where they overlap, as CPython does;
    it leaves sets that are written as complements alone.
    """
    if join_sets and len(branches) > 1:
        sets = [branch.ranges for branch in branches if isinstance(branch, syntax.Chars)]
        if len(sets) == len(branches) and not any(
            ranges and ranges[-1][1] == charset.LAST_CODE_POINT for ranges in sets
        ):
            return chars_node(charset.union(*sets))
    merged: list[syntax.Node] = []
    for branch in branches:
        last = merged[-1] if merged else None
        if isinstance(branch, syntax.Chars) and isinstance(last, syntax.Chars):
            both = _joined(last.ranges, branch.ranges)
            if both is not None:
                merged[-1] = chars_node(both)
                continue
        merged.append(branch)
    return merged[0] if len(merged) == 1 else syntax.Choice(tuple(merged))


def _sequence(items: list[syntax.Node]) -> syntax.Node:
    return items[0] if len(items) == 1 else syntax.Sequence(tuple(items))


class TreeBuilder:
    """A stack of open groups; the parser adds terms, the builder makes the nodes."""

    def __init__(self, keep_captures: bool, join_sets: bool = False) -> None:
        """``keep_captures`` keeps capture nodes, needed only where something refers back to them.

        ``join_sets`` makes one set of a choice among single characters, overlapping or not.
        """
        self._keep_captures = keep_captures
        self._join_sets = join_sets
        self._stack = [Frame("top", 0)]

    @property
    def frame(self) -> Frame:
        """The innermost open group."""
        return self._stack[-1]

    @property
    def depth(self) -> int:
        """How many groups are open."""
        return len(self._stack) - 1

    def add(self, node: syntax.Node) -> None:
        """Append a term to the branch being read."""
        self._stack[-1].items.append(node)

    def open(self, frame: Frame) -> None:
        """Enter a group."""
        self._stack.append(frame)

    def alternate(self) -> None:
        """End a branch and begin the next."""
        frame = self._stack[-1]
        frame.branches.append(_sequence(frame.items))
        frame.items = []

    def close(self) -> Frame:
        """Leave the innermost group and append what it stands for to the one around it."""
        frame = self._stack.pop()
        self.add(self._node_of(frame))
        return frame

    def _node_of(self, frame: Frame) -> syntax.Node:
        body = _choice([*frame.branches, _sequence(frame.items)], self._join_sets)
        match frame.kind:
            case "capture" if self._keep_captures:
                return syntax.Group(body, frame.index)
            case "ahead" | "behind":
                return syntax.Look(body, ahead=frame.kind == "ahead", negative=frame.negative)
            case "atomic":
                return syntax.Atomic(body)
            case "conditional":
                branches = [*frame.branches, _sequence(frame.items)]
                unmet = branches[1] if len(branches) > 1 else syntax.EMPTY
                return syntax.Conditional(frame.index, branches[0], unmet)
            case _:
                return body

    def repeat(self, least: int, most: int | None, mode: syntax.Mode, span: syntax.Span) -> None:
        """Put the last term under a quantifier."""
        items = self._stack[-1].items
        body = items.pop()
        if most == 0:
            items.append(syntax.EMPTY)
        elif ((least, most) == (1, 1) and mode is not syntax.Mode.POSSESSIVE) or (
            isinstance(body, syntax.Sequence) and not body.items
        ):
            items.append(body)
        else:
            items.append(syntax.Repeat(body, least, most, mode, span))

    def finish(self) -> syntax.Node:
        """The whole tree, once every group is closed."""
        return self._node_of(self._stack[0])
