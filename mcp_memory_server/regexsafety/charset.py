"""Sets of code points as sorted tuples of inclusive ranges that neither touch nor overlap."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import TypeAlias

CharSet: TypeAlias = tuple[tuple[int, int], ...]

LAST_CODE_POINT = 0x10FFFF
LAST_CODE_UNIT = 0xFFFF


def from_ranges(ranges: Iterable[tuple[int, int]]) -> CharSet:
    """Sort the ranges and join those that touch."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            if high > joined[-1][1]:
                joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def from_text(characters: str) -> CharSet:
    """The set of the given characters."""
    return from_ranges((ord(character), ord(character)) for character in characters)


def single(code: int) -> CharSet:
    """The set of one code point."""
    return ((code, code),)


def union(*sets: CharSet) -> CharSet:
    """What is in any of the sets."""
    return from_ranges(part for ranges in sets for part in ranges)


def complement(ranges: CharSet, last: int = LAST_CODE_POINT) -> CharSet:
    """What lies in 0..last and not in the set."""
    gaps: list[tuple[int, int]] = []
    free = 0
    for low, high in ranges:
        if low > last:
            break
        if low > free:
            gaps.append((free, low - 1))
        free = high + 1
    if free <= last:
        gaps.append((free, last))
    return tuple(gaps)


def intersection(left: CharSet, right: CharSet) -> CharSet:
    """What is in both sets."""
    common: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            common.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(common)


def difference(left: CharSet, right: CharSet) -> CharSet:
    """What is in the first set and not in the second."""
    return intersection(left, complement(right))


def contains(ranges: CharSet, code: int) -> bool:
    """Whether the code point is in the set."""
    at = bisect_right(ranges, (code, LAST_CODE_POINT + 1)) - 1
    return at >= 0 and ranges[at][1] >= code


def size(ranges: CharSet) -> int:
    """How many code points the set holds."""
    return sum(high - low + 1 for low, high in ranges)


ANYTHING: CharSet = ((0, LAST_CODE_POINT),)
DIGITS = from_ranges([(0x30, 0x39)])
WORD = from_ranges([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
ECMA_NEWLINES = from_text("\n\r\u2028\u2029")
ECMA_SPACES = from_text(
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
