"""Looks for words that move given tracks through the automaton while their threads stay alive.

The shortest word of an ambiguity may be useless: it may let another way accept, which ends the search, or be read by
a way of higher priority. Here words are found together with the list of threads that they leave behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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


class PumpSearch:
    """Breadth-first search over tracks and threads together."""

    def __init__(self, automaton: Automaton, finder: AmbiguityFinder, threads: ThreadSimulator, budget: Budget) -> None:
        self._edges = automaton.edges
        self._component = finder.component
        self._threads = threads
        self._budget = budget

    def words(self, journey: Journey, accepting: bool, nodes: int) -> Iterator[Word]:
        """Words that make the journey, shortest first; ``accepting`` allows threads behind the tracks to accept.

        At most so many nodes are looked at.
        """
        start = _Node(journey.begin, journey.threads, diverged=False)
        parents: dict[_Node, tuple[_Node, int]] = {}
        seen = {start}
        queue = [start]
        for node in queue:
            for atom in self._atoms(node.tracks[0]):
                after, accepted = self._threads.step(node.threads, atom)
                if accepted and not accepting:
                    continue
                alive = set(after)
                for tracks, diverged in self._moves(node, atom, journey):
                    self._budget.spend()
                    if not alive.issuperset(tracks):
                        continue
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

    def _atoms(self, state: int) -> list[int]:
        total = 0
        for target, mask in self._edges[state]:
            if target >= 0:
                total |= mask
        atoms: list[int] = []
        while total:
            lowest = total & -total
            atoms.append(lowest.bit_length() - 1)
            total ^= lowest
        return atoms

    def _targets(self, state: int, atom: int, component: int) -> list[int]:
        return [
            target
            for target, mask in self._edges[state]
            if mask >> atom & 1 and target >= 0 and component in (-1, self._component(target))
        ]

    def _moves(self, node: _Node, atom: int, journey: Journey) -> Iterator[tuple[Tracks, bool]]:  # noqa: C901  # one case for each number of tracks
        """All ways in which the tracks can read the atom, and whether the first two have parted."""
        ways = [
            self._targets(state, atom, component)
            for state, component in zip(node.tracks, journey.components, strict=True)
        ]
        if not all(ways):
            return
        if len(ways) == 1:
            for target in ways[0]:
                yield (target,), False
        elif len(ways) == 2:
            together = not node.diverged and node.tracks[0] == node.tracks[1]
            for i, left in enumerate(ways[0]):
                for j, right in enumerate(ways[1]):
                    if together and j < i:
                        continue
                    yield (left, right), node.diverged or not together or i != j
        else:
            for first in ways[0]:
                for second in ways[1]:
                    for third in ways[2]:
                        yield (first, second, third), True


def _word(parents: dict[_Node, tuple[_Node, int]], start: _Node, node: _Node) -> Word:
    word: list[int] = []
    while node != start:
        node, atom = parents[node]
        word.append(atom)
    return tuple(reversed(word))
