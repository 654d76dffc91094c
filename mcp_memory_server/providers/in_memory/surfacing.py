"""Which records each conversation was shown."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from mcp_memory_server.providers.base import PruneRequest, Surfaced, SurfacedLookup, SurfaceRequest
from mcp_memory_server.providers.versions import check_surfacing

_Place = tuple[str, str]
"""Scope and id of a record."""


@dataclass(slots=True)
class _Set:
    at: str
    versions: dict[_Place, int] = field(default_factory=dict[_Place, int])


class SurfacedSets:
    """By actor and conversation, in the order in which they were begun."""

    def __init__(self) -> None:
        self._sets: dict[tuple[str, str], _Set] = {}

    def add(self, request: SurfaceRequest, held: Container[_Place]) -> None:
        check_surfacing(request)
        shown = self._sets.setdefault((request.actor_id, request.conversation_id), _Set(request.at))
        shown.at = max(shown.at, request.at)
        for one in request.shown:
            if (place := (one.scope, one.id)) in held:
                shown.versions[place] = max(one.version, shown.versions.get(place, 0))

    def find(self, lookup: SurfacedLookup) -> tuple[Surfaced, ...]:
        found = self._sets.get((lookup.actor_id, lookup.conversation_id))
        versions = sorted(found.versions.items()) if found else ()
        return tuple(Surfaced(scope, id, version) for (scope, id), version in versions)

    def all(self) -> Iterator[SurfaceRequest]:
        """Every set, by actor and conversation."""
        for (actor_id, conversation_id), held in sorted(self._sets.items(), key=lambda item: item[0]):
            shown = self.find(SurfacedLookup(actor_id, conversation_id))
            yield SurfaceRequest(actor_id, conversation_id, held.at, shown)

    def prune(self, request: PruneRequest) -> int:
        meant = {place: held for place, held in self._sets.items() if place[0].startswith(request.actors)}
        young = sorted((place for place, held in meant.items() if held.at >= request.before), key=lambda p: meant[p].at)
        gone = meant.keys() - set(young[max(0, len(young) - request.keep) :])
        for place in () if request.count_only else gone:
            del self._sets[place]
        return len(gone)

    def drop(self, scope: str, id: str) -> None:
        for held in self._sets.values():
            held.versions.pop((scope, id), None)
