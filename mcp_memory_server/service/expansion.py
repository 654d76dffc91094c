"""One hop from what was found: the other records about the same entities (spec section 9.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mcp_memory_server.providers.base import Filter, ListRequest, MemoryProvider, has_entities
from mcp_memory_server.records import MemoryRecord

from .entities import known_entities, names, records_naming

# What stands further down is hardly what the question is about, and would lead away from it.
_FROM_THE_BEST: Final = 10
_MOST_KEYS: Final = 10
"""How many keys come along at most, whatever there is room for."""
_MOST_MENTIONS: Final = 60


async def one_hop(
    provider: MemoryProvider, scopes: tuple[str, ...], seen: Filter, found: Sequence[MemoryRecord]
) -> tuple[MemoryRecord, ...]:
    """Further records that name an entity of the best records found, with all answers to their keys.

    Those that share an entity with a better record come first, then newer ones. Nothing where the provider knows no
    entities.
    """
    if not has_entities(provider):
        return ()
    start = [record for record in found[:_FROM_THE_BEST] if record.extraction != "skip"]
    spelled = [name for record in start for name in (record.subject, record.object) if name]
    known = await known_entities(provider, scopes, spelled)
    # By the place in `known`, the best record found that names the entity.
    best: dict[int, int] = {}
    for rank, record in enumerate(start):
        for place in names(record, known):
            best.setdefault(place, rank)
    there = {record.key for record in found}
    naming = await records_naming(provider, scopes, known, seen, _MOST_MENTIONS)
    further = [record for record in naming if record.key not in there]
    further.sort(key=lambda record: min(best.get(place, _FROM_THE_BEST) for place in names(record, known)))
    keys = tuple(dict.fromkeys(record.key for record in further))[:_MOST_KEYS]
    if not keys:
        return ()
    answers = await provider.list(ListRequest(scopes, keys=keys, filter=seen))
    return tuple(sorted(answers.records, key=lambda record: keys.index(record.key)))
