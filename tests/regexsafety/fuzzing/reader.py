"""Turns a fuzzer's bytes into patterns, subjects and JSON, so that a mutation of a byte is a mutation of sense."""

from __future__ import annotations

from dataclasses import dataclass

from tests.regexsafety.patterns import ECMA_PIECES, PYTHON_PIECES

PIECES = tuple(dict.fromkeys((*ECMA_PIECES, *PYTHON_PIECES)))[:120]
_WIDE = 0x7F
"""A byte that announces a code point in the three bytes after it. Bytes above it are ASCII, those below it pieces."""
_LAST_CODE_POINT = 0x10FFFF
_KEYS = (
    "pattern", "patternProperties", "properties", "items", "$ref", "allOf", "not", "$defs", "oneOf", "anyOf", "if",
    "then", "contains", "maxContains", "additionalProperties", "maxLength", "$dynamicRef", "const", "enum", "type",
    "dependencies", "prefixItems", "definitions", "default",
)  # fmt: skip
_VALUES: tuple[object, ...] = (
    "(a|a)*b", "(\\w|a)*", "#", "#/$defs/x", "[", "a*a*$", "^a$", "x", "#/items/0", "#/properties/pattern", "string",
    True, False, None, 0, 5, -1, 1e308, float("nan"), "#/~1", "#/%24defs/x", "", "(a+)+$", "\\p{L", "a" * 40,
)  # fmt: skip


@dataclass(slots=True)
class Reader:
    """Reads a byte string from its front; behind its end there are zeros."""

    data: bytes
    at: int = 0

    @property
    def empty(self) -> bool:
        """Whether all is read."""
        return self.at >= len(self.data)

    def below(self, limit: int) -> int:
        """A number from 0 up to a limit."""
        return self._byte() % limit

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def text(self, pieces: tuple[str, ...] = PIECES, keep: int = 0) -> str:
        """What the bytes spell, except for the last few that are kept for other uses."""
        parts: list[str] = []
        while self.at < len(self.data) - keep:
            byte = self._byte()
            if byte < _WIDE:
                parts.append(pieces[byte % len(pieces)])
            elif byte == _WIDE:
                code = self._byte() << 16 | self._byte() << 8 | self._byte()
                parts.append(chr(code % (_LAST_CODE_POINT + 1)))
            else:
                parts.append(chr(byte - 128))
        return "".join(parts)

    def json(self, depth: int = 6) -> object:
        """A value that may be a schema; keywords, references and patterns are more likely than other text."""
        kind = self.below(6)
        if self.empty or depth == 0 or kind == 0:
            return _VALUES[self.below(len(_VALUES))]
        if kind == 1:
            return [self.json(depth - 1) for _ in range(self.below(4))]
        return {self._key(): self.json(depth - 1) for _ in range(1 + self.below(4))}

    def _key(self) -> str:
        number = self.below(len(_KEYS) + 4)
        if number < len(_KEYS):
            return _KEYS[number]
        value = _VALUES[self.below(len(_VALUES))]
        return value if isinstance(value, str) else "x"


def spelled(text: str) -> bytes:
    """Bytes from which ``text`` is read back, as seeds for the fuzzer."""
    return b"".join(bytes((ord(c) + 128,)) if c.isascii() else bytes((_WIDE, *ord(c).to_bytes(3, "big"))) for c in text)
