"""Counts the steps of a backtracking search on an exact automaton, position by position from the end.

The number of ways from a state at a position is a sum over the states one character on, so even 2**100 ways are
counted in time linear in the subject. It needs an automaton that leaves nothing out; `engine` counts the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .automaton import ACCEPT, Automaton
from .budget import Budget

_Move: TypeAlias = tuple[int, tuple[int, ...], bool]
"""Edges tried, their targets in order with repetitions, and whether acceptance follows them."""


class PathCounter:
    """Counts on one automaton; what a state does on an atom is worked out once."""

    def __init__(self, automaton: Automaton) -> None:
        self._edges = automaton.edges
        self._edge = len(automaton.program.alphabet.characters)
        self._known: dict[int, dict[int, _Move]] = {atom: {} for atom in range(self._edge + 1)}

    def _move(self, state: int, atom: int) -> _Move:
        targets: list[int] = []
        tried = 1
        for target, mask in self._edges[state]:
            tried += 1
            if mask >> atom & 1:
                if target == ACCEPT:
                    return tried, tuple(targets), True
                targets.append(target)
        return tried, tuple(targets), False

    def count(self, atoms: Sequence[int], budget: Budget) -> int:
        """The steps that a matcher without memory takes on the subject until it has matched or given up."""
        word = (*atoms, self._edge)
        layers: list[dict[int, _Move]] = []
        states: dict[int, None] = {0: None}
        for atom in word:
            known = self._known[atom]
            layer: dict[int, _Move] = {}
            following: dict[int, None] = {}
            for state in states:
                move = known.get(state)
                if move is None:
                    move = known[state] = self._move(state, atom)
                    budget.spend(move[0] // 4)
                layer[state] = move
                for target in move[1]:
                    following[target] = None
            budget.spend(len(layer))
            layers.append(layer)
            states = following
        return _steps_backwards(layers)


def _steps_backwards(layers: list[dict[int, _Move]]) -> int:
    """Sum up from the last layer to the start state; a success ends the sum of whoever asked."""
    below: dict[int, int] = {}
    succeeding: set[int] = set()
    for layer in reversed(layers):
        totals: dict[int, int] = {}
        winners: set[int] = set()
        for state, (tried, targets, accepts) in layer.items():
            total = tried
            for target in targets:
                total += below[target]
                if target in succeeding:
                    winners.add(state)
                    break
            else:
                if accepts:
                    winners.add(state)
            totals[state] = total
        below, succeeding = totals, winners
    return below[0]
