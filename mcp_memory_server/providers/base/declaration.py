"""What a provider declares that it can do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Group(StrEnum):
    """An optional group of calls that a provider may declare."""

    WRITE = "write"
    BULK = "bulk"
    SEARCH = "search"
    HISTORY = "history"
    JOURNAL = "journal"
    BROWSE = "browse"
    CHANGES = "changes"
    RESTORE = "restore"
    MAINTAIN = "maintain"
    VECTORS = "vectors"
    REVIEW = "review"
    ENTITIES = "entities"
    SURFACED = "surfaced"
    CARRY = "carry"


class WriteOption(StrEnum):
    """What a write may ask for beyond the record (`providers.options`).

    - `extraction`: the record keeps the field, and from a record with `skip` the provider derives nothing itself.
    - `namespace_scope`: scopes are opaque to the provider, so that a namespace can stand before each of them.
    """

    EXTRACTION = "extraction"
    NAMESPACE_SCOPE = "namespace_scope"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider declares: its name in messages, the groups it has, and the write options it honours.

    A write that asks for an option outside `honours` is refused (`OptionNotHonoured`) before anything is written.
    """

    provider: str
    groups: frozenset[Group] = frozenset()
    honours: frozenset[WriteOption] = frozenset()
