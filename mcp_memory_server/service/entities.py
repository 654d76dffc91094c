"""Which names mean the same to whoever asks, and the records that hold them.

Entities belong to one scope each. To a request that several scopes apply to, a name means the same at all of them,
and so do names that were merged at any: what a person merged for themselves holds for what others wrote, in the eyes
of that person alone. Names are shown only as records spell them that may be shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_memory_server.errors import NotSupported
from mcp_memory_server.providers.base import (
    Entity,
    EntityProvider,
    EntityRequest,
    Filter,
    ListRequest,
    MemoryProvider,
    MentionRequest,
    has_entities,
)
from mcp_memory_server.providers.entity_names import fold_name
from mcp_memory_server.records import MemoryRecord

MOST_MENTIONS: Final = 200
"""How many of the newest records that name an entity are looked at."""

# A name leads to others at one scope, and those at the next: a chain longer than this is nobody's.
_MOST_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """What some names mean at some scopes: the folded names, and the entity of each scope that has one of them."""

    folded: frozenset[str]
    entities: tuple[Entity, ...]

    def is_named_by(self, name: str | None) -> bool:
        return name is not None and fold_name(name) in self.folded


def entity_provider(provider: MemoryProvider) -> EntityProvider:
    """The provider, when it knows entities.

    Raises:
        NotSupported: it does not.
    """
    if not has_entities(provider):
        raise NotSupported(provider.capabilities.provider, "tell entities apart", "Configure a store that can.")
    return provider


async def known_entities(provider: EntityProvider, scopes: Sequence[str], names: Iterable[str]) -> list[KnownEntity]:
    """The entities that the names lead to, each with all of its names at these scopes."""
    asked: Collection[str] = frozenset(filter(None, map(fold_name, names)))
    found: tuple[Entity, ...] = ()
    for _ in range(_MOST_ROUNDS):
        if not asked:
            break
        found = await provider.entities(EntityRequest(tuple(scopes), names=tuple(sorted(asked))))
        reached = frozenset(name for entity in found for name in _folded(entity))
        if reached <= asked:
            break
        asked = asked | reached
    return _joined([entity for entity in found if entity.scope in scopes])


def _folded(entity: Entity) -> frozenset[str]:
    return frozenset(map(fold_name, (entity.name, *entity.aliases)))


def _joined(entities: Iterable[Entity]) -> list[KnownEntity]:
    """One for all that share a name, whatever their scope; a root has the names of all that is merged into it."""
    joined: list[KnownEntity] = []
    for entity in entities:
        names, members = _folded(entity), (entity,)
        apart: list[KnownEntity] = []
        for known in joined:
            if known.folded.isdisjoint(names):
                apart.append(known)
            else:
                names, members = names | known.folded, known.entities + members
        joined = [*apart, KnownEntity(names, members)]
    return joined


async def records_naming(
    provider: EntityProvider,
    scopes: Sequence[str],
    known: Sequence[KnownEntity],
    seen: Filter,
    limit: int = MOST_MENTIONS,
) -> list[MemoryRecord]:
    """Of the newest `limit` records that name one of the entities those that the filter lets answer, newest first."""
    ids = tuple(entity.id for each in known for entity in each.entities)
    if not ids:
        return []
    mentioning = await provider.mentions(MentionRequest(tuple(scopes), ids, limit))
    listing = await provider.list(ListRequest(tuple(scopes), ids=mentioning, filter=seen))
    # By an older version, or by a scope that does not apply, a record may be among them that is none of these.
    named = [record for record in listing.records if record.scope in scopes and names(record, known)]
    return sorted(named, key=lambda record: record.updated_at, reverse=True)


def names(record: MemoryRecord, known: Sequence[KnownEntity]) -> list[int]:
    """The places in `known` of the entities that a record names; none when nothing may be derived from it."""
    if record.extraction == "skip":
        return []
    return [
        place for place, each in enumerate(known) if each.is_named_by(record.subject) or each.is_named_by(record.object)
    ]


def spellings(records: Iterable[MemoryRecord], known: KnownEntity) -> list[str]:
    """How the records spell the entity: by the names of the roots first, and then the usual spelling first."""
    spelled = Counter(
        name for record in records for name in (record.subject, record.object) if name and known.is_named_by(name)
    )
    roots = [fold_name(entity.name) for entity in known.entities if entity.merged_into is None]

    def place(name: str) -> int:
        folded = fold_name(name)
        return roots.index(folded) if folded in roots else len(roots)

    return sorted(spelled, key=lambda name: (place(name), -spelled[name], name))
