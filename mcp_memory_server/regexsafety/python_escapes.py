"""The small readers of the Python parser: flags, escapes, classes, group names."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from . import charset, syntax
from .builder import InvalidPattern
from .casing import Casing, close_under_case
from .charset import CharSet
from .unicode_properties import property_set

FLAG_LETTERS = "aiLmsux"
_SIMPLE = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_HEX_LENGTHS = {"x": 2, "u": 4, "U": 8}
_HEX = re.compile(r"[0-9a-fA-F]*")
_NAMED = re.compile(r"\{([^}]*)\}")
_OCTAL = re.compile(r"[0-7]{1,3}")
_REFERENCE = re.compile(r"[1-9][0-9]?")
_HIGHEST_OCTAL = 0o377
_ASCII_SPACES = charset.from_text(" \t\n\r\f\v")
_SPACES = charset.union(
    ((0x09, 0x0D), (0x1C, 0x20)), charset.from_text("\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"), ((0x2000, 0x200A),)
)


@dataclass(frozen=True, slots=True)
class PythonFlags:
    """The flags in force at a place of the pattern."""

    ascii: bool = False
    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False
    verbose: bool = False

    @staticmethod
    def of(letters: str) -> PythonFlags:
        """From letters such as ``ims``; ``u`` is the default for text."""
        return PythonFlags("a" in letters, "i" in letters, "m" in letters, "s" in letters, "x" in letters)

    def changed(self, added: str, removed: str) -> PythonFlags:
        """The flags inside ``(?added-removed:...)``."""

        def holds(letter: str, before: bool) -> bool:
            return (before or letter in added) and letter not in removed

        return PythonFlags(
            ("a" in added) or (self.ascii and "u" not in added),
            holds("i", self.ignore_case),
            holds("m", self.multiline),
            holds("s", self.dot_all),
            holds("x", self.verbose),
        )

    @property
    def casing(self) -> Casing:
        """How letters compare when case is ignored."""
        return Casing.PYTHON_ASCII if self.ascii else Casing.PYTHON

    def close(self, ranges: CharSet) -> CharSet:
        """The set, with its case variants where case is ignored."""
        return close_under_case(ranges, self.casing) if self.ignore_case else ranges

    @property
    def dot(self) -> CharSet:
        """What a dot matches."""
        return charset.ANYTHING if self.dot_all else charset.complement(charset.single(0x0A))

    @property
    def word(self) -> CharSet:
        """What ``\\w`` matches."""
        return charset.WORD if self.ascii else _unicode_word()

    def anchor(self, character: str) -> syntax.Anchor:
        """What ``^`` or ``$`` asserts."""
        newline = charset.single(0x0A)
        if character == "^":
            return syntax.Anchor(syntax.Place.START_LINE if self.multiline else syntax.Place.START, newline)
        return syntax.Anchor(syntax.Place.END_LINE if self.multiline else syntax.Place.END_OR_LAST_NEWLINE, newline)


@lru_cache(maxsize=1)
def _unicode_word() -> CharSet:
    return charset.union(_category("L"), _category("N"), charset.single(ord("_")))


def _category(name: str) -> CharSet:
    ranges = property_set(name)
    assert ranges is not None
    return ranges


def category_set(letter: str, flags: PythonFlags) -> CharSet:
    """The set of ``\\d``, ``\\s``, ``\\w`` and their complements."""
    match letter.lower():
        case "d":
            ranges = charset.DIGITS if flags.ascii else _category("Nd")
        case "s":
            ranges = _ASCII_SPACES if flags.ascii else _SPACES
        case _:
            ranges = flags.word
    return charset.complement(ranges) if letter.isupper() else ranges


def read_character_escape(text: str, at: int, in_class: bool) -> tuple[int, int]:
    """The code point of the escape at ``at`` (categories and references aside), and the position after it."""
    letter = text[at + 1 : at + 2]
    if not letter:
        raise InvalidPattern("bad escape (end of pattern)", at)
    if letter in _HEX_LENGTHS:
        return _hex_escape(text, at, _HEX_LENGTHS[letter])
    if letter == "N":
        return _named_escape(text, at)
    if letter in "01234567" and (in_class or letter == "0"):
        found = _OCTAL.match(text, at + 1)
        assert found is not None
        return _octal(found[0], at), found.end()
    if letter in _SIMPLE and (in_class or letter != "b"):
        return _SIMPLE[letter], at + 2
    if letter.isascii() and letter.isalnum():
        raise InvalidPattern(f"bad escape \\{letter}", at)
    return ord(letter), at + 2


def _octal(digits: str, at: int) -> int:
    code = int(digits, 8)
    if code > _HIGHEST_OCTAL:
        raise InvalidPattern("octal escape value outside of range 0-0o377", at)
    return code


def _hex_escape(text: str, at: int, length: int) -> tuple[int, int]:
    end = at + 2 + length
    digits = text[at + 2 : end]
    found = _HEX.fullmatch(digits)
    if len(digits) != length or not found:
        raise InvalidPattern("incomplete escape", at)
    code = int(digits, 16)
    if code > charset.LAST_CODE_POINT:
        raise InvalidPattern("bad escape", at)
    return code, end


def _named_escape(text: str, at: int) -> tuple[int, int]:
    found = _NAMED.match(text, at + 2)
    if not found or not found[1]:
        raise InvalidPattern("missing character name", at)
    try:
        return ord(unicodedata.lookup(found[1])), found.end()
    except (KeyError, TypeError):
        raise InvalidPattern("undefined character name", at) from None


def read_reference(text: str, at: int) -> tuple[int, bool, int]:
    """The number after the backslash at ``at``: (octal code point or group, whether it is a group, end)."""
    octal = _OCTAL.match(text, at + 1)
    if octal and len(octal[0]) == 3:
        return _octal(octal[0], at), False, octal.end()
    found = _REFERENCE.match(text, at + 1)
    assert found is not None
    return int(found[0]), True, found.end()


def read_class(text: str, at: int, flags: PythonFlags) -> tuple[CharSet, int]:
    """The class whose ``[`` stands at ``at``, and the position after its ``]``."""
    opening = at
    at += 1
    negated = text.startswith("^", at)
    at += negated
    parts: list[tuple[int, int]] = []
    first = True
    while True:
        if at >= len(text):
            raise InvalidPattern("unterminated character set", opening)
        if text[at] == "]" and not first:
            break
        first = False
        start = at
        low, at = _class_atom(text, at, flags)
        if text.startswith("-", at):
            if at + 1 >= len(text):
                raise InvalidPattern("unterminated character set", opening)
            if text[at + 1] != "]":
                high, at = _class_atom(text, at + 1, flags)
                if not isinstance(low, int) or not isinstance(high, int) or high < low:
                    raise InvalidPattern("bad character range", start)
                parts.append((low, high))
                continue
        parts.extend(((low, low),) if isinstance(low, int) else low)
    ranges = flags.close(charset.from_ranges(parts))
    return (charset.complement(ranges) if negated else ranges), at + 1


def _class_atom(text: str, at: int, flags: PythonFlags) -> tuple[int | CharSet, int]:
    if text[at] != "\\":
        return ord(text[at]), at + 1
    letter = text[at + 1 : at + 2]
    if letter and letter in "dDsSwW":
        return category_set(letter, flags), at + 2
    return read_character_escape(text, at, in_class=True)


def comment_end(text: str, at: int, terminator: str) -> int | None:
    """The position after a comment's terminator, or None; a backslash hides the character behind it."""
    while at < len(text):
        if text[at] == "\\":
            if at + 1 == len(text):
                raise InvalidPattern("bad escape (end of pattern)", at)
            at += 1
        elif text[at] == terminator:
            return at + 1
        at += 1
    return None


def read_until(text: str, at: int, terminator: str) -> tuple[str, int]:
    """The name up to a terminator, and the position after it."""
    end = text.find(terminator, at)
    if end < 0:
        raise InvalidPattern(f"missing {terminator}, unterminated name", at)
    if end == at:
        raise InvalidPattern("missing group name", at)
    return text[at:end], end + 1


def read_inline_flags(text: str, at: int) -> tuple[str, str, str, int]:
    """Letters of ``(?added-removed:`` from ``at`` on: added, removed, the closing character, the position after it."""
    end = at
    while end < len(text) and text[end] in FLAG_LETTERS:
        end += 1
    added, removed = text[at:end], ""
    closing = text[end : end + 1]
    if closing == "-":
        start = end + 1
        end = start
        while end < len(text) and text[end] in FLAG_LETTERS:
            end += 1
        removed, closing = text[start:end], text[end : end + 1]
        if not removed or closing != ":":
            raise InvalidPattern("missing flag or colon", end)
    if not closing or closing not in ":)":
        raise InvalidPattern("unknown flag", end)
    if "L" in added + removed or {"a", "u"} <= set(added) or set("au") & set(removed) or set(added) & set(removed):
        raise InvalidPattern("bad inline flags", at)
    return added, removed, closing, end + 1
