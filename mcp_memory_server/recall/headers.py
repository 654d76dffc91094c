"""`NoteHeader`: what is told of a note before anybody reads it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.records import MAX_KEY_CHARS, Kind, MemoryRecord, comes_along

_LINK = re.compile(r"\[\[([^\[\]]{1,200})\]\]")
_SPACES = re.compile(r"\s+")
# A fact has room for a few dozen; a foreign provider's text may hold any number.
_MOST_LINKS: Final = 64


@dataclass(frozen=True, slots=True)
class NoteHeader:
    """One note without its text. `id` is unique only together with `scope`.

    `description` stands in for the key in a manifest. `links` are the keys that the text names as `[[key]]`.
    `updated_at` carries a zone.
    """

    id: str
    scope: str
    key: str
    kind: Kind
    updated_at: datetime
    description: str | None = None
    pinned: bool = False
    links: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.updated_at.utcoffset() is None:
            raise InvalidInput.of("updated_at", "has no time zone; give an aware datetime")

    @classmethod
    def of(cls, record: MemoryRecord, description: str | None = None) -> NoteHeader:
        return cls(
            id=record.id,
            scope=record.scope,
            key=record.key,
            kind=record.kind,
            updated_at=datetime.fromisoformat(record.updated_at),
            description=description,
            pinned=comes_along(record),
            links=linked_keys(record.text),
        )


def linked_keys(text: str) -> tuple[str, ...]:
    """The keys that a text names as `[[key]]`, in order and without doubles; at most 64 are looked at."""
    found = (normal_link(match[1]) for match in islice(_LINK.finditer(text), _MOST_LINKS))
    return tuple(dict.fromkeys(key for key in found if 1 <= len(key) <= MAX_KEY_CHARS))


def normal_link(key: str) -> str:
    """A key as two spellings of it are compared: NFC, trimmed, inner whitespace collapsed, case kept."""
    return _SPACES.sub(" ", unicodedata.normalize("NFC", key)).strip()
