"""Attack strings: fixed parts and pumps of atoms, and how the steps grow with the number of pumps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

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
_SLOWEST_BASE = 1.02
_SUPER_LINEAR = 1.45
_LONGEST = 480
"""Pumped characters at the largest n of a polynomial."""


def measure_growth(count: Callable[[int], int], pump_length: int) -> Growth | None:
    """The growth of ``count`` (steps for n pumps), or None when it is linear."""
    rates: list[float] = []
    logs = {size: math.log(count(size) + 1) for size in (6, 12, 24)}
    rates = [(logs[12] - logs[6]) / 6, (logs[24] - logs[12]) / 12]
    if rates[1] > math.log(_SLOWEST_BASE) and rates[1] > _STEADY * rates[0]:
        logs[48] = math.log(count(48) + 1)
        rate = (logs[48] - logs[24]) / 24
        if rate > _STEADY * rates[1] and rate > math.log(_SLOWEST_BASE):
            base = math.exp(rate)
            return Growth(True, base, 0.0, math.exp(logs[48] - 48 * rate))
    return _polynomial(count, pump_length)


def _polynomial(count: Callable[[int], int], pump_length: int) -> Growth | None:
    top = max(32, min(192, _LONGEST // pump_length)) // 4 * 4
    steps = [math.log2(count(top // part) + 1) for part in (4, 2, 1)]
    early, late = steps[1] - steps[0], steps[2] - steps[1]
    if late < _SUPER_LINEAR and early + 0.02 < late and late > 1.15:
        steps = [*steps[1:], math.log2(count(top * 4) + 1)]
        early, late = late, (steps[2] - steps[1]) / 2
        top *= 4
    if late < _SUPER_LINEAR:
        return None
    # Lower powers hide part of the slope; what they hide halves when n doubles.
    exponent = late + min(max(late - early, 0.0), 0.6)
    return Growth(False, 1.0, exponent, 2 ** (steps[2] - exponent * math.log2(top)))
