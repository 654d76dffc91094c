"""Looks for words that move given tracks through the automaton while their threads stay alive.

The shortest word of an ambiguity may be useless: it may let another way accept, which ends the search, or be read by
a way of higher priority. Here words are found together with the list of threads that they leave behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from .ambiguity import AmbiguityFinder, Word
from .automaton import Automaton
from .budget import Budget
from .threads import Threads, ThreadSimulator

Tracks: TypeAlias = tuple[int, ...]
"""States that read the same word side by side."""


@dataclass(frozen=True, slots=True)
class Journey:
    """From which tracks to which, beginning with which threads."""

    begin: Tracks
    goal: Tracks
    threads: Threads
    components: tuple[int, ...]
    """For each track the component that it may not leave, or -1."""
    diverging: bool = False
    """Whether the first two tracks must part on the way."""


@dataclass(frozen=True, slots=True)
class _Node:
    tracks: Tracks
    threads: Threads
    diverged: bool


_Step: TypeAlias = tuple[bool, int, Threads, list[tuple[int, ...]]]
"""Whether a thread accepts, the atom, the threads after it, where each track may be after it."""


class PumpSearch:
    """Breadth-first search over tracks and threads together."""

    def __init__(self, automaton: Automaton, finder: AmbiguityFinder, threads: ThreadSimulator, budget: Budget) -> None:
        self._edges = automaton.edges
        self._component = finder.component
        self._threads = threads
        self._budget = budget
        self._readable: dict[int, tuple[int, ...]] = {}
        self._known: dict[tuple[int, int, int], tuple[int, ...]] = {}

    def words(self, journey: Journey, accepting: bool, nodes: int) -> Iterator[Word]:
        """Words that make the journey, shortest first; ``accepting`` allows threads behind the tracks to accept.

        At most so many nodes are looked at.
        """
        start = _Node(journey.begin, journey.threads, diverged=False)
        parents: dict[_Node, tuple[_Node, int]] = {}
        seen = {start}
        queue = [start]
        for node in queue:
            for accepted, atom, after, ways in self._steps(node, journey):
                if accepted and not accepting:
                    break
                for tracks, diverged in _moves(node, ways):
                    self._budget.spend()
                    following = _Node(tracks, after, diverged)
                    arrived = tracks == journey.goal and (diverged or not journey.diverging)
                    if following not in seen:
                        seen.add(following)
                        parents[following] = (node, atom)
                        if len(queue) < nodes:
                            queue.append(following)
                        if arrived:
                            yield _word(parents, start, following)
                    elif arrived and following == start:
                        yield (*_word(parents, start, node), atom)

    def _steps(self, node: _Node, journey: Journey) -> list[_Step]:
        """What can be read here with every track on a thread that lives, those steps that accept last.

        Of two words with the same end only the first is kept, and it should be the one that ends no search.
        """
        found: list[_Step] = []
        for atom in self._atoms(node.tracks[0]):
            ways = [
                self._targets(state, atom, component)
                for state, component in zip(node.tracks, journey.components, strict=True)
            ]
            if not all(ways):
                continue
            after, accepted = self._threads.step(node.threads, atom)
            alive = set(after)
            ways = [tuple(target for target in targets if target in alive) for targets in ways]
            if all(ways):
                found.append((accepted, atom, after, ways))
        found.sort(key=lambda step: step[0])
        return found

    def _atoms(self, state: int) -> tuple[int, ...]:
        """The atoms that the state reads."""
        known = self._readable.get(state)
        if known is None:
            total = 0
            for target, mask in self._edges[state]:
                if target >= 0:
                    total |= mask
            atoms: list[int] = []
            while total:
                lowest = total & -total
                atoms.append(lowest.bit_length() - 1)
                total ^= lowest
            known = self._readable[state] = tuple(atoms)
        return known

    def _targets(self, state: int, atom: int, component: int) -> tuple[int, ...]:
        """Where a track may go, with repetitions, in order."""
        key = (state, atom, component)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(
                target
                for target, mask in self._edges[state]
                if mask >> atom & 1 and target >= 0 and component in (-1, self._component(target))
            )
        return known


def _moves(node: _Node, ways: list[tuple[int, ...]]) -> Iterator[tuple[Tracks, bool]]:
    """All ways in which the tracks can go on, and whether the first two have parted."""
    if len(ways) == 1:
        for target in ways[0]:
            yield (target,), False
    elif len(ways) == 2:
        together = not node.diverged and node.tracks[0] == node.tracks[1]
        for i, left in enumerate(ways[0]):
            for j, right in enumerate(ways[1]):
                if not together or j >= i:
                    yield (left, right), node.diverged or not together or i != j
    else:
        for tracks in product(*ways):
            yield tracks, True


def _word(parents: dict[_Node, tuple[_Node, int]], start: _Node, node: _Node) -> Word:
    word: list[int] = []
    while node != start:
        node, atom = parents[node]
        word.append(atom)
    return tuple(reversed(word))
