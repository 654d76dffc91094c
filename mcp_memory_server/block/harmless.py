"""Making what a record holds harmless: text that can open no fence, begin no line and pass for no other entry."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from mcp_memory_server.identity import MAX_SCOPE_CHARS
from mcp_memory_server.records import MAX_KEY_CHARS, visible_line, visible_lines

_BRACKET = re.compile("[<\uff1c\ufe64\u226e]")
"""What may open a tag, in every width; U+226E is one with a stroke through it."""
_FENCE_NAME: Final = "memory"
# Letters of other alphabets that look like those of the name, and Hangul fillers, which show nothing.
_LOOKS_LIKE: Final = str.maketrans(
    "\u043c\u1d0d\u0435\u1d07\u043e\u03bf\u0585\u1d0f\u0280\u0443\u03c5\u028f", "mmeeooooryyy", "\u115f\u1160"
)
_UNSAFE_IN_KEY = re.compile(r"[\[\]:]")
_UNSAFE_IN_SCOPE = re.compile(r"[\[\]\s]")


def without_fences(line: str) -> str:
    """The line, with a harmless character for each angle bracket that opens a tag of the fence's name.

    However it is spelled: case, width, font, spacing and alphabet do not count, nor do marks, joiners, slashes and
    whatever else stands between the letters.
    """
    if _BRACKET.search(line) is None:
        return line

    def replacement(bracket: re.Match[str]) -> str:
        return "\u2039" if _names_the_fence(line, bracket.end()) else bracket[0]

    return _BRACKET.sub(replacement, line)


def _names_the_fence(line: str, start: int) -> bool:
    letters = ""
    for place in range(start, len(line)):
        if _BRACKET.match(line, place):
            return False
        plain = unicodedata.normalize("NFKD", line[place]).casefold().translate(_LOOKS_LIKE)
        letters += "".join(part for part in plain if part.isalnum())
        if letters.startswith(_FENCE_NAME):
            return True
        if not _FENCE_NAME.startswith(letters):
            return False
    return False


def harmless_text(text: str, max_chars: int | None = None) -> str:
    """Text as it may stand after `key: ` in a line of the block, at most `max_chars` long.

    What is cut off is said: a foreign provider may hold longer facts than this server writes.
    """
    line = without_fences(visible_line(text))
    if max_chars is not None and len(line) > max_chars:
        return f"{line[:max_chars]}… (cut, {len(line)} characters)"
    return line


def harmless_lines(text: str) -> list[str]:
    """Text of several lines as it may stand behind a mark on each. A fence that is spread over lines is one too."""
    return without_fences("\n".join(visible_lines(text))).split("\n")


def harmless_key(key: str) -> str:
    """A key as it may stand before the colon of a line."""
    return shortened(_UNSAFE_IN_KEY.sub("_", harmless_text(key)), MAX_KEY_CHARS) or "_"


# The lines of a block share a few scopes, and so do the blocks of a process.
@lru_cache(maxsize=1024)
def harmless_scope(scope: str) -> str:
    """A scope as it may stand in square brackets."""
    return shortened(_UNSAFE_IN_SCOPE.sub("_", harmless_text(scope)), MAX_SCOPE_CHARS) or "_"


def shortened(name: str, max_chars: int) -> str:
    """Only a foreign provider holds names that are too long; the size of the block must not be theirs to choose."""
    return name if len(name) <= max_chars else f"{name[: max_chars - 1]}…"
