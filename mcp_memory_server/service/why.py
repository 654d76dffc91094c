"""Why an entry stands in a digest, or a record among hits, in terms that a person can check."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
        ranks: by id the place of an entry's key among those that were found, 1 being the best.
        expanded: ids of those that were not found themselves, but share an entity with one that was.

    Returns:
        As `reasons_of_hits`; `overrides`, the scopes whose answers the entry outranks, where there are any; and
        `expanded` where it came along one hop.
    """
    found: dict[str, dict[str, Any]] = {}
    for entry, reason in zip(entries, _reasons(entries, [ranks[entry.id] for entry in entries], query), strict=True):
        found[entry.id] = reason
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
    return _reasons(records, range(1, len(records) + 1), query)


def _reasons(records: Sequence[MemoryRecord], ranks: Iterable[int], query: str) -> list[dict[str, Any]]:
    reasons: list[dict[str, Any]]
    if query:
        shared = words_in_common(query, records)
        reasons = [{"rank": rank, "words": words} for rank, words in zip(ranks, shared, strict=True)]
    else:
        reasons = [{"rank": rank} for rank in ranks]
    for reason, record in zip(reasons, records, strict=True):
        if record.pinned:
            reason["pinned"] = True
    return reasons
