"""What an operator asks of a store whose schema is made apart from opening it, and what was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DEFAULT_PARTITIONS = 16


@dataclass(frozen=True, slots=True)
class MigrationRequest:
    """Bring a store to the schema of this release.

    Args:
        partitions: how many each table of a new store is split into, by scope; 0 for none, as an engine wants it that
            distributes the tables itself. A store that is there keeps what it has.
        server_role: who servers connect as, and so is given what they need; None where that is the owner itself.
    """

    partitions: int = DEFAULT_PARTITIONS
    server_role: str | None = None


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration did.

    Args:
        database: by name.
        before: the schema's version that was found; 0 where there was no store.
        after: the version that it has now.
        partitions: of each table; 0 for none.
        server_role: who may serve it; None where that is the owner.
        notes: what falls short here of what a store promises, each with what would mend it.
    """

    database: str
    before: int
    after: int
    partitions: int
    server_role: str | None
    notes: Sequence[str] = ()
