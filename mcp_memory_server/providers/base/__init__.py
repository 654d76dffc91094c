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
  other name that is asked for, and is ignored in a query. So is a name of more than 256 characters that rows are found
  by (`versions.MAX_NAME_CHARS`): an id, a key, the thread of a session's fact, a subject or object, a turn, a digest, a
  conversation.
"""

from __future__ import annotations

from typing import TypeGuard

from .browsing import BrowsingProvider, PageCursor, PageRequest, ScopeCount, Stats
from .bulk import BulkProvider
from .carrying import (
    PARTS,
    AuditLine,
    Carried,
    CarryingProvider,
    CarryPage,
    CarryRequest,
    EntityId,
    HeldVectors,
    OrderPage,
    Part,
)
from .changing import Change, ChangeBatch, ChangingProvider
from .declaration import Capabilities, Group, WriteOption
from .entities import (
    Entity,
    EntityProvider,
    EntityRequest,
    LedgerRequest,
    MentionRequest,
    Merge,
    MergeRequest,
    UnmergeRequest,
)
from .filtering import SENSITIVITIES, SET_ASIDE_TOO, UNFILTERED, Filter, instant
from .history import HistoryProvider, HistoryRequest, VersionRef, VersionsRequest
from .journaling import JournaledDigest, JournaledEntry, JournalingProvider, JournalLookup, PruneRequest
from .maintaining import Condition, MaintainedProvider
from .required import Erasure, ForgetRequest, Forgotten, Listing, ListRequest, MemoryProvider
from .restoring import RestoreRequest, RestoringProvider
from .reviewing import Decision, ReviewingProvider, Settled, SettleRequest
from .searching import EmbeddedQuery, Hit, SearchingProvider, SearchRequest
from .surfacing import Surfaced, SurfacedLookup, SurfaceRequest, SurfacingProvider
from .vectors import RecordVectors, VectorCount, VectorProvider, VectorsWrite
from .writing import PinRequest, ReviseRequest, WriteRequest, WriteStatus, WritingProvider, Written

__all__ = [
    "PARTS",
    "SENSITIVITIES",
    "SET_ASIDE_TOO",
    "UNFILTERED",
    "AuditLine",
    "BrowsingProvider",
    "BulkProvider",
    "Capabilities",
    "Carried",
    "CarryPage",
    "CarryRequest",
    "CarryingProvider",
    "Change",
    "ChangeBatch",
    "ChangingProvider",
    "Condition",
    "Decision",
    "EmbeddedQuery",
    "Entity",
    "EntityId",
    "EntityProvider",
    "EntityRequest",
    "Erasure",
    "Filter",
    "ForgetRequest",
    "Forgotten",
    "Group",
    "HeldVectors",
    "HistoryProvider",
    "HistoryRequest",
    "Hit",
    "JournalLookup",
    "JournaledDigest",
    "JournaledEntry",
    "JournalingProvider",
    "LedgerRequest",
    "ListRequest",
    "Listing",
    "MaintainedProvider",
    "MemoryProvider",
    "MentionRequest",
    "Merge",
    "MergeRequest",
    "OrderPage",
    "PageCursor",
    "PageRequest",
    "Part",
    "PinRequest",
    "PruneRequest",
    "RecordVectors",
    "RestoreRequest",
    "RestoringProvider",
    "ReviewingProvider",
    "ReviseRequest",
    "ScopeCount",
    "SearchRequest",
    "SearchingProvider",
    "SettleRequest",
    "Settled",
    "Stats",
    "SurfaceRequest",
    "Surfaced",
    "SurfacedLookup",
    "SurfacingProvider",
    "UnmergeRequest",
    "VectorCount",
    "VectorProvider",
    "VectorsWrite",
    "VersionRef",
    "VersionsRequest",
    "WriteOption",
    "WriteRequest",
    "WriteStatus",
    "WritingProvider",
    "Written",
    "can_browse",
    "can_carry",
    "can_journal",
    "can_restore",
    "can_review",
    "can_search",
    "can_write",
    "can_write_many",
    "has_entities",
    "has_history",
    "holds_vectors",
    "instant",
    "is_maintained",
    "keeps_surfaced",
    "reports_changes",
]


def can_write(provider: MemoryProvider) -> TypeGuard[WritingProvider]:
    return Group.WRITE in provider.capabilities.groups


def can_write_many(provider: MemoryProvider) -> TypeGuard[BulkProvider]:
    return {Group.BULK, Group.WRITE} <= provider.capabilities.groups


def can_search(provider: MemoryProvider) -> TypeGuard[SearchingProvider]:
    return Group.SEARCH in provider.capabilities.groups


def holds_vectors(provider: MemoryProvider) -> TypeGuard[VectorProvider]:
    """Vectors serve search, so they need that group too."""
    return {Group.VECTORS, Group.SEARCH} <= provider.capabilities.groups


def has_entities(provider: MemoryProvider) -> TypeGuard[EntityProvider]:
    return Group.ENTITIES in provider.capabilities.groups


def has_history(provider: MemoryProvider) -> TypeGuard[HistoryProvider]:
    return Group.HISTORY in provider.capabilities.groups


def can_journal(provider: MemoryProvider) -> TypeGuard[JournalingProvider]:
    """A journal holds references to versions, so it needs the history group too."""
    return {Group.JOURNAL, Group.HISTORY} <= provider.capabilities.groups


def can_browse(provider: MemoryProvider) -> TypeGuard[BrowsingProvider]:
    return Group.BROWSE in provider.capabilities.groups


def can_carry(provider: MemoryProvider) -> TypeGuard[CarryingProvider]:
    return Group.CARRY in provider.capabilities.groups


def reports_changes(provider: MemoryProvider) -> TypeGuard[ChangingProvider]:
    return Group.CHANGES in provider.capabilities.groups


def is_maintained(provider: MemoryProvider) -> TypeGuard[MaintainedProvider]:
    return Group.MAINTAIN in provider.capabilities.groups


def keeps_surfaced(provider: MemoryProvider) -> TypeGuard[SurfacingProvider]:
    return Group.SURFACED in provider.capabilities.groups


def can_restore(provider: MemoryProvider) -> TypeGuard[RestoringProvider]:
    return {Group.RESTORE, Group.WRITE} <= provider.capabilities.groups


def can_review(provider: MemoryProvider) -> TypeGuard[ReviewingProvider]:
    return {Group.REVIEW, Group.WRITE} <= provider.capabilities.groups
