"""What a check answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .syntax import Span

VerdictName: TypeAlias = Literal["safe", "polynomial", "exponential", "invalid", "unknown"]

Dialect: TypeAlias = Literal["ecma", "python"]


@dataclass(frozen=True, slots=True)
class Witness:
    """Strings on which a backtracking engine blows up: every part and its pump n times, then the suffix."""

    pumps: tuple[tuple[str, str], ...]
    """(fixed part, pump) pairs; more than one only where a single pump does not reach the degree."""
    suffix: str

    @property
    def prefix(self) -> str:
        """What stands before the first pump."""
        return self.pumps[0][0]

    @property
    def pump(self) -> str:
        """The first pump."""
        return self.pumps[0][1]

    def subject(self, rounds: int) -> str:
        """The attack string with each pump repeated."""
        return "".join(fixed + pump * rounds for fixed, pump in self.pumps) + self.suffix

    def as_json(self) -> dict[str, object]:
        """``{"prefix","pump","suffix"}``, or ``{"pumps","suffix"}`` when there is more than one pump."""
        if len(self.pumps) == 1:
            return {"prefix": self.prefix, "pump": self.pump, "suffix": self.suffix}
        return {"pumps": [list(part) for part in self.pumps], "suffix": self.suffix}


@dataclass(frozen=True, slots=True)
class PatternVerdict:
    """The answer for one pattern under one dialect and one set of flags."""

    pattern: str
    flags: str
    dialect: Dialect
    verdict: VerdictName
    reason: str
    """One sentence for a developer."""
    degree: int | None = None
    """Polynomial only: the steps grow as this power of the subject's length."""
    witness: Witness | None = None
    loop: Span | None = None
    """Where in the pattern the ambiguous repetition stands."""
    length_for_one_second: int | None = None
    """Roughly how long an attack must be to keep a current engine busy for a second, in characters.

    Also set for a ``safe`` pattern whose lookahead scans the subject anew from every start; the reason says so.
    """
    cost: int = 0
    """The analysis steps that the verdict took."""

    @property
    def unsafe(self) -> bool:
        """Whether a policy for untrusted patterns should act: everything but ``safe``."""
        return self.verdict != "safe"
