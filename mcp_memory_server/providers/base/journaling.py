"""The group `journal`: what was shown, by reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .history import HistoryProvider, VersionRef


@dataclass(frozen=True, slots=True)
class JournaledEntry:
    """One digest entry: the winning version, whether it was shown pinned, and the versions it outranked."""

    ref: VersionRef
    pinned: bool
    overrides: tuple[VersionRef, ...] = ()


@dataclass(frozen=True, slots=True)
class JournaledDigest:
    """What one turn was shown, by reference. `query_hash` is keyed with a secret of the store, or None."""

    digest_id: str
    actor_id: str
    at: str
    scopes: tuple[str, ...]
    entries: tuple[JournaledEntry, ...]
    omitted: int
    pinned_omitted: int
    recalled: bool
    turn_id: str | None = None
    query_hash: str | None = None
    signals: Mapping[str, str] = field(default_factory=dict[str, str])
    as_of: str | None = None
    known_at: str | None = None


@dataclass(frozen=True, slots=True)
class JournalLookup:
    """Exactly one of `digest_id` and `turn_id`. Only the actor's own entries are found."""

    actor_id: str
    digest_id: str | None = None
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class PruneRequest:
    """Drop journal entries older than the instant `before`, and then the oldest beyond `keep` entries.

    Only entries of actors whose id begins with `actors` are dropped, and counted toward `keep`. With `count_only`
    nothing is dropped: the answer is how many would be.
    """

    before: str
    keep: int
    actors: str = ""
    count_only: bool = False


class JournalingProvider(HistoryProvider, Protocol):
    async def journal(self, digests: Sequence[JournaledDigest]) -> None:
        """Append, durable on return.

        An entry whose `digest_id`, or whose (actor, turn), is journaled already is left as it was.
        """
        ...

    async def journaled(self, lookup: JournalLookup) -> JournaledDigest | None: ...

    async def prune_journal(self, request: PruneRequest) -> int:
        """How many entries were dropped."""
        ...

    async def journal_secret(self) -> bytes:
        """At least 32 random bytes that belong to this store, made at first use and the same ever after."""
        ...
