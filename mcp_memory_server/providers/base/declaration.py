"""What a provider declares that it can do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Group(StrEnum):
    """An optional group of calls that a provider may declare."""

    WRITE = "write"
    SEARCH = "search"
    HISTORY = "history"
    JOURNAL = "journal"
    BROWSE = "browse"
    CHANGES = "changes"
    RESTORE = "restore"
    MAINTAIN = "maintain"
    VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider declares: its name in messages, and the groups it has."""

    provider: str
    groups: frozenset[Group] = frozenset()
