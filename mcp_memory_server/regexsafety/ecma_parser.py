"""ECMA-262 patterns, with and without ``u``, Annex B included: accepts and refuses what V8 does."""

from __future__ import annotations

import re

from . import charset, ecma_escapes, syntax
from .builder import Frame, InvalidPattern, ParsedPattern, TreeBuilder, UnsupportedPattern, chars_node, literal
from .ecma_escapes import EcmaFlags

_QUANTIFIER = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_SIMPLE_QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_GROUP_OPENINGS = (
    ("(?:", "plain", False),
    ("(?=", "ahead", False),
    ("(?!", "ahead", True),
    ("(?<=", "behind", False),
    ("(?<!", "behind", True),
)
_COUNT_LIMIT = 10**9
"""Larger counts are the same as this one: no subject string is that long."""
FLAG_LETTERS = "dgimsuvy"
_MOST_CAPTURES = 32_767


def parse_ecma(pattern: str, flags: str = "") -> ParsedPattern:
    """Parse as V8 does.

    Raises InvalidPattern for what does not compile there, UnsupportedPattern for the ``v`` flag.
    """
    if len(set(flags)) != len(flags) or not set(flags) <= set(FLAG_LETTERS) or {"u", "v"} <= set(flags):
        raise InvalidPattern(f"Invalid flags '{flags}' (known: {FLAG_LETTERS}, each once, u and v not together)", 0)
    if "v" in flags:
        raise UnsupportedPattern("set notation (the v flag) is not analysed")
    text = pattern
    if not text.isascii():
        text = ecma_escapes.to_subject(pattern, unicode_mode="u" in flags)
    return _EcmaParser(text, EcmaFlags.of(flags)).parse(sticky="y" in flags)


class _EcmaParser:
    """One pass over the text; ``at`` is the position of the next unread character."""

    def __init__(self, text: str, flags: EcmaFlags) -> None:
        self._text = text
        self._flags = flags
        self._at = 0
        self._captures = 0
        self._scan = ecma_escapes.scan_groups(text)
        self._names: dict[str, int] = {}
        self._named_references: list[tuple[str, int]] = []
        self._pending_names: list[tuple[str, int]] = []
        refers = self._scan.refers_back
        self._builder = TreeBuilder(keep_captures=refers)
        if refers:
            self._collect_names()

    def _collect_names(self) -> None:
        """Number the named groups beforehand, since a reference may come first."""
        for name, index in ecma_escapes.group_names(self._text, self._flags.unicode):
            self._names.setdefault(name, index)

    def parse(self, sticky: bool) -> ParsedPattern:
        """Read the whole text."""
        text, builder = self._text, self._builder
        special = "^$()|*+?{}[].\\"
        seen_names: set[str] = set()
        while self._at < len(text):
            start = self._at
            character = text[start]
            if character not in special:
                self._at += 1
                builder.add(ecma_escapes.literal_node(ord(character), self._flags))
            elif not self._special(character, seen_names):
                continue
            self._quantifier(start)
        if builder.depth:
            raise InvalidPattern("Unterminated group", builder.frame.start)
        last = charset.LAST_CODE_POINT if self._flags.unicode else charset.LAST_CODE_UNIT
        return ParsedPattern(builder.finish(), last, conditional_captures=True, sticky=sticky)

    def _special(self, character: str, seen_names: set[str]) -> bool:  # noqa: C901  # one case for each spelling
        """Read a term that begins with a special character; True when a quantifier may follow."""
        builder, start = self._builder, self._at
        match character:
            case "(":
                self._open_group(seen_names)
                return False
            case ")":
                return self._close_group()
            case "|":
                self._at += 1
                builder.alternate()
                return False
            case "^" | "$":
                self._at += 1
                builder.add(syntax.Anchor(self._flags.anchor(character), charset.ECMA_NEWLINES))
                return False
            case ".":
                self._at += 1
                builder.add(chars_node(self._flags.dot))
                return True
            case "[":
                ranges, self._at = ecma_escapes.read_class(self._text, start, self._flags, self._scan.named)
                builder.add(chars_node(ranges))
                return True
            case "\\":
                return self._escape()
            case "{" if not self._flags.unicode and not _QUANTIFIER.match(self._text, start):
                self._at += 1
                builder.add(literal(ord("{")))
                return True
            case "}" | "]":
                if self._flags.unicode:
                    raise InvalidPattern("Lone quantifier brackets", start)
                self._at += 1
                builder.add(literal(ord(character)))
                return True
            case _:
                raise InvalidPattern("Nothing to repeat", start)

    def _open_group(self, seen_names: set[str]) -> None:
        text, start = self._text, self._at
        if not text.startswith("(?", start):
            self._at += 1
            self._open_capture(start)
            return
        for opening, kind, negative in _GROUP_OPENINGS:
            if text.startswith(opening, start):
                self._at += len(opening)
                self._builder.open(Frame(kind, start, negative=negative))
                return
        if not text.startswith("(?<", start):
            raise InvalidPattern("Invalid group", start)
        name, self._at = ecma_escapes.read_group_name(text, start + 3, self._flags.unicode)
        if name in seen_names:
            raise InvalidPattern("Duplicate capture group name", start)
        seen_names.add(name)
        self._open_capture(start)

    def _open_capture(self, start: int) -> None:
        self._captures += 1
        if self._captures > _MOST_CAPTURES:
            raise InvalidPattern("Too many captures", start)
        self._builder.open(Frame("capture", start, index=self._captures))

    def _close_group(self) -> bool:
        if not self._builder.depth:
            raise InvalidPattern("Unmatched ')'", self._at)
        self._at += 1
        frame = self._builder.close()
        # A group's quantifier is read here, since its span begins at the parenthesis. Lookbehinds take none.
        if frame.kind != "behind" and not (frame.kind == "ahead" and self._flags.unicode):
            self._quantifier(frame.start)
        return False

    def _escape(self) -> bool:
        """Read an escape outside a class; True when a quantifier may follow."""
        text, start, flags, builder = self._text, self._at, self._flags, self._builder
        following = text[start + 1 : start + 2]
        if following in ("b", "B") and following:
            self._at += 2
            place = syntax.Place.WORD if following == "b" else syntax.Place.NOT_WORD
            builder.add(syntax.Anchor(place, flags.word))
            return False
        if following == "k" and (flags.unicode or self._scan.named):
            self._named_reference(start)
            return True
        if following and following in "123456789":
            digits = ecma_escapes.read_digits(text, start + 1)
            index = int(digits[:6])
            if index <= self._scan.captures:
                self._at += 1 + len(digits)
                builder.add(syntax.Reference(index, flags.ignore_case))
                return True
            if flags.unicode:
                raise InvalidPattern("Invalid escape", start)
        ranges, self._at = ecma_escapes.read_escape(text, start, flags, self._scan.named, in_class=False)
        builder.add(chars_node(ranges if not isinstance(ranges, int) else flags.set_of(ranges)))
        return True

    def _named_reference(self, start: int) -> None:
        if not self._text.startswith("\\k<", start):
            raise InvalidPattern("Invalid named reference", start)
        name, self._at = ecma_escapes.read_group_name(self._text, start + 3, self._flags.unicode, "reference")
        if name not in self._names:
            raise InvalidPattern("Invalid named capture referenced", start)
        self._builder.add(syntax.Reference(self._names[name], self._flags.ignore_case))

    def _quantifier(self, start: int) -> None:
        """Apply the quantifier that may stand at ``at`` to the term that began at ``start``."""
        text = self._text
        if self._at >= len(text):
            return
        character = text[self._at]
        if character in _SIMPLE_QUANTIFIERS:
            least, most = _SIMPLE_QUANTIFIERS[character]
            self._at += 1
        elif character == "{":
            found = _QUANTIFIER.match(text, self._at)
            if found is None:
                if self._flags.unicode:
                    raise InvalidPattern("Incomplete quantifier", self._at)
                return
            least, most = read_counts(found)
            if most is not None and most < least:
                raise InvalidPattern("numbers out of order in {} quantifier", self._at)
            self._at = found.end()
        else:
            return
        mode = syntax.Mode.GREEDY
        if text.startswith("?", self._at):
            mode = syntax.Mode.LAZY
            self._at += 1
        self._builder.repeat(least, most, mode, syntax.Span(start, self._at))


def read_counts(found: re.Match[str]) -> tuple[int, int | None]:
    """The bounds of ``{m}``, ``{m,}`` or ``{m,n}``; huge ones saturate."""
    least = saturated(found[1])
    if not found[2]:
        return least, least
    return least, saturated(found[3]) if found[3] else None


def saturated(digits: str) -> int:
    """The number, or a limit that no subject string reaches."""
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) < 10 else _COUNT_LIMIT
