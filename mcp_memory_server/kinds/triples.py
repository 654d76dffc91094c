"""Triples: the names of what a fact is about, and of what it says of it."""

from __future__ import annotations

import re
from typing import Final

from mcp_memory_server.records import MemoryRecord, normal_text

MAX_NAME_CHARS: Final = 100

TRIPLE: Final = ("subject", "predicate", "object")
"""The parts of a triple, in the order in which they read."""


def normal_name(argument: str, given: str) -> str:
    """A part of a triple as it is stored: one visible line of 1 to 100 code points, inner whitespace collapsed.

    Raises:
        InvalidInput: blank, too long or holding a lone surrogate.
    """
    return re.sub(r"\s+", " ", normal_text(given, MAX_NAME_CHARS, argument))


def names_of(record: MemoryRecord) -> dict[str, str]:
    """The parts of the triple that a record has, by argument."""
    given = {name: getattr(record, name) for name in TRIPLE}
    return {name: said for name, said in given.items() if said is not None}
