"""The group `write`: upserts and pins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from mcp_memory_server.records import (
    Episode,
    Extraction,
    Insight,
    Kind,
    MemoryOrigin,
    MemoryRecord,
    Owner,
    Provenance,
    Rule,
    Sensitivity,
    Status,
    WorkingBlock,
)

from .required import MemoryProvider


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """A fact to hold under (`scope`, `key`). Text, key and tags are normalised already; `at` is a UTC instant.

    `if_version` writes only over that version; 0 means only where there is no record yet. `sensitivity` unset keeps
    that of the fact that is replaced, and is `internal` for a new one. `supersedes` is the id of an active record at
    the same scope, under another key, whose place this one takes.
    """

    scope: str
    key: str
    text: str
    origin: MemoryOrigin
    at: str
    tags: tuple[str, ...] = ()
    valid_from: str | None = None
    valid_to: str | None = None
    kind: Kind = "semantic"
    provenance: Provenance | None = None
    status: Status = "active"
    owner: Owner | None = None
    sensitivity: Sensitivity | None = None
    importance: float | None = None
    confidence: float | None = None
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    extraction: Extraction | None = None
    supersedes: str | None = None
    derived_from: tuple[str, ...] = ()
    held_because: str | None = None
    archived_at: str | None = None
    rule: Rule | None = None
    episode: Episode | None = None
    working: WorkingBlock | None = None
    insight: Insight | None = None
    if_version: int | None = None


WriteStatus = Literal["stored", "replaced", "unchanged"]


@dataclass(frozen=True, slots=True)
class Written:
    """The record now current, and the one it replaced."""

    status: WriteStatus
    record: MemoryRecord
    previous: MemoryRecord | None = None


@dataclass(frozen=True, slots=True)
class PinRequest:
    """Set or clear the pin of one record. An operator's act."""

    scope: str
    id: str
    pinned: bool
    at: str


@dataclass(frozen=True, slots=True)
class ReviseRequest:
    """The current version of a record with something in it changed that makes it no other statement: counts, votes.

    `at` is when. Id, scope, key, text, origin, `created_at`, pin and status are not for it to change.
    """

    record: MemoryRecord
    at: str


class WritingProvider(MemoryProvider, Protocol):
    async def write(self, request: WriteRequest) -> Written:
        """Upsert on (`scope`, `key`), and on the thread where `kind` is `session` (`records.lane_of`).

        A new key is `stored` with a fresh id and version 1. The same text, tags and validity again is
        `unchanged`: nothing is written, unless the fact is archived, which stating it again ends. Otherwise the fact is
        `replaced`: id, `created_at` and `pinned` stay,
        the version rises by one, and the old value goes to history.

        A `quarantined` fact replaces nothing: it is `stored` beside the active one under an id of its own, unless
        that one, or a waiting one of the same `actor_ref`, says the same already.

        A record that it `supersedes` is closed with it, once the new one is active: as a version of its own, which
        ends when the new one was written and names it in `superseded_by`. Versions to come keep `supersedes`.

        Raises:
            Conflict: `if_version` is not that of the active fact, whatever is to be written; it carries the current
                version and text.
            InvalidInput: a value that no record can hold; a memory of another kind under that key, since a kind does
                not replace another; or `supersedes` names no active record at the scope, or the one that is replaced.
        """
        ...

    async def revise(self, request: ReviseRequest) -> Written | None:
        """Replace the current version by one with the request's other fields, wherever it stands: also one that waits.

        Id, scope, key, text, origin, `created_at`, pin and status stay, the version rises by one, and the old version
        goes to history. A record that is as it is held is `unchanged`. None when there is no such record at that
        scope; nothing happened then.

        Raises:
            Conflict: the current version is another one than the request's.
            InvalidInput: a value that no record can hold.
        """
        ...

    async def pin(self, request: PinRequest) -> MemoryRecord | None:
        """The record with its pin set as asked, version and `updated_at` unmoved. None when there is none."""
        ...
