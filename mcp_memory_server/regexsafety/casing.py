"""Closing a set under case, as each engine compares letters when it ignores case."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache

from .charset import CharSet, contains, from_ranges, size, union

# Blocks that hold every letter with case; the rest of Unicode need not be looked at.
_CASED_BLOCKS = (
    (0x00, 0x58F),
    (0x10A0, 0x10FF),
    (0x13A0, 0x13FF),
    (0x1C80, 0x1CBF),
    (0x1D79, 0x1D8E),
    (0x1E00, 0x1FFF),
    (0x2126, 0x2132),
    (0x214E, 0x2188),
    (0x24B6, 0x24E9),
    (0x2C00, 0x2D2F),
    (0xA640, 0xA69F),
    (0xA722, 0xA7FF),
    (0xAB53, 0xABBF),
    (0xFB00, 0xFB17),
    (0xFF21, 0xFF5A),
    (0x10400, 0x104FF),
    (0x10570, 0x105BF),
    (0x10C80, 0x10CFF),
    (0x118A0, 0x118DF),
    (0x16E40, 0x16E7F),
    (0x1E900, 0x1E943),
)


class Casing(Enum):
    """Whose rule of equality applies."""

    ECMA = "ecma"
    ECMA_UNICODE = "ecma-unicode"
    PYTHON = "python"
    PYTHON_ASCII = "python-ascii"


def _canonical_ecma(character: str) -> str:
    """ECMA-262 Canonicalize without ``u``: simple upper case that never leaves or enters ASCII."""
    upper = character.upper()
    if len(upper) != 1 or (ord(character) >= 128 > ord(upper)):
        return character
    return upper


def _canonical_folded(character: str) -> str:
    """ECMA-262 Canonicalize with ``u``: simple case folding."""
    if character == "\u1e9e":
        return "\u00df"
    folded = character.casefold()
    if len(folded) == 1:
        return folded
    lower = character.lower()
    return lower if len(lower) == 1 and character != "\u0130" else character


def _canonical_python(character: str) -> str:
    """Python's ``re``: lower case, with the pairs that share an upper case joined (dotless i, long s, ...)."""
    lower = "i" if character == "\u0130" else character.lower()
    if len(lower) != 1:
        return character
    upper = lower.upper()
    return upper.lower() if len(upper) == 1 and len(upper.lower()) == 1 else lower


def canonical(casing: Casing) -> Callable[[str], str]:
    """The function under which two characters are equal when case is ignored."""
    if casing is Casing.ECMA:
        return _canonical_ecma
    if casing is Casing.ECMA_UNICODE:
        return _canonical_folded
    return _canonical_python


@cache
def _orbits(casing: Casing) -> dict[int, CharSet]:
    """For each letter with case, all letters equal to it."""
    to_canonical = canonical(casing)
    members: dict[str, list[int]] = {}
    for low, high in _CASED_BLOCKS:
        for code in range(low, high + 1):
            members.setdefault(to_canonical(chr(code)), []).append(code)
    orbits: dict[int, CharSet] = {}
    for codes in members.values():
        if len(codes) > 1:
            ranges = from_ranges((code, code) for code in codes)
            orbits.update(dict.fromkeys(codes, ranges))
    return orbits


def _close_ascii(ranges: CharSet) -> CharSet:
    upper = [(max(low, 0x41) + 32, min(high, 0x5A) + 32) for low, high in ranges if low <= 0x5A and high >= 0x41]
    lower = [(max(low, 0x61) - 32, min(high, 0x7A) - 32) for low, high in ranges if low <= 0x7A and high >= 0x61]
    return from_ranges([*ranges, *upper, *lower])


@cache
def close_under_case(ranges: CharSet, casing: Casing) -> CharSet:
    """The set with every character that equals one of its members when case is ignored."""
    ascii_only = not ranges or ranges[-1][1] < 128
    if casing is Casing.PYTHON_ASCII or (casing is Casing.ECMA and ascii_only):
        return _close_ascii(ranges)
    orbits = _orbits(casing)
    if size(ranges) < len(orbits):
        codes = [code for low, high in ranges for code in range(low, high + 1) if code in orbits]
    else:
        codes = [code for code in orbits if contains(ranges, code)]
    return union(ranges, *(orbits[code] for code in codes))
