"""From an ambiguity to attack strings: a prefix that reaches it, pumps that run it, a suffix that fails it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

from .ambiguity import Ambiguity, AmbiguityFinder, Link, Word
from .attack import Attack
from .automaton import SINK, Automaton
from .budget import Budget
from .program import NOWHERE, Op
from .pump_search import Journey, PumpSearch
from .threads import Threads, ThreadSimulator

_SETTLING_ROUNDS = 40
"""Rounds of a pump before its threads must repeat; fewer miss patterns that count up first."""
_SUFFIX_NODES = 60
_PREFIX_NODES = 150
_PREFIXES_TRIED = 5
_PUMP_NODES = 300
_PUMPS_TRIED = 4


class WitnessFinder:
    """Proposes attacks on one automaton; each is only a proposal until its steps are counted."""

    def __init__(self, automaton: Automaton, finder: AmbiguityFinder, budget: Budget, pump_budget: Budget) -> None:
        self._automaton = automaton
        self._finder = finder
        self._budget = budget
        self._threads = ThreadSimulator(automaton, budget)
        self._in_look = ThreadSimulator(automaton, budget, final=SINK)
        searched = ThreadSimulator(automaton, pump_budget)
        self._search = PumpSearch(automaton, finder, searched, pump_budget)
        self._pump_budget = pump_budget
        self._ends_before_newline = Op.LAST_NEWLINE in automaton.program.ops

    def attacks(self, ambiguity: Ambiguity) -> Iterator[Attack]:
        """Attacks that should work, the most damaging first."""
        for segments in self._segmentations(ambiguity):
            yield from self._attacks_with(segments, ambiguity.links[-1].target)

    def searched_attacks(self, ambiguity: Ambiguity) -> Iterator[Attack]:
        """Attacks whose words were chosen with an eye to the threads; dearer than ``attacks``.

        There is no end to such words, so a budget that runs out is only where the search ends.
        """
        if self._pump_budget.left <= 0:
            return
        link = ambiguity.links[0]
        for accepting in (False, True):
            for prefix in self._prefixes(link.source, accepting):
                threads = self._threads.run((0,), prefix)
                for pump in islice(self._pumps(link, threads, accepting), _PUMPS_TRIED):
                    yield from self._attacks_with(((prefix, pump),), link.target)

    def _prefixes(self, state: int, accepting: bool) -> list[Word]:
        if state == 0:
            return [()]
        journey = Journey((0,), (state,), (0,), (-1,))
        return list(islice(self._search.words(journey, accepting, _PREFIX_NODES), _PREFIXES_TRIED))

    def _pumps(self, link: Link, threads: Threads, accepting: bool) -> Iterator[Word]:
        home = self._finder.component(link.source)
        if link.source == link.target:
            states = (link.source, link.source)
            journey = Journey(states, states, threads, (home, home), diverging=True)
        else:
            begin = (link.source, link.source, link.target)
            goal = (link.source, link.target, link.target)
            if link.target not in threads:
                threads = (*threads, link.target)
            journey = Journey(begin, goal, threads, (home, -1, self._finder.component(link.target)))
        return self._search.words(journey, accepting, _PUMP_NODES)

    def _attacks_with(self, segments: tuple[tuple[Word, Word], ...], last: int) -> Iterator[Attack]:
        threads = self._after(segments)
        if last not in threads:
            return
        seen: set[Word] = set()
        for simulator, variant in self._variants(threads, last):
            suffix = failing_suffix(simulator, variant)
            if suffix is not None and suffix not in seen:
                seen.add(suffix)
                yield Attack(segments, suffix)
                if suffix and self._ends_before_newline:
                    # Before a newline that is the last character Python's `$` holds, before another one it does not.
                    yield Attack(segments, (*suffix, suffix[-1]))

    def _segmentations(self, ambiguity: Ambiguity) -> Iterator[tuple[tuple[Word, Word], ...]]:
        """One pump made of all links' words where that works, else a pump for each link."""
        links = ambiguity.links
        prefix = self._finder.path(0, links[0].source)
        if prefix is None:
            return
        yield ((prefix, tuple(atom for link in links for atom in link.word)),)
        if len(links) > 1:
            segments = [(prefix, links[0].word)]
            for earlier, later in pairwise(links):
                between = self._finder.path(earlier.target, later.source)
                if between is None:
                    return
                segments.append((between, later.word))
            yield tuple(segments)

    def _after(self, segments: tuple[tuple[Word, Word], ...]) -> Threads:
        """The threads after the pumps have been repeated until nothing changes any more."""
        threads: Threads = (0,)
        for fixed, pump in segments:
            threads = self._threads.run(threads, fixed)
            seen: set[Threads] = set()
            for _ in range(_SETTLING_ROUNDS):
                threads = self._threads.run(threads, pump)
                if threads in seen or not threads:
                    break
                seen.add(threads)
        return threads

    def _variants(self, threads: Threads, last: int) -> Iterator[tuple[ThreadSimulator, Threads]]:
        """Which threads must fail: all; all but the newest start; those tried no later than the ambiguous one.

        Where the ambiguity lies in a lookaround, first those of the lookaround, which must not succeed.
        """
        look = self._automaton.look(last)
        if look != NOWHERE:
            yield self._in_look, tuple(state for state in threads if self._automaton.look(state) == look)
        yield self._threads, threads
        yield self._threads, tuple(state for state in threads if not self._automaton.is_search(state))
        yield self._threads, threads[: threads.index(last) + 1]


def failing_suffix(simulator: ThreadSimulator, threads: Threads) -> Word | None:
    """A shortest word after which no thread has accepted and none accepts at the end."""
    queue: list[tuple[Threads, Word]] = [(threads, ())]
    seen = {threads}
    for current, word in queue:
        if not simulator.accepts_at_end(current):
            return word
        if len(queue) > _SUFFIX_NODES:
            continue
        for atom in range(simulator.edge):
            after, accepted = simulator.step(current, atom)
            if accepted or after in seen:
                continue
            seen.add(after)
            queue.append((after, (*word, atom)))
    return None
