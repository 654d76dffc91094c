"""The threads of a backtracking search: which states it holds open after a string, in order of trial.

A thread that accepts cuts off all later ones, since the search ends there if the earlier ones fail.
"""

from __future__ import annotations

from typing import TypeAlias

from .automaton import ACCEPT, Automaton
from .budget import Budget

Threads: TypeAlias = tuple[int, ...]


class ThreadSimulator:
    """Steps lists of threads; the steps of each state are computed once for each atom."""

    def __init__(self, automaton: Automaton, budget: Budget, final: int = ACCEPT) -> None:
        """``final`` is the target that counts as accepting: SINK for the threads inside a lookaround."""
        self._edges = automaton.edges
        self._budget = budget
        self._final = final
        self._known: dict[tuple[int, int], tuple[Threads, bool]] = {}
        self.edge = len(automaton.program.alphabet.characters)

    def _moves(self, state: int, atom: int) -> tuple[Threads, bool]:
        key = (state, atom)
        known = self._known.get(key)
        if known is None:
            targets: list[int] = []
            accepts = False
            for target, mask in self._edges[state]:
                if mask >> atom & 1:
                    if target == self._final:
                        accepts = True
                        break
                    if target >= 0 and target not in targets:
                        targets.append(target)
            self._budget.spend(len(self._edges[state]) // 4 + 1)
            known = self._known[key] = (tuple(targets), accepts)
        return known

    def step(self, threads: Threads, atom: int) -> tuple[Threads, bool]:
        """The threads after the atom, and whether one accepted before it."""
        after: dict[int, None] = {}
        self._budget.spend(len(threads) // 4 + 1)
        for state in threads:
            targets, accepts = self._moves(state, atom)
            for target in targets:
                after[target] = None
            if accepts:
                return tuple(after), True
        return tuple(after), False

    def run(self, threads: Threads, word: tuple[int, ...]) -> Threads:
        """The threads after a word."""
        for atom in word:
            threads, _ = self.step(threads, atom)
        return threads

    def accepts_at_end(self, threads: Threads) -> bool:
        """Whether a thread accepts when the input ends here."""
        return any(self._moves(state, self.edge)[1] for state in threads)
