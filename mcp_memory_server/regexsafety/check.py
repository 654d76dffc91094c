"""One pattern in, one verdict out."""

from __future__ import annotations

from .alphabet import Alphabet
from .analysis import Confirmed, analyse
from .attack import Attack
from .budget import Limits
from .builder import InvalidPattern, ParsedPattern, UnsupportedPattern
from .casing import Casing
from .ecma_parser import parse_ecma
from .verdict import PatternVerdict, Witness

_STEPS_IN_A_SECOND = 2e8


def check_pattern(pattern: str, flags: str = "", dialect: str = "ecma", limits: Limits | None = None) -> PatternVerdict:
    limits = limits or Limits()
    try:
        parsed = parse_ecma(pattern, flags)
    except InvalidPattern as refusal:
        return PatternVerdict(pattern, flags, dialect, "invalid", str(refusal))
    except UnsupportedPattern as refusal:
        return PatternVerdict(pattern, flags, dialect, "unknown", str(refusal))
    casing = Casing.ECMA_UNICODE if "u" in flags else Casing.ECMA
    result = analyse(parsed, casing, limits)
    if result.worst is None:
        if result.exhausted:
            return PatternVerdict(pattern, flags, dialect, "unknown", result.exhausted)
        return PatternVerdict(pattern, flags, dialect, "safe", "linear")
    w = result.worst
    wit = witness_of(w.attack, result.alphabet)
    return PatternVerdict(pattern, flags, dialect, "exponential" if w.growth.exponential else "polynomial", "", None if w.growth.exponential else w.growth.degree, wit, w.loop)


def witness_of(attack: Attack, alphabet: Alphabet) -> Witness:
    def text(w):
        return "".join(chr(alphabet.characters[a]) for a in w)
    return Witness(tuple((text(a), text(b)) for a, b in attack.segments), text(attack.suffix))
