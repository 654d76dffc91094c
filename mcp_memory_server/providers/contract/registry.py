"""How a check is declared, and what it comes to where a provider lacks its groups."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from mcp_memory_server.errors import NotSupported
from mcp_memory_server.providers.base import (
    CarryRequest,
    EntityRequest,
    Group,
    HistoryRequest,
    JournalLookup,
    LedgerRequest,
    MemoryProvider,
    MentionRequest,
    MergeRequest,
    PageRequest,
    PinRequest,
    PruneRequest,
    RestoreRequest,
    ReviseRequest,
    SettleRequest,
    SurfacedLookup,
    SurfaceRequest,
    UnmergeRequest,
    VectorsWrite,
    VersionsRequest,
)

from .samples import ANN, minute, question, raw_record, requested, writing
from .store import Store

if not __debug__:
    raise RuntimeError("The checks are assertions: run them without -O")

CheckFunction = Callable[[Store], Awaitable[None]]
Outcome = Literal["held", "absent"]

CALLS: Final[Mapping[Group, Mapping[str, tuple[Any, ...]]]] = {
    Group.WRITE: {
        "write": (writing("key", "text"),),
        "revise": (ReviseRequest(raw_record("id", "key", "text"), at=minute(0)),),
        "pin": (PinRequest(ANN, "id", pinned=True, at=minute(0)),),
    },
    Group.BULK: {"write_many": ((),)},
    Group.SEARCH: {"search": (question("text"),)},
    Group.HISTORY: {"history": (HistoryRequest((ANN,), "id"),), "versions": (VersionsRequest((ANN,), ()),)},
    Group.JOURNAL: {
        "journal": ((),),
        "journaled": (JournalLookup("ann", digest_id="id"),),
        "prune_journal": (PruneRequest(minute(0), keep=0),),
        "journal_secret": (),
    },
    Group.BROWSE: {"page": (PageRequest(ANN, limit=1),), "scopes": (), "stats": ((ANN,),)},
    Group.CHANGES: {"changes": (None,)},
    Group.RESTORE: {"restore": (RestoreRequest((), at=minute(0)),)},
    Group.MAINTAIN: {"examine": (), "record_maintenance": (minute(0),)},
    Group.REVIEW: {"settle": (SettleRequest(ANN, "id", "reject", at=minute(0), by="ann"),)},
    Group.ENTITIES: {
        "entities": (EntityRequest((ANN,)),),
        "mentions": (MentionRequest((ANN,), (), limit=1),),
        "merge": (MergeRequest(ANN, "one", "other", by="ann", at=minute(0)),),
        "unmerge": (UnmergeRequest(ANN, "id", by="ann", at=minute(0)),),
        "merges": (LedgerRequest((ANN,)),),
    },
    Group.SURFACED: {
        "surface": (SurfaceRequest("ann", "talk", minute(0), ()),),
        "surfaced": (SurfacedLookup("ann", "talk"),),
        "prune_surfaced": (PruneRequest(minute(0), keep=0),),
    },
    Group.CARRY: {
        "in_order": (1,),
        "carried": (CarryRequest("audit", limit=1),),
        "carry": ((),),
        "audited": (ANN, ()),
        "adopt_secret": (bytes(32),),
    },
    Group.VECTORS: {
        "unembedded": ("toy", 1),
        "put_vectors": (VectorsWrite("toy", ()),),
        "count_vectors": ("toy",),
    },
}
"""Every call of every optional group, with arguments that any provider of that group takes."""


@dataclass(frozen=True, slots=True)
class Check:
    """One sentence of the seam, and the groups that a provider must declare for it to apply."""

    name: str
    groups: frozenset[Group]
    function: CheckFunction

    async def run(self, store: Store) -> Outcome:
        """Hold the provider to the sentence; where it lacks a group, to the calls of that group being absent.

        Raises:
            AssertionError: the provider does not keep the contract.
        """
        async with store.open() as provider:
            missing = self.groups - provider.capabilities.groups
            for group in sorted(missing):
                await _assert_absent(provider, group)
        if missing:
            return "absent"
        await self.function(store)
        return "held"


def check(*groups: Group) -> Callable[[CheckFunction], Check]:
    """Declare a check that calls nothing beyond `list`, `forget` and these groups."""

    def declare(function: CheckFunction) -> Check:
        return Check(getattr(function, "__name__", repr(function)), frozenset(groups), function)

    return declare


async def _assert_absent(provider: MemoryProvider, group: Group) -> None:
    """What is not declared has no method, or one that refuses; and it has left nothing behind."""
    for name, arguments in CALLS[group].items():
        method = getattr(provider, name, None)
        if method is None:
            continue
        try:
            await method(*arguments)
        except NotSupported:
            continue
        raise AssertionError(f"{name} works, but the provider does not declare {group.value!r}")
    listing = await provider.list(requested())
    assert not listing.records, f"an undeclared {group.value!r} call changed the store"
