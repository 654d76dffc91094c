"""What two stores hold under one key of a scope, and what has to be done about where they differ. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from mcp_memory_server.records import MemoryRecord, lane_of

Versions = tuple[MemoryRecord, ...]
"""The versions of one record as they were when current, oldest first: never empty, the last one is current."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The records of one key at one scope: the source's and the target's."""

    scope: str
    source: Sequence[Versions] = ()
    target: Sequence[Versions] = ()

    @property
    def missing(self) -> Sequence[Versions]:
        """The source's records that the target has not, under any version."""
        held = {versions[-1].id for versions in self.target}
        return [versions for versions in self.source if versions[-1].id not in held]

    @property
    def extra(self) -> Sequence[Versions]:
        """The target's records that the source has not."""
        held = {versions[-1].id for versions in self.source}
        return [versions for versions in self.target if versions[-1].id not in held]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about ids that only one end has.

    Args:
        gone: those that the source held and erased.
        erased: those that were erased at the target, which the source knows nothing of.
    """

    gone: Collection[str] = ()
    erased: Collection[str] = ()


@dataclass(slots=True)
class Plan:
    """What makes the target hold what the source does, and what is left as it is, counted.

    `newer` records were changed at the target since, `beaten` ones find their key taken there, `erased` ones were
    forgotten there, and the target's `own` ones never were the source's: nothing of those is touched.
    """

    restore: list[Versions] = field(default_factory=list[Versions])
    forget: list[MemoryRecord] = field(default_factory=list[MemoryRecord])
    newer: int = 0
    beaten: int = 0
    erased: int = 0
    own: int = 0

    @property
    def asks_for_work(self) -> bool:
        return bool(self.restore or self.forget)

    def add(self, other: Plan) -> None:
        self.restore += other.restore
        self.forget += other.forget
        self.newer += other.newer
        self.beaten += other.beaten
        self.erased += other.erased
        self.own += other.own


def planned(pair: Pair, known: Known) -> Plan:
    """What is to be done about one key."""
    plan = Plan()
    held = {versions[-1].id: versions for versions in pair.target}
    own = [versions[-1] for versions in pair.extra if versions[-1].id not in known.gone]
    plan.forget = [versions[-1] for versions in pair.extra if versions[-1].id in known.gone]
    plan.own = len(own)
    taken = {lane_of(record) for record in own}
    for versions in pair.source:
        current = versions[-1]
        there = held.get(current.id)
        if there == versions:
            continue
        if there is None and current.id in known.erased:
            plan.erased += 1
        elif there is not None and _is_newer(there[-1], current):
            plan.newer += 1
        elif lane_of(current) in taken:
            plan.beaten += 1
        else:
            plan.restore.append(versions)
    return plan


def _is_newer(there: MemoryRecord, here: MemoryRecord) -> bool:
    return (there.version, there.updated_at) > (here.version, here.updated_at)


class Tally:
    """Counts records and versions as they come by, in one order at both ends, and digests all that they hold."""

    def __init__(self) -> None:
        self.records = 0
        self.versions = 0
        self._digest = hashlib.sha256()

    def take(self, versions: Versions) -> None:
        self.records += 1
        self.versions += len(versions)
        for version in versions:
            self._digest.update(version.model_dump_json().encode() + b"\n")

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()
