"""Aligned columns of text that is fit for a terminal already, and counts of things.

Loads nothing of the package, for commands that must start at once.
"""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import Final

_GAP: Final = "  "
_LEAST_WIDTH: Final = 16


def terminal_width() -> int | None:
    """How many columns a line may have; None where nobody looks at a screen."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def display_width(text: str) -> int:
    """The columns that a terminal gives to the text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def align(lines: Sequence[Sequence[str]], width: int | None, flexible: int) -> str:
    """Aligned columns, headings being the first line. Where lines would pass `width`, the flexible column is cut."""
    widths = [max(map(display_width, column)) for column in zip(*lines, strict=True)]
    if width is not None:
        spare = width - sum(widths) - len(_GAP) * (len(widths) - 1)
        widths[flexible] = min(widths[flexible], max(_LEAST_WIDTH, widths[flexible] + spare))
    return "\n".join(
        _GAP.join(_fitted(cell, size) for cell, size in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _fitted(cell: str, width: int) -> str:
    if display_width(cell) > width:
        while display_width(cell) > width - 1:
            cell = cell[:-1]
        cell += "…"
    return cell + " " * (width - display_width(cell))
