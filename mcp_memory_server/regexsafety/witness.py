"""From an ambiguity to attack strings: a prefix that reaches it, pumps that run it, a suffix that fails it."""

from __future__ import annotations

from collections.abc import Iterator

from .ambiguity import Ambiguity, AmbiguityFinder, Word
from .attack import Attack
from .automaton import Automaton
from .budget import Budget
from .threads import Threads, ThreadSimulator

_SETTLING_ROUNDS = 40
"""Rounds of a pump before its threads must repeat; fewer miss patterns that count up first."""
_SUFFIX_NODES = 60


class WitnessFinder:
    """Proposes attacks on one automaton; each is only a proposal until its steps are counted."""

    def __init__(self, automaton: Automaton, finder: AmbiguityFinder, budget: Budget) -> None:
        self._automaton = automaton
        self._finder = finder
        self._budget = budget
        self._threads = ThreadSimulator(automaton, budget)

    def attacks(self, ambiguity: Ambiguity) -> Iterator[Attack]:
        """Attacks that should work, the most damaging first."""
        for segments in self._segmentations(ambiguity):
            last = ambiguity.links[-1].target
            threads = self._after(segments)
            if last not in threads:
                continue
            seen: set[Word] = set()
            for variant in self._variants(threads, last):
                suffix = self.failing_suffix(variant)
                if suffix is not None and suffix not in seen:
                    seen.add(suffix)
                    yield Attack(segments, suffix)

    def _segmentations(self, ambiguity: Ambiguity) -> Iterator[tuple[tuple[Word, Word], ...]]:
        """One pump made of all links' words where that works, else a pump for each link."""
        links = ambiguity.links
        prefix = self._finder.path(0, links[0].source)
        if prefix is None:
            return
        yield ((prefix, tuple(atom for link in links for atom in link.word)),)
        if len(links) > 1:
            segments = [(prefix, links[0].word)]
            for earlier, later in zip(links, links[1:], strict=False):
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

    def _variants(self, threads: Threads, last: int) -> Iterator[Threads]:
        """Which threads must fail: all; all but the newest start; those tried no later than the ambiguous one."""
        yield threads
        yield tuple(state for state in threads if not self._automaton.is_search(state))
        yield threads[: threads.index(last) + 1]

    def failing_suffix(self, threads: Threads) -> Word | None:
        """A shortest word after which no thread has accepted and none accepts at the end."""
        queue: list[tuple[Threads, Word]] = [(threads, ())]
        seen = {threads}
        for current, word in queue:
            if not self._threads.accepts_at_end(current):
                return word
            if len(queue) > _SUFFIX_NODES:
                continue
            for atom in range(self._threads.edge):
                after, accepted = self._threads.step(current, atom)
                if accepted or after in seen:
                    continue
                seen.add(after)
                queue.append((after, (*word, atom)))
        return None
