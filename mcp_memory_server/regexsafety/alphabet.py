"""Cuts the code points into atoms: classes of characters that the pattern cannot tell apart.

A set of atoms is a bit mask. One bit more, EDGE, stands for "no character": the end of the input when looking
ahead, its start when looking behind.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from .budget import Budget
from .charset import CharSet

_PLEASANT = ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x21, 0x7E), (0x20, 0x20), (0x09, 0x0A), (0xA1, 0xD7FF))
"""Where to look for a character that stands for an atom, best first."""


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The atoms of one pattern."""

    characters: tuple[int, ...]
    """A code point that stands for each atom."""
    masks: dict[CharSet, int]
    _borders: tuple[int, ...]
    _atoms: tuple[int, ...]
    _last: int

    @property
    def edge(self) -> int:
        """The mask of "no character"."""
        return 1 << len(self.characters)

    @property
    def everything(self) -> int:
        """The mask of all atoms, without EDGE."""
        return (1 << len(self.characters)) - 1

    def atom_of(self, code: int) -> int:
        """The atom that holds the code point."""
        return self._atoms[bisect_right(self._borders, code) - 1]

    def character_beyond(self, atom: int, code: int) -> int:
        """A member of the atom above the code point where there is one, else the usual one."""
        for low, high, number in zip(self._borders, (*self._borders[1:], self._last + 1), self._atoms, strict=True):
            if number == atom and high - 1 > code:
                return max(low, code + 1)
        return self.characters[atom]


def build_alphabet(sets: Iterable[CharSet], last: int, budget: Budget) -> Alphabet:
    """Cut 0..last at every border of the sets and join the pieces that lie in the same sets."""
    distinct = list(dict.fromkeys(sets))
    toggles: dict[int, int] = {0: 0}
    for number, ranges in enumerate(distinct):
        bit = 1 << number
        for low, high in ranges:
            toggles[low] = toggles.get(low, 0) ^ bit
            toggles[high + 1] = toggles.get(high + 1, 0) ^ bit
    borders = sorted(border for border in toggles if border <= last)
    budget.spend(len(borders) * (1 + len(distinct) // 64))
    signatures: dict[int, int] = {}
    best: list[tuple[int, int]] = []
    atoms: list[int] = []
    inside = 0
    for border, following in zip(borders, [*borders[1:], last + 1], strict=True):
        inside ^= toggles[border]
        atom = signatures.setdefault(inside, len(signatures))
        candidate = _pleasant_character(border, following - 1)
        if atom == len(best):
            best.append(candidate)
        elif candidate < best[atom]:
            best[atom] = candidate
        atoms.append(atom)
    # The most readable atoms come first, so that the lowest bit of a mask is the one to show to people.
    ranked = sorted(range(len(best)), key=best.__getitem__)
    place = {old: new for new, old in enumerate(ranked)}
    found = list(signatures)
    masks = _masks(distinct, [found[old] for old in ranked], budget)
    characters = tuple(best[old][1] for old in ranked)
    return Alphabet(characters, masks, tuple(borders), tuple(place[atom] for atom in atoms), last)


def _masks(sets: list[CharSet], signatures: list[int], budget: Budget) -> dict[CharSet, int]:
    masks = [0] * len(sets)
    for atom, signature in enumerate(signatures):
        budget.spend(signature.bit_count() + 1)
        bit = 1 << atom
        left = signature
        while left:
            lowest = left & -left
            masks[lowest.bit_length() - 1] |= bit
            left ^= lowest
    return dict(zip(sets, masks, strict=True))


def _pleasant_character(low: int, high: int) -> tuple[int, int]:
    """Rank and code point of the most readable character in a range."""
    for rank, (first, last) in enumerate(_PLEASANT):
        if low <= last and high >= first:
            return rank, max(low, first)
    return len(_PLEASANT), low
