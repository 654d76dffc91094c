"""Why an entry stands in a digest, or a record among hits, in terms that a person can check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_memory_server.digest import DigestEntry
from mcp_memory_server.providers.signatures import words_in_common
from mcp_memory_server.records import MemoryRecord


def reasons(entries: Sequence[DigestEntry], query: str, ranks: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """For each entry of a digest, by its id, why it is there.

    Args:
        entries: of one digest.
        query: the question; blank when nothing was asked.
        ranks: by id the place of an entry's key among those that were found, 1 being the best.

    Returns:
        As `reason_of_hit`, and `overrides`, the scopes whose answers the entry outranks, where there are any.
    """
    found = {entry.id: reason_of_hit(entry, ranks[entry.id], query) for entry in entries}
    for entry in entries:
        if entry.overrides:
            found[entry.id]["overrides"] = [override.scope for override in entry.overrides]
    return found


def reason_of_hit(record: MemoryRecord, rank: int, query: str) -> dict[str, Any]:
    """Why a record was found: its `rank`; `words`, those of the question that it holds; `pinned` where it is.

    Words are given as they were asked, and absent where nothing was. None may be in common: then it was found by its
    spelling, its meaning, its surroundings or its date, as the signals of a hit tell; or because it is pinned.
    """
    reason: dict[str, Any] = {"rank": rank}
    if query:
        reason["words"] = words_in_common(query, record)
    if record.pinned:
        reason["pinned"] = True
    return reason
