"""Bounds that the tree alone gives: how long a match can be, how many ways a finite pattern can be tried."""

from __future__ import annotations

from . import syntax
from .syntax import Node, Place

UNBOUNDED = 10**12
"""Stands for every larger number."""

_V8_BACKSEARCH_LIMIT = 1024


def longest_match(node: Node) -> int:
    """The most characters that a match consumes, saturated at UNBOUNDED."""
    match node:
        case syntax.Chars(ranges):
            return 2 if ranges and ranges[-1][1] > 0xFFFF else 1
        case syntax.Sequence(items):
            return min(UNBOUNDED, sum(longest_match(item) for item in items))
        case syntax.Choice(branches):
            return max(longest_match(branch) for branch in branches)
        case syntax.Conditional(_, met, unmet):
            return max(longest_match(met), longest_match(unmet))
        case syntax.Group() | syntax.Atomic():
            return longest_match(node.body)
        case syntax.Repeat(body, _, most):
            inner = longest_match(body)
            if not inner:
                return 0
            return UNBOUNDED if most is None else min(UNBOUNDED, inner * most)
        case syntax.Reference():
            return UNBOUNDED
        case syntax.Look() | syntax.Anchor():
            return 0


def _touches(node: Node, place: Place) -> bool:
    """Whether every match begins at the START, or ends at the END, of the input."""
    match node:
        case syntax.Anchor(anchor, _):
            return anchor is place
        case syntax.Sequence(items):
            for item in items if place is Place.START else reversed(items):
                if _touches(item, place):
                    return True
                if longest_match(item):
                    return False
            return False
        case syntax.Choice(branches):
            return all(_touches(branch, place) for branch in branches)
        case syntax.Group(body, _):
            return _touches(body, place)
        case syntax.Look(body, True, False) if place is Place.START:
            return _touches(body, place)
        case _:
            return False


def v8_backsearch(tree: Node) -> int | None:
    """How far before the end of the input V8 begins to search, or None when it begins at the start.

    It looks only there when the pattern can match at the end alone and no match is longer.
    """
    longest = longest_match(tree)
    at_end_only = longest < _V8_BACKSEARCH_LIMIT and _touches(tree, Place.END)
    return longest if at_end_only and not _touches(tree, Place.START) else None


def ways(node: Node, once: bool = False) -> tuple[int, int]:  # noqa: C901  # one case for each kind of node
    """Upper bounds, saturated, on (the ways to match, the steps to try them all) from one start.

    With ``once`` an unbounded loop is taken to run one round more than it must, and a reference to match nothing.
    """
    match node:
        case syntax.Chars():
            return 1, 1
        case syntax.Sequence(items):
            count, steps = 1, 1
            for item in items:
                inner_count, inner_steps = ways(item, once)
                steps = min(UNBOUNDED, steps + count * inner_steps)
                count = min(UNBOUNDED, count * inner_count)
            return count, steps
        case syntax.Choice() | syntax.Conditional():
            parts = [ways(branch, once) for branch in syntax.children(node)]
            return min(UNBOUNDED, sum(part[0] for part in parts)), min(UNBOUNDED, sum(part[1] for part in parts))
        case syntax.Reference():
            return (1, 1) if once else (UNBOUNDED, UNBOUNDED)
        case syntax.Repeat(body, least, None):
            return _ways_repeated(*ways(body, once), least, least + 1) if once else (UNBOUNDED, UNBOUNDED)
        case syntax.Repeat(body, least, most):
            assert most is not None
            return _ways_repeated(*ways(body, once), least, most)
        case syntax.Look(body):
            return 1, ways(body, once)[1]
        case syntax.Group(body, _) | syntax.Atomic(body):
            return ways(body, once)
        case syntax.Anchor():
            return 1, 0


def _ways_repeated(count: int, steps: int, least: int, most: int) -> tuple[int, int]:
    if count == 1:
        return min(UNBOUNDED, most - least + 1), min(UNBOUNDED, (steps + 1) * most)
    total, all_steps, power = 0, 0, 1
    for rounds in range(most + 1):
        if rounds >= least:
            total += power
        all_steps += power * steps
        power *= count
        if power >= UNBOUNDED:
            return UNBOUNDED, UNBOUNDED
    return total, all_steps
