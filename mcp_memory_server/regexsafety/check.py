"""One pattern in, one verdict out."""

from __future__ import annotations

from dataclasses import replace

from .alphabet import Alphabet
from .ambiguity import Word
from .analysis import AnalysisResult, Confirmed, analyse
from .budget import Limits
from .builder import InvalidPattern, ParsedPattern, UnsupportedPattern
from .casing import Casing
from .charset import LAST_CODE_UNIT
from .ecma_escapes import to_subject
from .ecma_parser import parse_ecma
from .python_parser import parse_python
from .syntax import Chars, Span, walk
from .verdict import Dialect, PatternVerdict, VerdictName, Witness

_LONGEST_PATTERN = 65_536
_STEPS_PER_SECOND = 2e8
"""What current engines do, within a factor of three; fixed, so that the answer is the same everywhere."""
_ONE_BYTE = 0xFF
_DEFAULT_LIMITS = Limits()
_POWERS = {2: "the square", 3: "the cube", 4: "the fourth power", 5: "the fifth power"}


def check_pattern(
    pattern: str, flags: str = "", dialect: Dialect = "ecma", limits: Limits = _DEFAULT_LIMITS
) -> PatternVerdict:
    """Judge a pattern as an unanchored search on a backtracking engine.

    ``flags`` are letters as the dialect writes them; ``u`` selects the Unicode mode of ECMA-262. The same arguments
    get the same verdict on any machine. Raises TypeError when the pattern is no text and ValueError for an unknown
    dialect, nothing else.
    """
    if not isinstance(pattern, str) or not isinstance(flags, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("pattern and flags must be text")
    if dialect not in ("ecma", "python"):
        raise ValueError(f"unknown dialect {dialect!r}: ecma or python")

    def verdict(name: VerdictName, reason: str, cost: int = 0) -> PatternVerdict:
        return PatternVerdict(pattern, flags, dialect, name, reason, cost=cost)

    if len(pattern) > _LONGEST_PATTERN:
        return verdict("unknown", f"The pattern is longer than {_LONGEST_PATTERN} characters.")
    try:
        parsed = parse_ecma(pattern, flags) if dialect == "ecma" else parse_python(pattern, flags)
    except InvalidPattern as refusal:
        return verdict("invalid", f"It does not compile: {refusal}.")
    except UnsupportedPattern as refusal:
        return verdict("unknown", f"It was not analysed: {refusal}.")
    try:
        result = analyse(parsed, _casing(flags, dialect), limits)
    except RecursionError:
        # The tree is shallow by then, so it is the caller who has left no room.
        return verdict("unknown", "It was not analysed: the call stack is nearly used up.")
    return _verdict_of(result, verdict("unknown", "", result.cost), parsed)


def _verdict_of(result: AnalysisResult, draft: PatternVerdict, parsed: ParsedPattern) -> PatternVerdict:
    if result.worst is not None and result.alphabet is not None:
        return _unsafe(draft, parsed, result.worst, result.alphabet)
    if result.exhausted is not None:
        return replace(draft, reason=f"It was not judged to the end: the {result.exhausted} budget is used up.")
    if result.scan is not None and result.alphabet is not None:
        found = _unsafe(draft, parsed, result.scan, result.alphabet)
        return replace(found, verdict="safe", reason=_why_bearable(found), degree=None, witness=None, loop=None)
    return replace(draft, verdict="safe", reason=_why_safe(result))


def _casing(flags: str, dialect: Dialect) -> Casing:
    if dialect == "python":
        return Casing.PYTHON_ASCII if "a" in flags else Casing.PYTHON
    return Casing.ECMA_UNICODE if "u" in flags else Casing.ECMA


def _why_safe(result: AnalysisResult) -> str:
    if result.alphabet is None:
        return "Nothing in it repeats without bound, and there are few ways to match."
    return "No subject makes a backtracking engine take more than linear time."


def _why_bearable(found: PatternVerdict) -> str:
    assert found.witness is not None
    pump, suffix = _quoted(found.witness.pump), _quoted(found.witness.suffix)
    return (
        "No subject makes the matching itself take more than linear time, but a lookahead runs over the rest of the "
        f"subject from every start: {pump} repeated before {suffix} costs the square of the length, about "
        f"{found.length_for_one_second} characters a second. Limit the length."
    )


def _unsafe(draft: PatternVerdict, parsed: ParsedPattern, worst: Confirmed, alphabet: Alphabet) -> PatternVerdict:
    growth, attack = worst.growth, worst.attack
    witness = _witness(worst, alphabet, _wide_subject_needed(parsed))
    fixed = len(attack.suffix) + sum(len(part) for part, _ in attack.segments)
    length = fixed + growth.pumps_for(_STEPS_PER_SECOND) * attack.pump_length
    span = None if worst.loop is None else _span_in_text(draft.pattern, draft.flags, draft.dialect, worst.loop)
    where = _place(draft.pattern, span)
    if growth.exponential:
        reason = (
            f"{where} can match the same text in more than one way, and a failing match tries them all: each further "
            f"{_quoted(witness.pump)} multiplies the work by {growth.base:.3g}. "
            f"About {length} characters cost a second."
        )
    else:
        power = _POWERS.get(growth.degree, f"the power {growth.degree}")
        reason = (
            f"{where} can begin or end at many places in the same text, and a failing match tries them all: the work "
            f"grows with {power} of the length. About {length} characters cost a second."
        )
    return PatternVerdict(
        draft.pattern,
        draft.flags,
        draft.dialect,
        "exponential" if growth.exponential else "polynomial",
        reason,
        degree=None if growth.exponential else growth.degree,
        witness=witness,
        loop=span,
        length_for_one_second=length,
        cost=draft.cost,
    )


def _place(pattern: str, span: Span | None) -> str:
    if span is None:
        return "The pattern"
    return f"{_quoted(pattern[span.start : span.end])} (characters {span.start} to {span.end})"


def _quoted(text: str) -> str:
    """The text in one line, shortened in the middle."""
    longest = 60
    if len(text) > longest:
        text = f"{text[:40]}...{text[-15:]}"
    return "'" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text) + "'"


def _wide_subject_needed(parsed: ParsedPattern) -> bool:
    """Whether V8 gives up at once on subjects of Latin-1 characters, which the pattern can then never match."""
    if not parsed.conditional_captures:
        return False
    return any(isinstance(node, Chars) and node.ranges and node.ranges[0][0] > _ONE_BYTE for node in walk(parsed.tree))


def _witness(worst: Confirmed, alphabet: Alphabet, wide: bool) -> Witness:
    characters = list(alphabet.characters)
    if wide:
        for atom in {atom for fixed, pump in worst.attack.segments for atom in fixed + pump}:
            characters[atom] = alphabet.character_beyond(atom, _ONE_BYTE)

    def text(word: Word) -> str:
        return "".join(chr(characters[atom]) for atom in word)

    segments = tuple((text(fixed), text(pump)) for fixed, pump in worst.attack.segments)
    return Witness(segments, text(worst.attack.suffix))


def _span_in_text(pattern: str, flags: str, dialect: Dialect, span: Span) -> Span:
    """From positions among the engine's units to positions in the Python string."""
    if dialect != "ecma" or pattern.isascii():
        return span
    starts: list[int] = []
    for at, character in enumerate(pattern):
        starts.extend([at] * (1 if "u" in flags or ord(character) <= LAST_CODE_UNIT else 2))
    if "u" in flags and len(to_subject(pattern, unicode_mode=True)) != len(pattern):
        return Span(0, len(pattern))
    starts.append(len(pattern))
    return Span(starts[span.start], starts[span.end])
