"""Why an entry stands in a digest, or a record among hits, in terms that a person can check."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mcp_memory_server.digest import DigestEntry
from mcp_memory_server.providers.signatures import words_in_common
from mcp_memory_server.records import MemoryRecord


def reasons(
    entries: Sequence[DigestEntry], query: str, ranks: Mapping[str, int], expanded: Collection[str] = ()
) -> dict[str, dict[str, Any]]:
    """For each entry of a digest, by its id, why it is there.

    Args:
        entries: of one digest.
        query: the question; blank when nothing was asked.
        ranks: the place of each key among those that were found, 1 being the best.
        expanded: ids of those that were not found themselves, but share an entity with one that was.

    Returns:
        As `reasons_of_hits`; `overrides`, the scopes whose answers the entry outranks, where there are any; and
        `expanded` where it came along one hop.
    """
    found: dict[str, dict[str, Any]] = {}
    for entry, words in zip(entries, _shared(entries, query), strict=True):
        reason = found[entry.id] = _reason(ranks[entry.key], words, entry.pinned)
        if entry.overrides:
            reason["overrides"] = [override.scope for override in entry.overrides]
        if entry.id in expanded:
            reason["expanded"] = True
    return found


def reasons_of_hits(records: Sequence[MemoryRecord], query: str) -> list[dict[str, Any]]:
    """For each record found, best first: its `rank`; `words`, those of the question it holds; `pinned` where it is.

    Words are given as they were asked, and absent where nothing was. None may be in common: then it was found by its
    spelling, its meaning, its surroundings or its date, as the signals of a hit tell; or because it is pinned.
    """
    return [
        _reason(rank, words, record.pinned)
        for rank, (record, words) in enumerate(zip(records, _shared(records, query), strict=True), start=1)
    ]


def _shared(records: Sequence[MemoryRecord], query: str) -> Sequence[list[str] | None]:
    return words_in_common(query, records) if query else [None] * len(records)


def _reason(rank: int, words: list[str] | None, pinned: bool) -> dict[str, Any]:
    reason: dict[str, Any] = {"rank": rank} if words is None else {"rank": rank, "words": words}
    if pinned:
        reason["pinned"] = True
    return reason
