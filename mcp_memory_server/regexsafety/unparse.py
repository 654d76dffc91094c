"""A tree as an ECMA-262 pattern for the Unicode mode."""

from __future__ import annotations

from . import charset, syntax
from .charset import CharSet
from .syntax import Mode, Node, Place

_SYNTAX_CHARACTERS = frozenset("^$\\.*+?()[]{}|/")
_CLASS_SYNTAX = frozenset("\\]^-[")
_SHORT: dict[CharSet, str] = {
    charset.DIGITS: "\\d",
    charset.complement(charset.DIGITS): "\\D",
    charset.WORD: "\\w",
    charset.complement(charset.WORD): "\\W",
    charset.ECMA_SPACES: "\\s",
    charset.complement(charset.ECMA_SPACES): "\\S",
    charset.complement(charset.ECMA_NEWLINES): ".",
    charset.ANYTHING: "[^]",
}
_PLACES = {Place.START: "^", Place.END: "$", Place.WORD: "\\b", Place.NOT_WORD: "\\B"}


class CannotWrite(Exception):
    """The tree holds something that has no plain spelling."""


def to_pattern(node: Node) -> str:
    """The text of a tree; raises CannotWrite for captures, lookarounds and what flags have changed."""
    match node:
        case syntax.Chars(ranges):
            return _SHORT.get(ranges) or _class(ranges)
        case syntax.Sequence(items):
            return "".join(_grouped(item) if isinstance(item, syntax.Choice) else to_pattern(item) for item in items)
        case syntax.Choice(branches):
            return "|".join(to_pattern(branch) for branch in branches)
        case syntax.Repeat(body, least, most, mode):
            if mode is Mode.POSSESSIVE:
                raise CannotWrite
            text = to_pattern(body) if isinstance(body, syntax.Chars) else _grouped(body)
            return text + _quantifier(least, most) + ("?" if mode is Mode.LAZY else "")
        case syntax.Anchor(place, ranges) if place in _PLACES and ranges in (charset.WORD, charset.ECMA_NEWLINES):
            return _PLACES[place]
        case _:
            raise CannotWrite


def _grouped(node: Node) -> str:
    return f"(?:{to_pattern(node)})"


def _quantifier(least: int, most: int | None) -> str:
    if most is None:
        return {0: "*", 1: "+"}.get(least, f"{{{least},}}")
    if (least, most) == (0, 1):
        return "?"
    return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


def _class(ranges: CharSet) -> str:
    if charset.size(ranges) == 1:
        return _literal(ranges[0][0], _SYNTAX_CHARACTERS)
    others = charset.complement(ranges)
    if len(others) < len(ranges):
        return "[^" + _members(others) + "]"
    return "[" + _members(ranges) + "]"


def _members(ranges: CharSet) -> str:
    parts: list[str] = []
    for low, high in ranges:
        parts.append(_literal(low, _CLASS_SYNTAX))
        if high > low:
            parts.append(("-" if high > low + 1 else "") + _literal(high, _CLASS_SYNTAX))
    return "".join(parts)


def _literal(code: int, special: frozenset[str]) -> str:
    character = chr(code)
    if character in special:
        return "\\" + character
    if character.isprintable() and character.isascii():
        return character
    return f"\\u{{{code:x}}}"
