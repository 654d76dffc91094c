"""Why an entry stands in a digest, in terms that a person can check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_memory_server.digest import DigestEntry
from mcp_memory_server.providers.signatures import words_in_common


def reasons(entries: Sequence[DigestEntry], query: str, ranks: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """For each entry, by its id, why it is there.

    Args:
        entries: of one digest.
        query: the question; blank when nothing was asked.
        ranks: by id the place of an entry among those that were found, 1 being the best.

    Returns:
        `words` are those of the question that the record holds, as they were asked; `rank` its place, and absent
        where only a pin or an override brought it; `pinned` and `overrides`, the scopes whose answers it outranks,
        where that is so.
    """
    return {entry.id: _reason(entry, query, ranks.get(entry.id)) for entry in entries}


def _reason(entry: DigestEntry, query: str, rank: int | None) -> dict[str, Any]:
    reason: dict[str, Any] = {}
    if rank is not None:
        reason["rank"] = rank
    if query:
        reason["words"] = words_in_common(query, entry)
    if entry.pinned:
        reason["pinned"] = True
    if entry.overrides:
        reason["overrides"] = [override.scope for override in entry.overrides]
    return reason
