"""Finds the ambiguities of an automaton that make backtracking expensive.

Exponential (EDA): a state comes back to itself by one word in two ways. Polynomial (IDA): a word leads from p to p,
from p to q and from q to q; a chain of d such steps costs the power d + 1. Both criteria are those of Weber and
Seidl 1991, "On the degree of ambiguity of finite automata", applied to matchers by Weideman et al. 2016.
What is found here is a candidate: whether a subject exists that makes every way fail is for the witness search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TypeAlias

from .automaton import Automaton, Edge
from .budget import Budget, BudgetExceeded
from .graph import strong_components

Word: TypeAlias = tuple[int, ...]
"""Atoms, in order."""

_CANDIDATES_PER_COMPONENT = 4
_LINKS_PER_PAIR = 3
_PARTS_OF_CHAIN = 5
_LONG_CHAIN = 12
"""Parts of a chain of more links than this cost too much to be tried."""


@dataclass(frozen=True, slots=True)
class Link:
    """A word by which ``source`` stays and is also left for ``target``, which stays as well."""

    source: int
    word: Word
    target: int


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A candidate: one link that returns to its source (exponential), or a chain of links (polynomial)."""

    exponential: bool
    links: tuple[Link, ...]


def lowest_atom(mask: int) -> int:
    """The most readable atom of a mask."""
    return (mask & -mask).bit_length() - 1


class AmbiguityFinder:
    """Answers questions about one automaton, drawing on one budget."""

    def __init__(self, automaton: Automaton, budget: Budget) -> None:
        self._automaton = automaton
        self._budget = budget
        self._edges = [[(target, mask) for target, mask in edges if target >= 0] for edges in automaton.edges]
        self._component = strong_components([automaton.successors(state) for state in range(len(self._edges))])
        budget.spend(len(self._component))

    @cached_property
    def loops(self) -> dict[int, list[int]]:
        """The components with an edge inside, by number, with their states."""
        members: dict[int, list[int]] = {}
        for state, number in enumerate(self._component):
            members.setdefault(number, []).append(state)
        return {
            number: states
            for number, states in members.items()
            if len(states) > 1 or any(target == states[0] for target, _ in self._edges[states[0]])
        }

    def component(self, state: int) -> int:
        """The number of a state's strongly connected component; edges never lead to a higher one."""
        return self._component[state]

    def path(self, source: int, target: int, within: int | None = None) -> Word | None:
        """A shortest word from one state to another, inside one component where asked for."""
        if source == target:
            return ()
        parents: dict[int, tuple[int, int]] = {source: (source, 0)}
        queue = [source]
        for state in queue:
            self._budget.spend(len(self._edges[state]))
            for following, mask in self._edges[state]:
                if following in parents or (within is not None and self._component[following] != within):
                    continue
                parents[following] = (state, mask)
                if following == target:
                    return _word_back(parents, source, target)
                queue.append(following)
        return None

    def exponential(self) -> Iterator[Ambiguity]:
        """Candidates for exponential growth, a few for each component."""
        for number, states in self.loops.items():
            yield from islice(self._exponential_in(number, states), _CANDIDATES_PER_COMPONENT)

    def _exponential_in(self, number: int, states: list[int]) -> Iterator[Ambiguity]:
        """Breadth-first over pairs of different states reached by one word from one state, until they meet."""
        inside = {
            state: [(target, mask) for target, mask in self._edges[state] if self._component[target] == number]
            for state in states
        }
        parents: dict[tuple[int, int], tuple[tuple[int, int], int]] = {}
        queue: list[tuple[int, int]] = []
        for state in states:
            for left, right, common in self._partings(inside[state]):
                if left == right:
                    yield self._returning(number, state, (lowest_atom(common),), left)
                elif (left, right) not in parents:
                    parents[(left, right)] = ((state, state), common)
                    queue.append((left, right))
        for pair in queue:
            for left, right, common in self._steps_of(inside[pair[0]], inside[pair[1]]):
                if left == right:
                    source, word = _pair_word(parents, pair)
                    yield self._returning(number, source, (*word, lowest_atom(common)), left)
                elif (left, right) not in parents:
                    parents[(left, right)] = (pair, common)
                    queue.append((left, right))

    def _partings(self, edges: list[Edge]) -> Iterator[tuple[int, int, int]]:
        """Unordered pairs of targets that one state reaches by different edges, with the atoms they share."""
        self._budget.spend(len(edges))
        for i, (left, left_mask) in enumerate(edges):
            for right, right_mask in edges[i + 1 :]:
                self._budget.spend()
                if left_mask & right_mask:
                    yield min(left, right), max(left, right), left_mask & right_mask

    def _steps_of(self, first: list[Edge], second: list[Edge]) -> Iterator[tuple[int, int, int]]:
        """Unordered pairs of targets that two states reach side by side, with the atoms they share."""
        for left, left_mask in first:
            for right, right_mask in second:
                self._budget.spend()
                if left_mask & right_mask:
                    yield min(left, right), max(left, right), left_mask & right_mask

    def _returning(self, number: int, source: int, word: Word, end: int) -> Ambiguity:
        back = self.path(end, source, within=number)
        assert back is not None, "a component is strongly connected"
        return Ambiguity(True, (Link(source, (*word, *back), source),))

    def polynomial(self) -> Iterator[Ambiguity]:
        """Candidates for polynomial growth, longest chains first.

        When the budget runs out half way, what was found until then comes before BudgetExceeded.
        """
        links: dict[tuple[int, int], list[Link]] = {}
        exceeded: BudgetExceeded | None = None
        try:
            self._find_links(links)
        except BudgetExceeded as error:
            exceeded = error
        if links:
            chain = self._longest_chain(links)
            for part in islice(_parts(chain), _PARTS_OF_CHAIN):
                yield Ambiguity(False, part)
            ordered = [links[pair] for pair in sorted(links, key=lambda pair: -pair[0])]
            for rank in range(_LINKS_PER_PAIR):
                for found in ordered:
                    if rank < len(found):
                        yield Ambiguity(False, (found[rank],))
        if exceeded is not None:
            raise exceeded

    def _find_links(self, links: dict[tuple[int, int], list[Link]]) -> None:
        """Fill in a few links for each pair of loops that has any, small loops first."""
        loops, reach = self.loops, self._reachable_loops()
        pairs = [(first, second) for first in loops for second in reach[first]]
        pairs.sort(key=lambda pair: (len(loops[pair[0]]) * len(loops[pair[1]]), -pair[0], -pair[1]))
        for first, second in pairs:
            found = list(islice(self._links_between(first, second), _LINKS_PER_PAIR))
            if found:
                links[(first, second)] = found

    def _reachable_loops(self) -> dict[int, set[int]]:
        """For each loop the other loops that can be reached from it."""
        count = max(self._component, default=-1) + 1
        below: list[set[int]] = [set() for _ in range(count)]
        order = sorted(range(len(self._component)), key=self._component.__getitem__)
        for state in order:
            number = self._component[state]
            for target, _ in self._edges[state]:
                other = self._component[target]
                if other != number:
                    below[number] |= below[other]
                    if other in self.loops:
                        below[number].add(other)
            self._budget.spend(len(self._edges[state]) + len(below[number]) // 8)
        return {number: below[number] for number in self.loops}

    def _links_between(self, first: int, second: int) -> Iterator[Link]:
        sources, targets = self.loops[first], self.loops[second]
        if len(sources) == len(targets) == 1:
            link = self._simple_link(sources[0], targets[0])
            if link is not None:
                yield link
            return
        for source, target, allowed in self._common_cycles(first, second):
            word = self._triple_path(source, target, allowed)
            if word is not None:
                yield Link(source, word, target)

    def _self_mask(self, state: int) -> int:
        total = 0
        for target, mask in self._edges[state]:
            if target == state:
                total |= mask
        return total

    def _simple_link(self, source: int, target: int) -> Link | None:
        """Both loops are single states: any word over their common atoms that leads from one to the other."""
        common = self._self_mask(source) & self._self_mask(target)
        if not common:
            return None
        parents: dict[int, tuple[int, int]] = {source: (source, 0)}
        queue = [source]
        for state in queue:
            self._budget.spend(len(self._edges[state]))
            for following, mask in self._edges[state]:
                if mask & common and following not in parents:
                    parents[following] = (state, mask & common)
                    if following == target:
                        return Link(source, _word_back(parents, source, target), target)
                    queue.append(following)
        return None

    def _common_cycles(self, first: int, second: int) -> Iterator[tuple[int, int, set[tuple[int, int]]]]:
        """Pairs of states from each strongly connected part of the product of two loops, with that part.

        One pair would do to decide: a link of one can be moved along the common cycle to any other. Others may have
        words that let fewer threads accept.
        """
        pairs = [(source, target) for source in self.loops[first] for target in self.loops[second]]
        self._budget.spend(len(pairs))
        numbers = {pair: number for number, pair in enumerate(pairs)}
        after = [[numbers[following] for following in self._pair_successors(pair, first, second)] for pair in pairs]
        parts: dict[int, list[int]] = {}
        for number, part in enumerate(strong_components(after)):
            parts.setdefault(part, []).append(number)
        for members in parts.values():
            if len(members) > 1 or members[0] in after[members[0]]:
                part = {pairs[number] for number in members}
                # Pairs that stay where they are give the plainest pumps, and more than one kind of them.
                for number in sorted(members, key=lambda number: number not in after[number])[:_LINKS_PER_PAIR]:
                    yield (*pairs[number], part)

    def _pair_successors(self, pair: tuple[int, int], first: int, second: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for left, left_mask in self._edges[pair[0]]:
            if self._component[left] != first:
                continue
            for right, right_mask in self._edges[pair[1]]:
                self._budget.spend()
                if left_mask & right_mask and self._component[right] == second:
                    found.append((left, right))
        return found

    def _triple_path(self, source: int, target: int, allowed: set[tuple[int, int]]) -> Word | None:
        """A word by which (source, source, target) becomes (source, target, target)."""
        begin = (source, source, target)
        goal = (source, target, target)
        last = self._component[target]
        parents: dict[tuple[int, int, int], tuple[tuple[int, int, int], int]] = {begin: (begin, 0)}
        queue = [begin]
        for triple in queue:
            for staying, staying_mask in self._edges[triple[0]]:
                for end, end_mask in self._edges[triple[2]]:
                    outer = staying_mask & end_mask
                    self._budget.spend()
                    if not outer or (staying, end) not in allowed:
                        continue
                    for moving, moving_mask in self._edges[triple[1]]:
                        self._budget.spend()
                        common = outer & moving_mask
                        following = (staying, moving, end)
                        if not common or following in parents or self._component[moving] < last:
                            continue
                        parents[following] = (triple, common)
                        if following == goal:
                            return _triple_word(parents, begin, goal)
                        queue.append(following)
        return None

    def _longest_chain(self, links: dict[tuple[int, int], list[Link]]) -> tuple[Link, ...]:
        """The chain of most links; between two of them the automaton may move on without one."""
        reach = self._reachable_loops()
        best: dict[int, tuple[Link, ...]] = {}
        for first in sorted(self.loops):
            options: list[tuple[Link, ...]] = [()]
            for second in reach[first]:
                onward = best[second]
                options.append(onward)
                found = links.get((first, second))
                if found:
                    options.append((found[0], *onward))
            best[first] = max(options, key=len)
        return max(best.values(), key=len)


def _parts(chain: tuple[Link, ...]) -> Iterator[tuple[Link, ...]]:
    """The chain, then shorter ones of it: its last loop may be one that accepts whatever follows."""
    if len(chain) > 1:
        yield chain
    for length in range(len(chain) - 1, 1, -1):
        if len(chain) <= _LONG_CHAIN:
            yield chain[:length]
            yield chain[-length:]


def _word_back(parents: dict[int, tuple[int, int]], source: int, state: int) -> Word:
    word: list[int] = []
    while True:
        state, mask = parents[state]
        word.append(lowest_atom(mask))
        if state == source:
            return tuple(reversed(word))


def _pair_word(parents: dict[tuple[int, int], tuple[tuple[int, int], int]], pair: tuple[int, int]) -> tuple[int, Word]:
    """The state from which both of the pair were reached, and the word."""
    word: list[int] = []
    while pair[0] != pair[1]:
        pair, mask = parents[pair]
        word.append(lowest_atom(mask))
    return pair[0], tuple(reversed(word))


def _triple_word(
    parents: dict[tuple[int, int, int], tuple[tuple[int, int, int], int]],
    begin: tuple[int, int, int],
    triple: tuple[int, int, int],
) -> Word:
    word: list[int] = []
    while True:
        triple, mask = parents[triple]
        word.append(lowest_atom(mask))
        if triple == begin:
            return tuple(reversed(word))
