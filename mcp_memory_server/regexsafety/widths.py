"""How many characters a node consumes, as Python's ``re`` reckons it for lookbehinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from . import syntax

Width: TypeAlias = tuple[int, int]
"""Least and most."""

_MOST = 4_294_967_295


def width(node: syntax.Node, groups: Mapping[int, Width]) -> Width:
    """The width of a node; ``groups`` holds those of the captures that are closed already."""
    match node:
        case syntax.Chars():
            return 1, 1
        case syntax.Sequence(items):
            parts = [width(item, groups) for item in items]
            return min(_MOST, sum(least for least, _ in parts)), min(_MOST, sum(most for _, most in parts))
        case syntax.Choice() | syntax.Conditional():
            parts = [width(child, groups) for child in syntax.children(node)]
            return min(least for least, _ in parts), max(most for _, most in parts)
        case syntax.Repeat():
            least, most = width(node.body, groups)
            rounds = _MOST if node.most is None else node.most
            return min(_MOST, least * node.least), min(_MOST, most * rounds)
        case syntax.Group() | syntax.Atomic():
            return width(node.body, groups)
        case syntax.Reference():
            return groups.get(node.index, (0, 0))
        case syntax.Look() | syntax.Anchor():
            return 0, 0
