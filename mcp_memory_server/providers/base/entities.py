"""The group `entities`: what the triples of records are about, and which names mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .required import MemoryProvider


@dataclass(frozen=True, slots=True)
class Entity:
    """What `subject` or `object` of records at one scope name, whatever the case and spacing.

    `name` is the spelling used most, `aliases` are the other ones; those of a root include every spelling of the
    entities merged into it. `merged_into` is the id of that root, None for a root.
    """

    id: str
    scope: str
    name: str
    aliases: tuple[str, ...] = ()
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class EntityRequest:
    """Entities at the scopes: all of them, or those of these ids and those that have one of these names.

    An entity that is asked for brings along every other one that it is merged with. Names may be spelled in any way.
    """

    scopes: tuple[str, ...]
    names: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class MentionRequest:
    """At most `limit` records at the scopes of which a version names one of these entities, newest first."""

    scopes: tuple[str, ...]
    entities: tuple[str, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """Say that two entities at one scope, by id, are the same."""

    scope: str
    source: str
    target: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class UnmergeRequest:
    """Take back what one line of the ledger says."""

    scope: str
    merge: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class LedgerRequest:
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """A line of the ledger: who said when that two entities are the same, and who took it back when.

    It holds ids alone. Either entity may be gone since: a pointer that may dangle.
    """

    id: str
    scope: str
    source: str
    target: str
    by: str
    at: str
    undone_by: str | None = None
    undone_at: str | None = None


class EntityProvider(MemoryProvider, Protocol):
    """Entities come and go with the records that name them.

    A version of a record brings the entities of its `subject` and `object` when it is active and was not written
    with `extraction="skip"`. They stay while that version is held, as history too, and keep their ids; erasing
    the last one that names them erases them with every spelling.
    """

    async def entities(self, request: EntityRequest) -> tuple[Entity, ...]:
        """By the order of the scopes, then by folded name. `merged_into` points straight at a root."""
        ...

    async def mentions(self, request: MentionRequest) -> tuple[str, ...]:
        """Ids of records, by `updated_at` of their current version; entities merged with those named count too."""
        ...

    async def merge(self, request: MergeRequest) -> Merge | None:
        """Merge, and note it in the ledger. None when there are no two such entities at that scope.

        What is merged follows from the lines of the ledger that are in force, in their order: each puts the root of
        its source under the root of its target. An entity that is gone still joins what was merged by way of it.

        Raises:
            InvalidInput: they are one entity already, so that it would be a circle.
        """
        ...

    async def unmerge(self, request: UnmergeRequest) -> Merge | None:
        """Take a line of the ledger back, and all is as if it had never been said; the line stays, with who did it.

        None when no such line is in force at that scope.
        """
        ...

    async def merges(self, request: LedgerRequest) -> tuple[Merge, ...]:
        """The ledger of the scopes, in the order in which its lines were written."""
        ...
