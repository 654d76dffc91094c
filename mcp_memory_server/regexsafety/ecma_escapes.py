"""The small readers of the ECMA-262 parser: escapes, classes, group names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from . import charset, syntax
from .builder import InvalidPattern, chars_node
from .casing import Casing, close_under_case
from .charset import CharSet
from .unicode_properties import property_set

_CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_SYNTAX_CHARACTERS = frozenset("^$\\.*+?()[]{}|/")
_HEX2 = re.compile(r"[0-9a-fA-F]{2}")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_BRACED = re.compile(r"\{([0-9a-fA-F]+)\}")
_OCTAL = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?")
_TRAIL = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_DIGITS = re.compile(r"[0-9]+")
_REFERENCE = re.compile(r"\\[1-9k]")
_PROPERTY = re.compile(r"\{([A-Za-z0-9_]+)(?:=([A-Za-z0-9_]+))?\}")
_TOKEN = re.compile(r"\\.|\[(?:[^\]\\]|\\.)*\]?|\((?!\?)|\(\?<(?![=!])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EcmaFlags:
    """The flags that change what a term means."""

    ignore_case: bool
    multiline: bool
    unicode: bool
    dot: CharSet
    word: CharSet
    casing: Casing

    @staticmethod
    @lru_cache(maxsize=32)
    def of(flags: str) -> EcmaFlags:
        """Read a flag string such as ``iu``."""
        unicode, ignore_case = "u" in flags, "i" in flags
        last = charset.LAST_CODE_POINT if unicode else charset.LAST_CODE_UNIT
        dot = ((0, last),) if "s" in flags else charset.complement(charset.ECMA_NEWLINES, last)
        casing = Casing.ECMA_UNICODE if unicode else Casing.ECMA
        word = close_under_case(charset.WORD, casing) if unicode and ignore_case else charset.WORD
        return EcmaFlags(ignore_case, "m" in flags, unicode, dot, word, casing)

    @property
    def last(self) -> int:
        """The largest code of a subject character."""
        return charset.LAST_CODE_POINT if self.unicode else charset.LAST_CODE_UNIT

    def anchor(self, character: str) -> syntax.Place:
        """What ``^`` or ``$`` asserts."""
        if character == "^":
            return syntax.Place.START_LINE if self.multiline else syntax.Place.START
        return syntax.Place.END_LINE if self.multiline else syntax.Place.END

    def close(self, ranges: CharSet) -> CharSet:
        """The set, with its case variants where case is ignored."""
        return close_under_case(ranges, self.casing) if self.ignore_case else ranges

    def set_of(self, code: int) -> CharSet:
        """The characters that a literal matches."""
        return self.close(charset.single(code))


class GroupScan(NamedTuple):
    """What must be known about the groups before the first term is read."""

    captures: int
    named: bool
    refers_back: bool


@lru_cache(maxsize=1024)
def literal_node(code: int, flags: EcmaFlags) -> syntax.Chars:
    """The node of a literal character."""
    return chars_node(flags.set_of(code))


def scan_groups(text: str) -> GroupScan:
    """Count the captures; without a digit or ``k`` after a backslash the count is of no use and is left 0."""
    if "\\" not in text or not _REFERENCE.search(text):
        return GroupScan(0, named=False, refers_back=False)
    captures, named, refers = 0, False, False
    for token in _TOKEN.finditer(text):
        found = token[0]
        if found[0] == "(":
            captures += 1
            named = named or found == "(?<"
        elif found[0] == "\\" and found[1] in "123456789k":
            refers = True
    return GroupScan(captures, named, refers)


def group_names(text: str, unicode_mode: bool) -> list[tuple[str, int]]:
    """The named groups with their numbers; a malformed name is left for the parser to refuse."""
    names: list[tuple[str, int]] = []
    captures = 0
    for token in _TOKEN.finditer(text):
        if token[0][0] != "(":
            continue
        captures += 1
        if token[0] == "(?<":
            try:
                name, _ = read_group_name(text, token.end(), unicode_mode)
            except InvalidPattern:
                continue
            names.append((name, captures))
    return names


def to_subject(text: str, unicode_mode: bool) -> str:
    """The text as the engine sees it: whole code points with ``u``, else one character for each code unit."""
    units = text.encode("utf-16-le", "surrogatepass")
    if unicode_mode:
        return units.decode("utf-16-le", "surrogatepass")
    return "".join(chr(units[i] | units[i + 1] << 8) for i in range(0, len(units), 2))


def read_digits(text: str, at: int) -> str:
    """The decimal digits at a position."""
    found = _DIGITS.match(text, at)
    return found[0] if found else ""


def read_group_name(text: str, at: int, unicode_mode: bool, what: str = "group") -> tuple[str, int]:
    """A name up to its ``>``, escapes resolved, and the position after it."""
    message = "Invalid named reference" if what == "reference" else "Invalid capture group name"
    name: list[str] = []
    while True:
        if at >= len(text):
            raise InvalidPattern(message, at)
        character = text[at]
        at += 1
        if character == ">":
            break
        if character == "\\":
            code, at = _name_escape(text, at, message)
            character = chr(code)
        elif "\ud800" <= character <= "\udbff" and "\udc00" <= text[at : at + 1] <= "\udfff":
            character = to_subject(character + text[at], unicode_mode=True)
            at += 1
        fits = character in "$_" or (character if not name else "a" + character).isidentifier()
        if not fits and not (name and character in "\u200c\u200d"):
            raise InvalidPattern(message, at)
        name.append(character)
    if not name:
        raise InvalidPattern(message, at)
    return "".join(name), at


def _name_escape(text: str, at: int, message: str) -> tuple[int, int]:
    """A ``\\u`` escape in a name; both spellings are allowed with and without the ``u`` flag."""
    if not text.startswith("u", at):
        raise InvalidPattern(message, at)
    code, end = _unicode_escape(text, at, unicode_mode=True)
    if code is None:
        raise InvalidPattern(message, at)
    return code, end


def _unicode_escape(text: str, at: int, unicode_mode: bool) -> tuple[int | None, int]:
    """The code of a ``\\u`` escape whose ``u`` stands at ``at``, or None where it is malformed."""
    if unicode_mode and (braced := _BRACED.match(text, at + 1)):
        digits = braced[1].lstrip("0") or "0"
        code = int(digits, 16) if len(digits) <= 6 else charset.LAST_CODE_POINT + 1
        return (code if code <= charset.LAST_CODE_POINT else None), braced.end()
    found = _HEX4.match(text, at + 1)
    if not found:
        return None, at
    code = int(found[0], 16)
    if unicode_mode and 0xD800 <= code <= 0xDBFF and (trail := _TRAIL.match(text, found.end())):
        return 0x10000 + ((code - 0xD800) << 10) + (int(trail[1], 16) - 0xDC00), trail.end()
    return code, found.end()


def read_escape(text: str, at: int, flags: EcmaFlags, named_groups: bool, in_class: bool) -> tuple[int | CharSet, int]:  # noqa: C901, PLR0912  # one case for each spelling
    """The escape at ``at``: a code point or a set, and the position after it."""
    if at + 1 >= len(text):
        raise InvalidPattern("\\ at end of pattern", at)
    character = text[at + 1]
    if character in "dDsSwW":
        return _class_escape(character, flags), at + 2
    if character in "pP" and flags.unicode:
        return _property_escape(text, at, flags)
    if character in _CONTROLS:
        return _CONTROLS[character], at + 2
    if character == "b" and in_class:
        return 0x08, at + 2
    if character == "c":
        return _control_escape(text, at, flags, in_class)
    if character in "0123456789":
        return _numeric_escape(text, at, flags, in_class)
    if character == "x":
        if found := _HEX2.match(text, at + 2):
            return int(found[0], 16), found.end()
    elif character == "u":
        code, end = _unicode_escape(text, at + 1, flags.unicode)
        if code is not None:
            return code, end
    elif flags.unicode:
        if character in _SYNTAX_CHARACTERS or (in_class and character == "-"):
            return ord(character), at + 2
    elif character != "k" or not named_groups:
        return ord(character), at + 2
    if flags.unicode or character == "k":
        raise InvalidPattern("Invalid escape", at)
    return ord(character), at + 2


@lru_cache(maxsize=64)
def _class_escape(character: str, flags: EcmaFlags) -> CharSet:
    ranges = {"d": charset.DIGITS, "s": charset.ECMA_SPACES, "w": flags.word}[character.lower()]
    return charset.complement(ranges, flags.last) if character.isupper() else ranges


def _property_escape(text: str, at: int, flags: EcmaFlags) -> tuple[CharSet, int]:
    found = _PROPERTY.match(text, at + 2)
    ranges = property_set(found[1], found[2]) if found else None
    if not found or ranges is None:
        raise InvalidPattern("Invalid property name", at)
    if text[at + 1] == "P":
        ranges = charset.complement(ranges, flags.last)
    return flags.close(ranges), found.end()


def _control_escape(text: str, at: int, flags: EcmaFlags, in_class: bool) -> tuple[int, int]:
    letter = text[at + 2 : at + 3]
    if letter.isascii() and letter.isalpha():
        return ord(letter) & 31, at + 3
    if flags.unicode:
        raise InvalidPattern("Invalid unicode escape", at)
    if in_class and letter and (letter in "0123456789_"):
        return ord(letter) & 31, at + 3
    return ord("\\"), at + 1


def _numeric_escape(text: str, at: int, flags: EcmaFlags, in_class: bool) -> tuple[int, int]:
    digit = text[at + 1]
    if flags.unicode:
        if digit == "0" and not read_digits(text, at + 2):
            return 0, at + 2
        raise InvalidPattern("Invalid class escape" if in_class else "Invalid decimal escape", at)
    found = _OCTAL.match(text, at + 1)
    if not found:
        return ord(digit), at + 2
    return int(found[0], 8), found.end()


def read_class(text: str, at: int, flags: EcmaFlags, named_groups: bool) -> tuple[CharSet, int]:
    """The class whose ``[`` stands at ``at``, and the position after its ``]``."""
    opening = at
    at += 1
    negated = text.startswith("^", at)
    at += negated
    parts: list[tuple[int, int]] = []
    while True:
        if at >= len(text):
            raise InvalidPattern("Unterminated character class", opening)
        if text[at] == "]":
            break
        low, at = _class_atom(text, at, flags, named_groups)
        if text.startswith("-", at) and at + 1 < len(text) and text[at + 1] != "]":
            high, end = _class_atom(text, at + 1, flags, named_groups)
            parts.extend(_class_range(low, high, at, flags))
            at = end
        else:
            parts.extend(((low, low),) if isinstance(low, int) else low)
    ranges = flags.close(charset.from_ranges(parts))
    return (charset.complement(ranges, flags.last) if negated else ranges), at + 1


def _class_atom(text: str, at: int, flags: EcmaFlags, named_groups: bool) -> tuple[int | CharSet, int]:
    if text[at] != "\\":
        return ord(text[at]), at + 1
    return read_escape(text, at, flags, named_groups, in_class=True)


def _class_range(low: int | CharSet, high: int | CharSet, at: int, flags: EcmaFlags) -> CharSet:
    """``low-high``; Annex B takes the dash literally where an end is a set."""
    if isinstance(low, int) and isinstance(high, int):
        if low > high:
            raise InvalidPattern("Range out of order in character class", at)
        return ((low, high),)
    if flags.unicode:
        raise InvalidPattern("Invalid character class", at)
    ends = [((end, end),) if isinstance(end, int) else end for end in (low, high)]
    return (*ends[0], *ends[1], (0x2D, 0x2D))
