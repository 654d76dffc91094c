"""Attack strings guessed from the tree, for what an automaton expresses only roughly or not at all.

Lookarounds, references and counts are judged exactly by the engine, but no automaton leads to the strings that hurt.
So each loop's body is sampled and pumped, after a sample of what stands before it and together with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import syntax
from .alphabet import Alphabet
from .ambiguity import Word, lowest_atom
from .attack import Attack
from .extent import longest_match
from .syntax import Node, Span

_LOOP_FROM = 20
"""Repetitions that allow at least so many rounds are pumped."""
_LONGEST_PREFIX = 80
_COPIES = 12
_BRANCHES = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """A guessed attack and the loop that it pumps."""

    attack: Attack
    loop: Span | None


class Sampler:
    """Writes short strings that a part of the tree matches (lookaheads aside)."""

    def __init__(self, alphabet: Alphabet, popular: bool, tree: Node) -> None:
        """``popular`` prefers the atoms that most sets of the pattern share, which overlap most."""
        self._alphabet = alphabet
        self._popular = popular
        self.popularity = _popularity(alphabet, tree)

    def atom(self, mask: int) -> int:
        """The atom that stands for a set."""
        if not self._popular:
            return lowest_atom(mask)
        return max(_atoms(mask), key=lambda atom: (self.popularity[atom], -atom))

    def sample(self, node: Node) -> Word:
        """A short string; empty where there is none."""
        match node:
            case syntax.Chars(ranges):
                mask = self._alphabet.masks[ranges]
                return (self.atom(mask),) if mask else ()
            case syntax.Sequence(items):
                return tuple(atom for item in items for atom in self.sample(item))[:_LONGEST_PREFIX]
            case syntax.Choice(branches):
                return self.sample(branches[0])
            case syntax.Conditional():
                return self.sample(node.met)
            case syntax.Repeat(body, least, _):
                return (self.sample(body) * min(least, _COPIES))[:_LONGEST_PREFIX]
            case syntax.Group(body, _) | syntax.Atomic(body):
                return self.sample(body)
            case syntax.Look(body, ahead, negative):
                return () if ahead or negative else self.sample(body)
            case syntax.Reference() | syntax.Anchor():
                return ()

    def pumps(self, body: Node) -> list[Word]:
        """Different strings that one round may consume."""
        match body:
            case syntax.Choice(branches):
                words = [word for branch in branches[:_BRANCHES] for word in self.pumps(branch)[:1]]
            case syntax.Repeat():
                words = self.pumps(body.body)
            case syntax.Group(inner, _) | syntax.Atomic(inner):
                words = self.pumps(inner)
            case syntax.Sequence(items):
                words = [self.sample(body), tuple(atom for item in items for atom in self._full(item))]
            case _:
                words = [self.sample(body)]
        return [word for word in dict.fromkeys(words) if word]

    def _full(self, node: Node) -> Word:
        """A sample in which optional parts are present."""
        if isinstance(node, syntax.Repeat):
            return self.sample(node.body) * max(1, min(node.least, _COPIES))
        return self.sample(node)


def _atoms(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _popularity(alphabet: Alphabet, tree: Node) -> list[int]:
    """How many sets of the pattern hold each atom."""
    counts = [0] * len(alphabet.characters)
    for node in syntax.walk(tree):
        if isinstance(node, syntax.Chars):
            for atom in _atoms(alphabet.masks[node.ranges]):
                counts[atom] += 1
    return counts


def _loops(node: Node, before: Word, sampler: Sampler) -> Iterator[tuple[syntax.Repeat, Word]]:
    """Every loop with a sample of what stands before it."""
    match node:
        case syntax.Sequence(items):
            for item in items:
                yield from _loops(item, before, sampler)
                before = (*before, *sampler.sample(item))[:_LONGEST_PREFIX]
        case syntax.Repeat(body, _, most):
            if most is None or most >= _LOOP_FROM:
                yield node, before
            yield from _loops(body, before, sampler)
        case _:
            for child in syntax.children(node):
                yield from _loops(child, before, sampler)


def probes(tree: Node, alphabet: Alphabet) -> Iterator[Probe]:
    """Guesses in order of promise."""
    popularity = Sampler(alphabet, False, tree).popularity
    rare = min(range(len(popularity)), key=popularity.__getitem__)
    endings: list[Word] = [(rare,), ()]
    seen: set[Attack] = set()
    for popular in (True, False):
        sampler = Sampler(alphabet, popular, tree)
        endings.extend(_forbidden(tree, sampler, scanning=False))
        for loop, attack in _attacks(tree, sampler, endings, with_last=True):
            if attack not in seen:
                seen.add(attack)
                yield Probe(attack, loop.span)


def scanning_probes(tree: Node, alphabet: Alphabet) -> Iterator[Probe]:
    """Guesses that let a negative lookahead run far ahead from many starts, to what it refuses."""
    sampler = Sampler(alphabet, False, tree)
    endings = _forbidden(tree, sampler, scanning=True)
    for loop, attack in _attacks(tree, sampler, endings, with_last=False):
        yield Probe(attack, loop.span)


def _attacks(
    tree: Node, sampler: Sampler, endings: list[Word], with_last: bool
) -> Iterator[tuple[syntax.Repeat, Attack]]:
    """Each loop pumped, with each ending; ``with_last`` adds the last character of the pump to them."""
    for loop, before in _loops(tree, (), sampler):
        for pump in sampler.pumps(loop.body):
            suffixes = dict.fromkeys((*endings, pump[-1:]) if with_last else endings)
            for fixed, repeated in ((before, pump), ((), before + pump)):
                for suffix in suffixes:
                    yield loop, Attack(((fixed, repeated),), suffix)


def _forbidden(tree: Node, sampler: Sampler, scanning: bool) -> list[Word]:
    """Strings that negative lookaheads refuse: those of fixed length, or (``scanning``) those that run far ahead."""
    looks = (node for node in syntax.walk(tree) if isinstance(node, syntax.Look) and node.ahead and node.negative)
    chosen = [look.body for look in looks if (longest_match(look.body) >= _LONGEST_PREFIX) == scanning]
    return [sampler.sample(body) for body in chosen[:_BRANCHES]]


def uniform_probes(tree: Node, alphabet: Alphabet, limit: int) -> Iterator[Probe]:
    """One character again and again, the most shared ones first, with and without an end that fails."""
    popularity = Sampler(alphabet, False, tree).popularity
    ranked = sorted(range(len(popularity)), key=lambda atom: -popularity[atom])
    for atom in ranked[:limit]:
        yield Probe(Attack((((), (atom,)),), (ranked[-1],)), None)
        yield Probe(Attack((((), (atom,)),), ()), None)
