"""What every provider does: list and forget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from mcp_memory_server.records import MemoryRecord, Status

from .declaration import Capabilities
from .filtering import UNFILTERED, Filter


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Which records to hand over; current ones unless `filter` asks for others.

    `ids`, `keys`, `statuses` and `filter` narrow which records match; ids and keys do so when they are not None, and
    each may name tens of thousands. `filter` may add quarantined ones to the statuses. `limit` counts distinct keys:
    the first ones in digest order (keys of which any matching record is pinned first, then by the scope of the key's
    narrowest matching record, newest, key).
    """

    scopes: tuple[str, ...]
    limit: int | None = None
    ids: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    statuses: tuple[Status, ...] = ("active",)
    filter: Filter = UNFILTERED


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
