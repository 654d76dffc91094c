"""Entities, by the versions that name them, and the ledger of merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from uuid6 import uuid7

from mcp_memory_server.providers.base import (
    Entity,
    EntityId,
    EntityRequest,
    LedgerRequest,
    MentionRequest,
    Merge,
    MergeRequest,
    UnmergeRequest,
)
from mcp_memory_server.providers.entity_names import (
    NamedEntity,
    check_merge,
    fold_name,
    mentions_of,
    roots_of,
    shown,
)
from mcp_memory_server.records import MemoryRecord

_Spelled = tuple[str, str]
"""The folded name of an entity and how a version spells it."""


class Entities:
    """Follows the versions that are held. An entity whose last mention went is gone at the next `sweep`."""

    def __init__(self) -> None:
        self._ids: dict[str, dict[str, str]] = {}
        """By scope, then by folded name."""
        self._mentions: dict[str, dict[str, Counter[_Spelled]]] = {}
        """By scope, then by record."""
        self._ledger: dict[str, Merge] = {}

    def put(self, versions: Sequence[MemoryRecord]) -> None:
        """These are the versions of a record now."""
        record = versions[-1]
        self.drop(record.scope, record.id)
        spelled = Counter(
            (fold_name(mention.spelling), mention.spelling) for version in versions for mention in mentions_of(version)
        )
        if spelled:
            self._mentions.setdefault(record.scope, {})[record.id] = spelled
            known = self._ids.setdefault(record.scope, {})
            for folded, _ in spelled:
                known.setdefault(folded, str(uuid7()))

    def drop(self, scope: str, record_id: str) -> None:
        """The record is gone from that scope."""
        self._mentions.get(scope, {}).pop(record_id, None)

    def sweep(self, scope: str) -> None:
        """Erase the entities at the scope that nothing names any more."""
        named = {folded for folded, _ in chain.from_iterable(self._mentions.get(scope, {}).values())}
        known = self._ids.get(scope, {})
        self._ids[scope] = {folded: id for folded, id in known.items() if folded in named}

    def sweep_all(self) -> None:
        """The same at every scope."""
        for scope in list(self._ids):
            self.sweep(scope)

    def find(self, request: EntityRequest) -> tuple[Entity, ...]:
        scopes = dict.fromkeys(request.scopes)
        return tuple(entity for scope in scopes for entity in self._found(scope, request))

    def _found(self, scope: str, request: EntityRequest) -> Iterator[Entity]:
        roots = self._roots(scope)
        held = sorted(self._ids.get(scope, {}).items())
        wanted = {roots.get(id, id) for folded, id in held if _is_asked_for(request, folded, id)}
        spelled = sum(self._mentions.get(scope, {}).values(), Counter[_Spelled]())
        among = [
            NamedEntity(id, scope, folded, Counter({name: n for (of, name), n in spelled.items() if of == folded}))
            for folded, id in held
            if roots.get(id, id) in wanted
        ]
        return iter(shown(among, roots))

    def mentions(self, request: MentionRequest, current: Mapping[str, MemoryRecord]) -> tuple[str, ...]:
        """`current` is the current version of each record at the scopes, by id."""
        naming: list[str] = []
        for scope in dict.fromkeys(request.scopes):
            asked = EntityRequest((scope,), ids=request.entities)
            ids = {entity.id for entity in self._found(scope, asked)}
            folded = {name for name, id in self._ids.get(scope, {}).items() if id in ids}
            records = self._mentions.get(scope, {}).items()
            naming += [id for id, spelled in records if any(name in folded for name, _ in spelled)]
        naming.sort()
        naming.sort(key=lambda id: current[id].updated_at, reverse=True)
        return tuple(naming[: request.limit])

    def merge(self, request: MergeRequest) -> Merge | None:
        here = set(self._ids.get(request.scope, {}).values())
        if not {request.source, request.target} <= here:
            return None
        check_merge(request, self._roots(request.scope))
        merge = Merge(str(uuid7()), request.scope, request.source, request.target, request.by, request.at)
        self._ledger[merge.id] = merge
        return merge

    def unmerge(self, request: UnmergeRequest) -> Merge | None:
        merge = self._ledger.get(request.merge)
        if merge is None or merge.scope != request.scope or merge.undone_at is not None:
            return None
        self._ledger[merge.id] = replace(merge, undone_by=request.by, undone_at=request.at)
        return self._ledger[merge.id]

    def ledger(self, request: LedgerRequest) -> tuple[Merge, ...]:
        return tuple(self._lines(request.scopes))

    def ids(self) -> Iterator[EntityId]:
        """Every entity, by scope and folded name."""
        return (
            EntityId(scope, name, id)
            for scope, known in sorted(self._ids.items())
            for name, id in sorted(known.items())
        )

    def lines(self) -> Iterator[Merge]:
        """The ledger of all scopes."""
        return iter(self._ledger.values())

    def adopt(self, entity: EntityId) -> None:
        """Let the entity have that id, in the ledger too, if it is there and no other has it."""
        known = self._ids.get(entity.scope, {})
        old = known.get(entity.folded)
        if old is None or any(entity.id in ids.values() for ids in self._ids.values()):
            return
        known[entity.folded] = entity.id
        for line in list(self._lines((entity.scope,))):
            source, target = (entity.id if id == old else id for id in (line.source, line.target))
            self._ledger[line.id] = replace(line, source=source, target=target)

    def take(self, line: Merge) -> None:
        """Add a line to the ledger; one that is held and in force becomes as undone as that."""
        held = self._ledger.get(line.id)
        if held is None:
            self._ledger[line.id] = line
        elif held.undone_at is None:
            self._ledger[line.id] = replace(held, undone_by=line.undone_by, undone_at=line.undone_at)

    def _lines(self, scopes: Iterable[str]) -> Iterator[Merge]:
        wanted = set(scopes)
        return (merge for merge in self._ledger.values() if merge.scope in wanted)

    def _roots(self, scope: str) -> Mapping[str, str]:
        return roots_of(self._lines((scope,)), self._ids.get(scope, {}).values())


def _is_asked_for(request: EntityRequest, folded: str, id: str) -> bool:
    if request.names is None and request.ids is None:
        return True
    names = set(map(fold_name, request.names or ()))
    return folded in names or id in (request.ids or ())
