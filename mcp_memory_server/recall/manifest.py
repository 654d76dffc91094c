"""The manifest: one line a note, from which a selector picks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from mcp_memory_server.block import harmless_key, harmless_scope, harmless_text
from mcp_memory_server.errors import InvalidInput

from .age import format_age
from .budget import largest
from .headers import NoteHeader
from .surfaced import encode_surfaced_key

_MAX_DESCRIPTION_CHARS: Final = 160
_PLAIN_ID = re.compile(r"[\w@#][\w.@#:/-]{0,63}", re.ASCII)
# No plain id begins with it.
_STAND_IN: Final = "~"
# More than any selector has reason to name; what is beyond is not even looked at.
_MOST_IDS_READ: Final = 1_000


@dataclass(frozen=True, slots=True)
class ManifestLimits:
    """How long a manifest may become: in lines, and in bytes of UTF-8, the line that says what is missing included.

    Raises:
        InvalidInput: no line, or too few bytes for saying that something is missing.
    """

    max_lines: int = 200
    max_bytes: int = 16_384

    def __post_init__(self) -> None:
        for name, value, least in (("max_lines", self.max_lines, 1), ("max_bytes", self.max_bytes, 64)):
            if value < least:
                raise InvalidInput.of(name, f"is {value}; a manifest has at least {least}")

    def hold(self, lines: Sequence[str]) -> bool:
        return len(lines) <= self.max_lines and len("\n".join(lines).encode()) <= self.max_bytes


@dataclass(frozen=True, slots=True)
class Manifest:
    """The lines, the notes that have one, and how many have none because of the limits."""

    text: str
    listed: tuple[NoteHeader, ...]
    omitted: int

    @property
    def named(self) -> tuple[tuple[NoteHeader, str], ...]:
        """Each listed note, and a name by which a selection can mean it."""
        return tuple(zip(self.listed, shown_ids(self.listed), strict=True))


def build_manifest(headers: Iterable[NoteHeader], now: datetime, limits: ManifestLimits | None = None) -> Manifest:
    """One line for each note, in the order given, as many as the limits hold: `- id (kind, age) key`.

    The description stands in place of the key where there is one, and the scope beside the age where the notes are of
    several. Whatever the notes hold, each is one line, and none looks like an entry of the block or breaks its fence.
    """
    notes, held = tuple(headers), limits or ManifestLimits()
    layered = len({note.scope for note in notes}) > 1
    # What is beyond the limit is not even rendered: a scope may hold a hundred thousand notes.
    rendered = [
        manifest_line(note, shown_id, now, with_scope=layered)
        for note, shown_id in zip(notes[: held.max_lines], shown_ids(notes), strict=False)
    ]

    def lines(first: int) -> list[str]:
        return [*rendered[:first], *left_out(len(notes) - first)]

    count = largest(len(rendered), lambda first: held.hold(lines(first)))
    return Manifest("\n".join(lines(count)), notes[:count], len(notes) - count)


def left_out(count: int) -> list[str]:
    """The line that says how many notes a list leaves out; none where it leaves out none."""
    return [f"({count} more {'is' if count == 1 else 'are'} not listed)"] if count else []


def manifest_line(note: NoteHeader, shown_id: str, now: datetime, *, with_scope: bool) -> str:
    """The line of a note. What it says of itself stands last, so that it cannot pass for its kind or age."""
    facts = [note.kind, *(["pinned"] if note.pinned else []), format_age(now - note.updated_at)]
    if with_scope:
        facts.append(harmless_scope(note.scope))
    described = harmless_text(note.description or "", _MAX_DESCRIPTION_CHARS)
    return f"- {shown_id} ({', '.join(facts)}) {described or harmless_key(note.key)}"


# --- ids ----------------------------------------------------------------------------------------------


def shown_ids(headers: Sequence[NoteHeader]) -> tuple[str, ...]:
    """How each note is called in a manifest of these: by its id, or by a stand-in that is as good.

    A stand-in (`~` and the surfaced key) is used where an id is shared by notes of several scopes, and where it could
    not be shown as it is: ids of foreign providers may hold anything.
    """
    uses = Counter(header.id for header in headers)
    return tuple(
        header.id if uses[header.id] == 1 and _PLAIN_ID.fullmatch(header.id) else _stand_in(header)
        for header in headers
    )


def _stand_in(header: NoteHeader) -> str:
    return f"{_STAND_IN}{encode_surfaced_key(header.scope, header.id)}"


def validate_selected_ids(headers: Sequence[NoteHeader], ids: Iterable[object], max: int = 5) -> tuple[NoteHeader, ...]:
    """The notes that a selector named, in its order: only listed ones, each once, at most `max`.

    `headers` are those listed in its manifest, and `ids` whatever it answered. An id that several scopes share, taken
    as it is, means the first of them: scopes go from narrow to wide.
    """
    named = _by_name(headers)
    chosen: dict[int, NoteHeader] = {}
    for id in islice(ids, _MOST_IDS_READ):
        place = named.get(id.strip(), named.get(id)) if isinstance(id, str) else None
        if place is not None and len(chosen) < max:
            chosen[place] = headers[place]
    return tuple(chosen.values())


def _by_name(headers: Sequence[NoteHeader]) -> Mapping[str, int]:
    """Places by shown id, by stand-in, and by id where that is shown otherwise. No id passes for another's stand-in."""
    named: dict[str, int] = {}
    for names in (shown_ids(headers), map(_stand_in, headers), (header.id for header in headers)):
        for place, name in enumerate(names):
            named.setdefault(name, place)
    return named
