"""Attack strings: fixed parts and pumps of atoms, and how the steps grow with the number of pumps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from .ambiguity import Word


@dataclass(frozen=True, slots=True)
class Attack:
    """Subject strings of growing length: each segment is a fixed part and a pump, repeated as often as asked."""

    segments: tuple[tuple[Word, Word], ...]
    suffix: Word

    def atoms(self, pumps: int) -> Word:
        """The string with each pump repeated."""
        word: list[int] = []
        for fixed, pump in self.segments:
            word.extend(fixed)
            word.extend(pump * pumps)
        word.extend(self.suffix)
        return tuple(word)

    @property
    def pump_length(self) -> int:
        """Characters added by one more round of every pump."""
        return sum(len(pump) for _, pump in self.segments)


@dataclass(frozen=True, slots=True)
class Growth:
    """How the steps grow with the number of pumps n: as base**n, or as scale * n**exponent."""

    exponential: bool
    base: float
    exponent: float
    scale: float

    @property
    def degree(self) -> int:
        """The exponent as a whole number, at least 2 for a polynomial that is reported."""
        return max(2, round(self.exponent))

    def pumps_for(self, steps: float) -> int:
        """How many pumps cost that many steps."""
        if self.exponential:
            pumps = (math.log(steps) - math.log(self.scale)) / math.log(self.base)
        else:
            pumps = (steps / self.scale) ** (1 / self.exponent)
        return max(1, math.ceil(pumps))


_STEADY = 0.7
"""An exponential's growth per pump stays the same when n doubles (ratio 1); a polynomial's halves."""
_SLOWEST_BASE = 1.05
_SUPER_LINEAR = 1.45
_GLANCES = 3
"""So many samples are the least from which growth can be told."""
_PROPORTIONAL = 2.03
_SUSPICIOUS = 1.12
_FIRST_SIZE = 6
_LONG_PUMP = 24
"""Pumps of more characters than this are counted at half the sizes."""
_SIZES = 6
"""How often the number of pumps is doubled at most, less one."""
_LONGEST = 480
"""Pumped characters that are enough, once 48 pumps have been counted."""


def measure_growth(count: Callable[[int], int | None], pump_length: int) -> Growth | None:
    """The growth of ``count`` (steps for n pumps, None where too costly), or None when it is linear."""
    size = _FIRST_SIZE if pump_length <= _LONG_PUMP else _FIRST_SIZE // 2
    for first in (size, size // 3):
        logs, following = _sample(count, first, pump_length)
        if logs is None:
            return None
        if len(logs) >= _GLANCES:
            return _fit(logs, following, count)
    return None


def _sample(count: Callable[[int], int | None], size: int, pump_length: int) -> tuple[list[float] | None, int]:
    """Logarithms of the steps at sizes that double, and the size that would come next; None when plainly linear."""
    counts: list[int] = []
    logs: list[float] = []
    while len(counts) < _SIZES:
        if len(logs) > 3 and (_is_exponential(logs, size) or size * pump_length > _LONGEST):
            break
        steps = count(size)
        if steps is None:
            break
        counts.append(steps)
        logs.append(math.log2(steps + 1))
        size *= 2
        if len(counts) == _GLANCES and _is_linear(counts):
            return None, size
    return logs, size


def _fit(logs: list[float], size: int, count: Callable[[int], int | None]) -> Growth | None:
    """The growth behind at least three samples, the last of which was taken at half of ``size``."""
    if _is_exponential(logs, size):
        return _exponential(logs, size)
    early, late = logs[-2] - logs[-3], logs[-1] - logs[-2]
    if _SUSPICIOUS < late < _SUPER_LINEAR and early + 0.02 < late:
        steps = count(size * 4)
        if steps is not None:
            early, late = late, (math.log2(steps + 1) - logs[-1]) / 3
    if late < _SUPER_LINEAR:
        return None
    # Lower powers hide part of the slope; what they hide halves when n doubles.
    exponent = late + min(max(late - early, 0.0), 0.6)
    return Growth(False, 1.0, exponent, 2 ** (logs[-1] - exponent * math.log2(size // 2)))


def _is_linear(counts: list[int]) -> bool:
    """Whether the steps grew in proportion to the pumps at every doubling so far."""
    grown = [later - earlier for earlier, later in pairwise(counts)]
    return all(later <= _PROPORTIONAL * earlier for earlier, later in pairwise(grown))


def _is_exponential(logs: list[float], size: int) -> bool:
    """Whether the growth per pump has been steady over the last two doublings; ``size`` would come next."""
    earlier = (logs[-2] - logs[-3]) / (size / 8)
    later = (logs[-1] - logs[-2]) / (size / 4)
    return later > math.log2(_SLOWEST_BASE) and later > _STEADY * earlier


def _exponential(logs: list[float], size: int) -> Growth:
    rate = (logs[-1] - logs[-2]) / (size / 4)
    return Growth(True, 2**rate, 0.0, 2 ** max(logs[-1] - size / 2 * rate, -50.0))
