"""Looks for a safe pattern that accepts exactly the same strings, for validation, where only yes or no counts.

The rules below only propose. A proposal is used when the deterministic automata of both searches agree on every
string, and the new pattern is judged safe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from . import charset, syntax
from .alphabet import build_alphabet
from .analysis import character_sets, tree_height
from .automaton import build_automaton
from .budget import Budget, BudgetExceeded, Limits
from .builder import InvalidPattern, ParsedPattern, UnsupportedPattern, chars_node
from .check import check_pattern
from .compiler import CompileOptions, compile_program, is_nullable
from .ecma_parser import parse_ecma
from .program import Program
from .syntax import Node, Repeat
from .threads import Threads, ThreadSimulator
from .unparse import CannotWrite, to_pattern

_ROUNDS = 6
_HIGHEST_TREE = 40
_LONGEST = 2_000
_PROOF_STEPS = 60_000


@lru_cache(maxsize=256)
def find_equal_safe_pattern(pattern: str, flags: str = "u") -> str | None:
    """A pattern for the ``u`` flag that accepts what the given one does and is safe, or None."""
    if len(pattern) > _LONGEST or not set(flags) <= set("u"):
        return None
    try:
        parsed = parse_ecma(pattern, flags)
        if tree_height(parsed.tree) > _HIGHEST_TREE:
            return None
        proposal = to_pattern(_simplified(parsed.tree))
        if check_pattern(proposal, "u").verdict != "safe":
            return None
        return proposal if _accept_the_same(parsed, parse_ecma(proposal, "u")) else None
    except (InvalidPattern, UnsupportedPattern, CannotWrite, BudgetExceeded):
        return None


def _simplified(tree: Node) -> Node:
    for _ in range(_ROUNDS):
        simpler = _trim(_simplify(tree))
        if simpler == tree:
            break
        tree = simpler
    return tree


def _simplify(node: Node) -> Node:
    match node:
        case syntax.Sequence(items):
            flat = [part for item in items for part in _items(_simplify(item))]
            return _sequence(_absorb(flat))
        case syntax.Choice(branches):
            return _choice([_simplify(branch) for branch in branches])
        case Repeat():
            return _repeat(replace(node, body=_simplify(node.body)))
        case syntax.Group(body, _) | syntax.Atomic(body):
            return _simplify(body) if isinstance(node, syntax.Group) else node
        case _:
            return node


def _items(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, syntax.Sequence) else (node,)


def _sequence(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else syntax.Sequence(tuple(items))


def _choice(branches: list[Node]) -> Node:
    """Without repetition, and with all single characters in one set: the order of branches decides nothing here."""
    flat = [
        part for branch in branches for part in (branch.branches if isinstance(branch, syntax.Choice) else (branch,))
    ]
    single = [branch.ranges for branch in flat if isinstance(branch, syntax.Chars)]
    others = [branch for branch in dict.fromkeys(flat) if not isinstance(branch, syntax.Chars)]
    merged: list[Node] = [*([chars_node(charset.union(*single))] if single else []), *others]
    return merged[0] if len(merged) == 1 else syntax.Choice(tuple(merged))


def _repeat(node: Repeat) -> Node:
    body, least, most = node.body, node.least, node.most
    if most is None and least <= 1:
        if is_nullable(body):
            least = 0
        body = _without_quantifiers(body, at_least_once=least == 1)
    elif isinstance(body, Repeat) and body.most is None and body.least <= 1 and least <= 1:
        # (x*){0,n} and (x+){0,n} are x*, (x+){1,n} is x+.
        return replace(body, least=min(least, body.least))
    return replace(node, body=body, least=least)


def _without_quantifiers(body: Node, at_least_once: bool) -> Node:
    """The body of an unbounded loop, where `+`, `*` and `?` around whole rounds add nothing."""
    if isinstance(body, Repeat) and body.least <= 1 and not (at_least_once and body.least == 0):
        return body.body
    if isinstance(body, syntax.Choice):
        return _choice([_without_quantifiers(branch, at_least_once) for branch in body.branches])
    return body


def _absorb(items: list[Node]) -> list[Node]:
    """Join neighbouring loops over characters where one set holds the other: `a*\\w+` is `\\w+`."""
    joined: list[Node] = []
    for item in items:
        both = _joined(joined[-1], item) if joined else None
        if both is None:
            joined.append(item)
        else:
            joined[-1] = both
    return joined


def _joined(left: Node, right: Node) -> Node | None:
    if not (isinstance(left, Repeat) and isinstance(right, Repeat)):
        return None
    if not (isinstance(left.body, syntax.Chars) and isinstance(right.body, syntax.Chars)):
        return None
    for small, large in ((left, right), (right, left)):
        assert isinstance(small.body, syntax.Chars)
        assert isinstance(large.body, syntax.Chars)
        inside = not charset.difference(small.body.ranges, large.body.ranges)
        if not inside or large.most is not None:
            continue
        if small.body == large.body:
            return replace(large, least=small.least + large.least)
        if small.least == 0:
            return large
    return None


def _trim(tree: Node) -> Node:
    """An unanchored search need not match what may be empty at either end, nor more rounds than the least."""
    if isinstance(tree, syntax.Choice):
        return _choice([_trim(branch) for branch in tree.branches])
    items = list(_items(tree))
    for end in (0, -1):
        while items and _is_plain(items[end]) and is_nullable(items[end]):
            items.pop(end)
        if items and _is_plain(items[end]) and isinstance(last := items[end], Repeat) and last.most != last.least:
            items[end] = last.body if last.least == 1 else replace(last, most=last.least)
    return _sequence(items)


def _is_plain(node: Node) -> bool:
    """Whether the node matches by its characters alone."""
    plain = (syntax.Chars, syntax.Sequence, syntax.Choice, Repeat)
    return all(isinstance(part, plain) for part in syntax.walk(node))


def _accept_the_same(left: ParsedPattern, right: ParsedPattern) -> bool:
    """Whether both searches succeed on the same strings: every pair of thread sets agrees at the end of input."""
    budget = Budget("proof", _PROOF_STEPS)
    last = max(left.last_code, right.last_code)
    if left.last_code != right.last_code and any(r and r[-1][1] > left.last_code for r in character_sets(left.tree)):
        return False
    sets = [*character_sets(left.tree), *character_sets(right.tree)]
    alphabet = build_alphabet(sets, last, budget)
    options = CompileOptions(Limits().positions, exact=False)
    programs = [compile_program(parsed.tree, alphabet, options) for parsed in (left, right)]
    if any(program.relaxed for program in programs):
        return False
    return all(accepted[0] == accepted[1] for accepted in _outcomes(programs, budget))


def _outcomes(programs: list[Program], budget: Budget) -> Iterator[tuple[bool, bool]]:
    """For every reachable pair of thread sets, whether each side accepts when the input ends there."""
    simulators = [ThreadSimulator(build_automaton(program, budget), budget) for program in programs]
    queue: list[tuple[Threads | None, Threads | None]] = [((0,), (0,))]
    seen = set(queue)
    for pair in queue:
        budget.spend()
        # None stands for a search that has succeeded already.
        first, second = (
            threads is None or simulator.accepts_at_end(threads)
            for threads, simulator in zip(pair, simulators, strict=True)
        )
        yield first, second
        for atom in range(simulators[0].edge):
            left, right = (
                _after(simulator, threads, atom) for threads, simulator in zip(pair, simulators, strict=True)
            )
            if (left, right) not in seen:
                seen.add((left, right))
                queue.append((left, right))


def _after(simulator: ThreadSimulator, threads: Threads | None, atom: int) -> Threads | None:
    if threads is None:
        return None
    after, accepted = simulator.step(threads, atom)
    return None if accepted else tuple(sorted(after))
