"""Patterns of Python's ``re`` for text, as CPython 3.11 and later compile them."""

from __future__ import annotations

import re

from . import charset, python_escapes, syntax
from .builder import Frame, InvalidPattern, ParsedPattern, TreeBuilder, UnsupportedPattern, chars_node
from .python_escapes import PythonFlags
from .widths import Width, width

_QUANTIFIER = re.compile(r"\{([0-9]*)(?:(,)([0-9]*))?\}")
_SIMPLE_QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_MOST_ROUNDS = 4_294_967_295
_DEEPEST = 120
"""Groups inside one another; CPython's own parser fails on a few hundred, depending on its stack."""
_LOOKS = (("(?=", "ahead", False), ("(?!", "ahead", True), ("(?<=", "behind", False), ("(?<!", "behind", True))
_CATEGORIES = frozenset("dDsSwW")
_NOTHING, _ANCHOR, _REPEAT, _TERM = range(4)
"""What the last term of a branch was, for the quantifier that may follow."""


def parse_python(pattern: str, flags: str = "") -> ParsedPattern:
    """Parse as ``re.compile`` does.

    Raises InvalidPattern for what does not compile there, UnsupportedPattern for very deep nesting.
    """
    if not set(flags) <= set(python_escapes.FLAG_LETTERS) or "L" in flags or {"a", "u"} <= set(flags):
        known = python_escapes.FLAG_LETTERS.replace("L", "")  # which is for bytes
        raise InvalidPattern(f"invalid flags '{flags}' (known: {known}, a and u not together)", 0)
    parser = _PythonParser(pattern, PythonFlags.of(flags))
    try:
        return parser.parse()
    except _VerboseFound:
        # The flag may stand behind text that was read without it; the engine starts over as well.
        return _PythonParser(pattern, PythonFlags.of(flags + "x")).parse()


class _VerboseFound(Exception):
    """A global ``x`` flag inside the pattern."""


class _PythonParser:
    """One pass over the text; ``at`` is the position of the next unread character."""

    def __init__(self, text: str, flags: PythonFlags) -> None:
        self._text = text
        self._flags = flags
        self._at = 0
        self._groups = 1
        self._names: dict[str, int] = {}
        self._widths: dict[int, Width] = {}
        refers = "\\" in text or "(?P=" in text or "(?(" in text
        self._builder = TreeBuilder(keep_captures=refers, join_sets=True)
        self._last = [_NOTHING]
        self._outer_flags: list[PythonFlags] = []
        self._lookbehind_groups: list[int] = []
        self._conditions: list[int] = []
        self._term_start = 0
        self._seen_types = ""

    def parse(self) -> ParsedPattern:
        """Read the whole text."""
        text, builder = self._text, self._builder
        while self._at < len(text):
            character = text[self._at]
            if self._flags.verbose and self._skip_verbose(character):
                continue
            self._term(character)
        if builder.depth:
            raise InvalidPattern("missing ), unterminated subpattern", builder.frame.start)
        for index in self._conditions:
            if index >= self._groups:
                raise InvalidPattern("invalid group reference", 0)
        return ParsedPattern(builder.finish(), charset.LAST_CODE_POINT, conditional_captures=False)

    def _skip_verbose(self, character: str) -> bool:
        if character in " \t\n\r\v\f":
            self._at += 1
            return True
        if character == "#":
            end = python_escapes.comment_end(self._text, self._at, "\n")
            self._at = len(self._text) if end is None else end
            return True
        return False

    def _add(self, node: syntax.Node, kind: int = _TERM) -> None:
        self._builder.add(node)
        self._last[-1] = kind

    def _term(self, character: str) -> None:
        start = self._at
        match character:
            case "(":
                self._open_group()
            case ")":
                self._close_group()
            case "|":
                if self._builder.frame.kind == "conditional" and self._builder.frame.branches:
                    raise InvalidPattern("conditional backref with more than two branches", start)
                self._at += 1
                self._builder.alternate()
                self._last[-1] = _NOTHING
            case "^" | "$":
                self._at += 1
                self._add(self._flags.anchor(character), _ANCHOR)
            case "*" | "+" | "?" | "{":
                self._quantifier(character)
            case _:
                self._single(character)

    def _single(self, character: str) -> None:
        """A term of one character, and the quantifier behind it."""
        start = self._at
        if character == ".":
            self._at += 1
            node: syntax.Node = chars_node(self._flags.dot)
        elif character == "[":
            ranges, self._at = python_escapes.read_class(self._text, start, self._flags)
            node = chars_node(ranges)
        elif character == "\\":
            node = self._escape()
        else:
            self._at += 1
            node = self._literal(ord(character))
        self._add(node, _ANCHOR if isinstance(node, syntax.Anchor) else _TERM)
        self._term_start = start

    def _literal(self, code: int) -> syntax.Chars:
        return chars_node(self._flags.close(charset.single(code)))

    def _escape(self) -> syntax.Node:
        text, start = self._text, self._at
        letter = text[start + 1 : start + 2]
        if letter and letter in "AZbB":
            self._at += 2
            newline = charset.single(0x0A)
            if letter in "AZ":
                return syntax.Anchor(syntax.Place.START if letter == "A" else syntax.Place.END, newline)
            return syntax.Anchor(syntax.Place.WORD if letter == "b" else syntax.Place.NOT_WORD, self._flags.word)
        if letter in _CATEGORIES:
            self._at += 2
            return chars_node(self._flags.close(python_escapes.category_set(letter, self._flags)))
        if letter and letter in "123456789":
            value, is_group, self._at = python_escapes.read_reference(text, start)
            return self._reference(value, start) if is_group else self._literal(value)
        code, self._at = python_escapes.read_character_escape(text, start, in_class=False)
        return self._literal(code)

    def _reference(self, index: int, start: int) -> syntax.Node:
        if index >= self._groups:
            raise InvalidPattern("invalid group reference", start)
        if index not in self._widths:
            raise InvalidPattern("cannot refer to an open group", start)
        self._check_lookbehind(index, start)
        return syntax.Reference(index, self._flags.ignore_case)

    def _check_lookbehind(self, index: int, start: int) -> None:
        if self._lookbehind_groups:
            if index not in self._widths:
                raise InvalidPattern("cannot refer to an open group", start)
            if index >= self._lookbehind_groups[0]:
                raise InvalidPattern("cannot refer to group defined in the same lookbehind subpattern", start)

    def _quantifier(self, character: str) -> None:
        text, start = self._text, self._at
        if character == "{":
            found = _QUANTIFIER.match(text, start)
            if not found or found[0] == "{}":
                self._single_brace()
                return
            least, most = self._counts(found)
            self._at = found.end()
        else:
            least, most = _SIMPLE_QUANTIFIERS[character]
            self._at += 1
        if self._last[-1] in (_NOTHING, _ANCHOR):
            raise InvalidPattern("nothing to repeat", start)
        if self._last[-1] == _REPEAT:
            raise InvalidPattern("multiple repeat", start)
        mode = syntax.Mode.GREEDY
        if text.startswith("?", self._at):
            mode = syntax.Mode.LAZY
            self._at += 1
        elif text.startswith("+", self._at):
            mode = syntax.Mode.POSSESSIVE
            self._at += 1
        self._builder.repeat(least, most, mode, syntax.Span(self._term_start, self._at))
        self._last[-1] = _REPEAT

    def _single_brace(self) -> None:
        start = self._at
        self._at += 1
        self._add(self._literal(ord("{")))
        self._term_start = start

    def _counts(self, found: re.Match[str]) -> tuple[int, int | None]:
        least = int(found[1][-11:] or 0)
        most = int(found[3][-11:]) if found[3] else None if found[2] else least
        if least >= _MOST_ROUNDS or (most is not None and most >= _MOST_ROUNDS):
            raise InvalidPattern("the repetition number is too large", self._at)
        if most is not None and most < least:
            raise InvalidPattern("min repeat greater than max repeat", self._at)
        return least, most

    def _open_group(self) -> None:  # noqa: C901  # one case for each spelling
        text, start = self._text, self._at
        if self._builder.depth >= _DEEPEST:
            raise UnsupportedPattern("groups are nested too deeply")
        if not text.startswith("(?", start):
            self._at += 1
            self._push(Frame("capture", start, index=self._new_group()), self._flags)
            return
        for opening, kind, negative in _LOOKS:
            if text.startswith(opening, start):
                self._at += len(opening)
                if kind == "behind":
                    self._lookbehind_groups.append(self._groups)
                self._push(Frame(kind, start, negative=negative), self._flags)
                return
        marker = text[start + 2 : start + 3]
        self._at += 3
        match marker:
            case ":" | ">":
                self._push(Frame("plain" if marker == ":" else "atomic", start), self._flags)
            case "#":
                end = python_escapes.comment_end(text, self._at, ")")
                if end is None:
                    raise InvalidPattern("missing ), unterminated comment", start)
                self._at = end
            case "P":
                self._named(start)
            case "(":
                self._conditional(start)
            case _:
                self._at = start + 2
                self._inline_flags(start)

    def _push(self, frame: Frame, flags: PythonFlags) -> None:
        self._builder.open(frame)
        self._last.append(_NOTHING)
        self._outer_flags.append(self._flags)
        self._flags = flags

    def _new_group(self) -> int:
        self._groups += 1
        return self._groups - 1

    def _named(self, start: int) -> None:
        following = self._text[self._at : self._at + 1]
        self._at += 1
        if following == "<":
            name, self._at = python_escapes.read_until(self._text, self._at, ">")
            if not name.isidentifier():
                raise InvalidPattern("bad character in group name", start)
            index = self._new_group()
            if name in self._names:
                raise InvalidPattern("redefinition of group name", start)
            self._names[name] = index
            self._push(Frame("capture", start, index=index), self._flags)
        elif following == "=":
            name, self._at = python_escapes.read_until(self._text, self._at, ")")
            if name not in self._names:
                raise InvalidPattern("unknown group name", start)
            self._add(self._reference(self._names[name], start))
            self._term_start = start
        else:
            raise InvalidPattern("unknown extension ?P", start)

    def _conditional(self, start: int) -> None:
        name, self._at = python_escapes.read_until(self._text, self._at, ")")
        if name.isdecimal() and name.isascii():
            index = int(name[-9:])
            if index == 0:
                raise InvalidPattern("bad group number", start)
            self._conditions.append(index)
        elif name in self._names:
            index = self._names[name]
        else:
            raise InvalidPattern("unknown group name", start)
        self._check_lookbehind(index, start)
        self._push(Frame("conditional", start, index=index), self._flags)

    def _inline_flags(self, start: int) -> None:
        added, removed, closing, self._at = python_escapes.read_inline_flags(self._text, self._at)
        if closing == ":":
            self._push(Frame("plain", start), self._flags.changed(added, removed))
            return
        frame = self._builder.frame
        if not added or self._builder.depth or frame.branches or frame.items:
            raise InvalidPattern("global flags not at the start of the expression", start)
        if "x" in added and not self._flags.verbose:
            raise _VerboseFound
        if ("a" in added and "u" in self._seen_types) or ("u" in added and self._flags.ascii):
            raise InvalidPattern("ASCII and UNICODE flags are incompatible", start)
        self._seen_types += "".join(letter for letter in added if letter in "au")
        self._flags = self._flags.changed(added, "")

    def _close_group(self) -> None:
        if not self._builder.depth:
            raise InvalidPattern("unbalanced parenthesis", self._at)
        self._at += 1
        self._last.pop()
        self._flags = self._outer_flags.pop()
        frame = self._builder.close()
        self._last[-1] = _TERM
        self._term_start = frame.start
        node = self._builder.frame.items[-1]
        if frame.kind == "capture":
            self._widths[frame.index] = width(node, self._widths)
        elif frame.kind == "behind":
            self._lookbehind_groups.pop()
            assert isinstance(node, syntax.Look)
            least, most = width(node.body, self._widths)
            if least != most:
                raise InvalidPattern("look-behind requires fixed-width pattern", frame.start)
