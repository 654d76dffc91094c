"""The seam between the service and a store: small protocols over frozen request objects.

`list` and `forget` are what every provider does. Every further group is a protocol of its own, declared in
`Capabilities.groups`; ask the declaration (`can_write`, `can_search`, ...), never the object. The contract
suite (`mcp_memory_server.providers.contract`) holds declaration and behaviour together, and checks every
sentence below.

For all of them:

- **Scope.** A request names the scopes it may touch and the provider filters by them in its query, before
  anything is ranked or counted. What lies outside is neither returned nor counted nor changed.
- **Atomicity.** A call happens whole or not at all, also when it is cancelled, when the process is killed and
  when several processes share the store. What was acknowledged survives a crash.
- **Errors.** `StoreBusy` (nothing happened, try again), `StoreUnavailable` (also after the provider was closed),
  `StoreDamaged`. No driver's own error gets out, and no message holds a record's text.
- **Strings.** Any text comes back as it was given, NUL included. Half of a surrogate pair, which UTF-8 cannot
  hold, is refused in what is written (`InvalidInput`, nothing happened), matches nothing in a scope, id, key or
  other name that is asked for, and is ignored in a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, TypeGuard

from mcp_memory_server.records import (
    Extraction,
    Kind,
    MemoryOrigin,
    MemoryRecord,
    Owner,
    Provenance,
    Sensitivity,
    Status,
)

if TYPE_CHECKING:
    from mcp_memory_server.ranking import QueryVectors


class Group(StrEnum):
    """An optional group of calls that a provider may declare."""

    WRITE = "write"
    SEARCH = "search"
    HISTORY = "history"
    JOURNAL = "journal"
    BROWSE = "browse"
    CHANGES = "changes"
    RESTORE = "restore"
    MAINTAIN = "maintain"
    VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider declares: its name in messages, and the groups it has."""

    provider: str
    groups: frozenset[Group] = frozenset()


# --- required -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Which current records to hand over.

    `ids`, `keys` and `statuses` narrow which records match; ids and keys do so when they are not None, and each
    may name tens of thousands. `limit` counts distinct keys: the first ones in digest order (keys of which any
    matching record is pinned first, then by the scope of the key's narrowest matching record, newest, key).
    """

    scopes: tuple[str, ...]
    limit: int | None = None
    ids: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    statuses: tuple[Status, ...] = ("active",)


@dataclass(frozen=True, slots=True)
class Listing:
    """Every matching record of each listed key, and how many keys there are beyond `limit`.

    `keys` and `pinned_keys` count all distinct keys that match, listed or not.
    """

    records: tuple[MemoryRecord, ...]
    keys: int
    pinned_keys: int


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """Erase one record. `scope` must be the record's own; `by` and `reason` go into the audit line."""

    scope: str
    id: str
    by: str
    at: str
    reason: str = "requested"


Erasure = Literal["done", "pending"]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was erased. `pending`: gone from every answer, but a foreign reader still holds bytes of it.

    Whichever process of ours next can, completes a pending erasure.
    """

    id: str
    key: str
    scope: str
    erasure: Erasure


class MemoryProvider(Protocol):
    """What every store can do."""

    @property
    def capabilities(self) -> Capabilities:
        """Constant while the provider is open."""
        ...

    async def list(self, request: ListRequest) -> Listing:
        """The matching records, in digest order of their keys; records of one key by scope order."""
        ...

    async def forget(self, request: ForgetRequest) -> Forgotten | None:
        """Erase the record, its history, its index entries and its text in the journal.

        After `done` the bytes of the text are in no file of the store. What stays is an audit line without
        content. None when there is no such record at that scope; nothing happened then.
        """
        ...


# --- write --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """A fact to hold under (`scope`, `key`). Text, key and tags are normalised already; `at` is a UTC instant.

    `if_version` writes only over that version; 0 means only where there is no record yet.
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
    sensitivity: Sensitivity = "internal"
    importance: float | None = None
    confidence: float | None = None
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    extraction: Extraction | None = None
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


class WritingProvider(MemoryProvider, Protocol):
    async def write(self, request: WriteRequest) -> Written:
        """Upsert on (`scope`, `key`).

        A new key is `stored` with a fresh id and version 1. The same text, tags and validity again is
        `unchanged`: nothing is written. Otherwise the fact is `replaced`: id, `created_at` and `pinned` stay,
        the version rises by one, and the old value goes to history.

        Raises:
            Conflict: `if_version` does not match, whatever is to be written; it carries the current version and text.
            InvalidInput: a value that no record can hold.
        """
        ...

    async def pin(self, request: PinRequest) -> MemoryRecord | None:
        """The record with its pin set as asked, version and `updated_at` unmoved. None when there is none."""
        ...


# --- search -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A question as the embedder of that id sees it: compared with vectors of the same id only."""

    embedder: str
    vectors: QueryVectors


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question in plain text: never a query language, any string at all. `at` anchors relative dates.

    `embedded` is used by providers of the group `vectors`, for the records whose vectors they hold; words decide
    about the others. `with_unrelated` ranks every record at the scopes, also those that have nothing to do with the
    question: for whoever picks from the ranking himself, or measures it.
    """

    scopes: tuple[str, ...]
    query: str
    limit: int
    at: str
    embedded: EmbeddedQuery | None = None
    with_unrelated: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that search returned. `signals` says why; pins and companions of a ranked key may score 0."""

    record: MemoryRecord
    score: float
    signals: Mapping[str, float] = field(default_factory=dict[str, float])


class SearchingProvider(MemoryProvider, Protocol):
    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The best-matching keys, best first, at most `limit` of them; no keys when nothing matches.

        Every active record that shares a returned key at the scopes comes along, and every active record of every
        key that has a pinned one there. Pinned keys do not count toward `limit`; those that do not rank among
        them stand last, in digest order. The records of a key stand together. Ranking depends on active records at the
        requested scopes only.
        """
        ...


# --- history ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    scopes: tuple[str, ...]
    id: str


@dataclass(frozen=True, slots=True)
class VersionRef:
    """One version of one record: what the journal holds in place of text."""

    id: str
    version: int


@dataclass(frozen=True, slots=True)
class VersionsRequest:
    scopes: tuple[str, ...]
    refs: tuple[VersionRef, ...]


class HistoryProvider(MemoryProvider, Protocol):
    async def history(self, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
        """Every version of the record, oldest first, the current one last; empty when it is not at the scopes.

        A replaced version is closed: `superseded_by` names the record's id, and `valid_to` is when it was
        replaced, unless it had ended before.
        """
        ...

    async def versions(self, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
        """Versions as they were when current, not closed. Erased and foreign ones are absent."""
        ...


# --- journal ------------------------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class JournalLookup:
    """Exactly one of `digest_id` and `turn_id`. Only the actor's own entries are found."""

    actor_id: str
    digest_id: str | None = None
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class PruneRequest:
    """Drop journal entries older than the instant `before`, and then the oldest beyond `keep` entries."""

    before: str
    keep: int


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


# --- browse -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Records of one scope in order of key, after the key `after`, at most `limit` of them."""

    scope: str
    limit: int
    after: str | None = None


@dataclass(frozen=True, slots=True)
class ScopeCount:
    scope: str
    records: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts at the requested scopes, and the state of the store. `details` are shown to operators only.

    Records are counted in every status; `versions` counts them and the versions they replaced. `by_scope` has the
    requested scopes that hold a record, in the order requested; `by_kind` and `by_status` what occurs.
    `last_write` is the newest `updated_at` there.
    """

    records: int
    pinned: int
    versions: int
    by_scope: tuple[ScopeCount, ...]
    by_kind: Mapping[str, int]
    by_status: Mapping[str, int]
    last_write: str | None
    pending_erasures: int
    details: Mapping[str, str | int] = field(default_factory=dict[str, "str | int"])


class BrowsingProvider(MemoryProvider, Protocol):
    async def page(self, request: PageRequest) -> tuple[MemoryRecord, ...]:
        """All statuses; fewer than `limit` records means that these were the last."""
        ...

    async def scopes(self) -> tuple[str, ...]:
        """Every scope that holds a record, sorted. Administrative: it names what callers must not see."""
        ...

    async def stats(self, scopes: Sequence[str]) -> Stats: ...


# --- changes ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """A record at `scope` was written, pinned or erased."""

    scope: str
    id: str


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Changes after a cursor, oldest first, the same record once or several times.

    `gap`: some were pruned meanwhile, or this store never gave that cursor, so anything may have changed.
    """

    cursor: int
    changes: tuple[Change, ...]
    gap: bool = False


class ChangingProvider(MemoryProvider, Protocol):
    async def changes(self, after: int | None) -> ChangeBatch:
        """What changed since the cursor `after`, by any process on this store. None asks for the cursor only.

        A call that left everything as it was (`unchanged`, refused, a pin that was set already) is no change.
        Cheap when nothing changed: it is polled several times a second.
        """
        ...


# --- restore ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """Records to take in as they are, ids, times, versions and pins included.

    Each tuple is one record's versions, oldest first, the current one last; `at` stamps the change feed.
    """

    records: tuple[tuple[MemoryRecord, ...], ...]
    at: str


class RestoringProvider(WritingProvider, Protocol):
    async def restore(self, request: RestoreRequest) -> int:
        """Take all of them in, in order, or none; how many were new or changed.

        A record whose id is held already, or whose (`scope`, `key`) is, is replaced with its history.

        Raises:
            InvalidInput: see `versions.check_restorable`; nothing was taken in.
        """
        ...


# --- maintain -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of a store, for its operator only: facts by name, what is wrong, and what is worth knowing.

    Each fault says what to do about it. None of it holds a record's text.
    """

    details: Mapping[str, str | int]
    faults: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class MaintainedProvider(MemoryProvider, Protocol):
    async def examine(self) -> Condition:
        """Look at all of the store. What can be mended is, and pending erasures are completed, before that.

        It takes as long as reading everything; a sound store stays as it is.
        """
        ...


# --- vectors ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordVectors:
    """One version's vectors, as `embedding.encode_records` makes them."""

    scope: str
    ref: VersionRef
    pooled: bytes
    tokens: bytes | None = None


@dataclass(frozen=True, slots=True)
class VectorsWrite:
    """Vectors that the embedder of that id made."""

    embedder: str
    records: tuple[RecordVectors, ...]


@dataclass(frozen=True, slots=True)
class VectorCount:
    """How many records can be found, and how many of them have vectors of an embedder."""

    searchable: int
    embedded: int


class VectorProvider(SearchingProvider, Protocol):
    """Vectors beside the records. The work of the operator's embedder, over the whole store."""

    async def unembedded(self, embedder: str, limit: int) -> tuple[MemoryRecord, ...]:
        """At most `limit` records that search can find and that have no vectors of this embedder."""
        ...

    async def put_vectors(self, request: VectorsWrite) -> int:
        """Hold the vectors of those versions that are still current; how many were.

        They replace vectors of another embedder. A new version of a record has none, and forgetting takes them.
        """
        ...

    async def count_vectors(self, embedder: str) -> VectorCount: ...


# --- asking the declaration ---------------------------------------------------------------------------


def can_write(provider: MemoryProvider) -> TypeGuard[WritingProvider]:
    return Group.WRITE in provider.capabilities.groups


def can_search(provider: MemoryProvider) -> TypeGuard[SearchingProvider]:
    return Group.SEARCH in provider.capabilities.groups


def holds_vectors(provider: MemoryProvider) -> TypeGuard[VectorProvider]:
    """Vectors serve search, so they need that group too."""
    return {Group.VECTORS, Group.SEARCH} <= provider.capabilities.groups


def has_history(provider: MemoryProvider) -> TypeGuard[HistoryProvider]:
    return Group.HISTORY in provider.capabilities.groups


def can_journal(provider: MemoryProvider) -> TypeGuard[JournalingProvider]:
    """A journal holds references to versions, so it needs the history group too."""
    return {Group.JOURNAL, Group.HISTORY} <= provider.capabilities.groups


def can_browse(provider: MemoryProvider) -> TypeGuard[BrowsingProvider]:
    return Group.BROWSE in provider.capabilities.groups


def reports_changes(provider: MemoryProvider) -> TypeGuard[ChangingProvider]:
    return Group.CHANGES in provider.capabilities.groups


def is_maintained(provider: MemoryProvider) -> TypeGuard[MaintainedProvider]:
    return Group.MAINTAIN in provider.capabilities.groups


def can_restore(provider: MemoryProvider) -> TypeGuard[RestoringProvider]:
    return {Group.RESTORE, Group.WRITE} <= provider.capabilities.groups
