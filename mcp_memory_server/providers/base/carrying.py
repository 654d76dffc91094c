"""The group `carry`: what a store holds beside its records, for whoever takes a whole store to another one.

An operator's acts: they meet every scope and every actor, and belong to no caller. The records themselves travel by
`page`, `versions` and `restore`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, get_args

from .entities import Merge
from .journaling import JournaledDigest
from .required import MemoryProvider
from .surfacing import SurfaceRequest
from .vectors import RecordVectors

Part = Literal["entities", "merges", "audit", "journal", "surfaced", "vectors"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
"""What stands beside the records, in an order in which it can be taken in."""


@dataclass(frozen=True, slots=True)
class EntityId:
    """The id by which the ledger of merges names an entity. `folded` is its name as `entity_names` folds it."""

    scope: str
    folded: str
    id: str


@dataclass(frozen=True, slots=True)
class AuditLine:
    """What stays of an erased record: which one it was, who had it erased, when and why."""

    scope: str
    id: str
    by: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class HeldVectors:
    """The vectors of a record's current version, and the embedder that made them."""

    embedder: str
    vectors: RecordVectors


Carried = EntityId | Merge | AuditLine | JournaledDigest | SurfaceRequest | HeldVectors
"""A row of a part. A conversation's whole set is one row."""


@dataclass(frozen=True, slots=True)
class CarryRequest:
    """At most `limit` rows of a part behind the cursor `after` that the page before gave."""

    part: Part
    limit: int
    after: str | None = None


@dataclass(frozen=True, slots=True)
class CarryPage:
    """Rows, and the cursor behind the last one; None when these were the last."""

    rows: tuple[Carried, ...]
    after: str | None


@dataclass(frozen=True, slots=True)
class OrderPage:
    """The (scope, id) of records, and the cursor behind the last one; None when these were the last."""

    names: tuple[tuple[str, str], ...]
    after: str | None


class CarryingProvider(MemoryProvider, Protocol):
    async def in_order(self, limit: int, after: str | None = None) -> OrderPage:
        """A page of the records, those of a scope as they were first written: ranking knows neighbours by that.

        Whoever restores them in this order, keeps it.
        """
        ...

    async def carried(self, request: CarryRequest) -> CarryPage:
        """A page of a part. What is there all the while is met once; lines of the ledger in the order of writing."""
        ...

    async def carry(self, rows: Sequence[Carried]) -> None:
        """Take all of them in, or none. Taking the same in again changes nothing.

        - An entity gets the id, also in the ledger of its scope; one that no record names is left out.
        - A line of the ledger is added; one that is held and in force becomes as undone as the row.
        - An audit line is added unless just that line is held.
        - A digest is taken as by `journal`, a conversation's set as by `surface`, and vectors as by `put_vectors`,
          except where the version has vectors of that embedder.
        """
        ...

    async def audited(self, scope: str, ids: Sequence[str]) -> tuple[AuditLine, ...]:
        """What stays of erased records that had these ids at the scope, in any order."""
        ...

    async def adopt_secret(self, secret: bytes) -> None:
        """Let this be `journal_secret` from now on, so that what is keyed with it stays comparable."""
        ...
