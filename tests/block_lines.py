"""A memory block read back the way a strict reader would: what is an entry, what is an override, where it ends."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ENTRY = re.compile(r"- \[([^\[\]\s]+)\] ([^\[\]:]+): (.*)")
_OVERRIDE = re.compile(r" *↳ \[([^\[\]\s]+)\] (person|note): (.*)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line that states something: an entry has a key, an override the author of the value."""

    scope: str
    text: str
    key: str | None = None
    author: str | None = None

    def __str__(self) -> str:
        """As the golden cases write it."""
        return f"{self.scope} {self.key}" if self.key is not None else f"> {self.scope} {self.author}"


def block_lines(block: str) -> Sequence[Line]:
    """The entries and overrides of a block, in order; the fence must enclose it, and stand nowhere inside."""
    first, *inside, last = block.splitlines()
    assert (first, last) == ("<memory>", "</memory>")
    assert not [line for line in inside if re.search(r"<\s*/?\s*memory", line, re.IGNORECASE)]
    return [line for line in map(_read, inside) if line is not None]


def _read(line: str) -> Line | None:
    if line.startswith("- ["):
        entry = _ENTRY.fullmatch(line)
        assert entry is not None, line
        return Line(scope=entry[1], key=entry[2], text=entry[3])
    if line.lstrip().startswith("↳ ["):
        override = _OVERRIDE.fullmatch(line)
        assert override is not None, line
        return Line(scope=override[1], author={"person": "human", "note": "agent"}[override[2]], text=override[3])
    return None
