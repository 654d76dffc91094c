"""Which records answer a list or a search, and in what order: the same for every provider."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from mcp_memory_server.records import MemoryRecord, comes_along

from .base import Hit, Listing, ListRequest

_PINNED: Final = MappingProxyType({"pin": 0.0})
"""The signals of what came along because it is pinned: that adds nothing to a score."""


def listing(matching: Iterable[MemoryRecord], request: ListRequest) -> Listing:
    """The answer to `request`, given every record that matches it, in any order."""
    keys = in_digest_order(matching, request.scopes)
    listed = keys if request.limit is None else keys[: request.limit]
    return Listing(
        records=tuple(record for records in listed for record in records),
        keys=len(keys),
        pinned_keys=sum(is_pinned(records) for records in keys),
    )


def in_digest_order(records: Iterable[MemoryRecord], scopes: Sequence[str]) -> list[list[MemoryRecord]]:
    """The records of each key by scope order, and the keys as an unranked digest selects them (spec section 4).

    Every record must be at one of `scopes`. Several records of a key at one scope go newest first, then by id,
    and versions of one record the latest first.
    """
    rank = {scope: position for position, scope in reversed(list(enumerate(scopes)))}
    by_key: dict[str, list[MemoryRecord]] = {}
    ordered = sorted(records, key=lambda record: (record.id, -record.version))
    ordered.sort(key=attrgetter("updated_at"), reverse=True)
    for record in sorted(ordered, key=lambda record: rank[record.scope]):
        by_key.setdefault(record.key, []).append(record)
    # Stable sorts, the least significant first: instants descend, and strings cannot be negated.
    keys = sorted(by_key.values(), key=lambda held: held[0].key)
    keys.sort(key=lambda held: held[0].updated_at, reverse=True)
    keys.sort(key=lambda held: (not is_pinned(held), rank[held[0].scope]))
    return keys


def pinned_among(records: Iterable[MemoryRecord], scopes: Sequence[str]) -> list[MemoryRecord]:
    """Of these records those of every key that a pin among them pins, in digest order."""
    held = list(records)
    pinned = {record.key for record in held if comes_along(record)}
    keys = in_digest_order((record for record in held if record.key in pinned), scopes)
    return [record for same in keys for record in same]


def is_pinned(records: Iterable[MemoryRecord]) -> bool:
    """A pin belongs to the question: one pinned record pins its key. A working block needs no pin."""
    return any(map(comes_along, records))


def with_pins(ranked: Iterable[Hit], pinned: Sequence[MemoryRecord], limit: int) -> tuple[Hit, ...]:
    """The answer to a search: of the ranked keys the first `limit` that no pin brings along, and all pinned ones.

    Args:
        ranked: best key first, the records of a key together.
        pinned: every record of every pinned key at the requested scopes, in digest order. Those that rank keep
            their place; the others follow with score 0.
        limit: how many keys without a pin.
    """
    if not pinned:
        ranked = tuple(ranked)
        if len(ranked) <= limit:
            return ranked
    pinned_keys = {record.key for record in pinned}
    chosen: dict[str, None] = {}
    hits: list[Hit] = []
    for hit in ranked:
        key = hit.record.key
        if key not in pinned_keys and key not in chosen:
            if len(chosen) >= limit:
                continue
            chosen[key] = None
        hits.append(hit)
    present = {(hit.record.id, hit.record.version) for hit in hits}
    hits.extend(Hit(record, 0.0, _PINNED) for record in pinned if (record.id, record.version) not in present)
    return tuple(hits)
