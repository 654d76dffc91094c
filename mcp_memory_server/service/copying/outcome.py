"""What a copy tells while it runs, and what it came to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mcp_memory_server.providers.base import Part

from .comparing import Plan, Tally

_MOST_NAMED: Final = 20
_REPORTED_EVERY: Final = 200

Step = Literal["copying", "verifying", "carrying"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step has come: in records, or in parts of what stands beside them."""

    step: Step
    done: int
    total: int


class Gauge:
    """Counts the records of a step, and reports now and then. There may be more than were expected."""

    def __init__(self, step: Step, total: int, report: Callable[[Progress], None]) -> None:
        self._step: Step = step
        self._total = total
        self._report = report
        self._done = 0
        self._told = 0

    def advance(self, records: int) -> None:
        self._done += records
        if self._done - self._told >= _REPORTED_EVERY:
            self.tell()

    def tell(self) -> None:
        self._told = self._done
        self._report(Progress(self._step, self._done, max(self._done, self._total)))


@dataclass(frozen=True, slots=True)
class Compared:
    """A scope as it was found at both ends, and what that asks for."""

    source: Tally
    target: Tally
    plan: Plan

    @property
    def same(self) -> bool:
        return (self.source.records, self.source.digest) == (self.target.records, self.target.digest)


@dataclass(frozen=True, slots=True)
class Difference:
    """A scope at which the ends do not hold the same."""

    scope: str
    at_source: int
    at_target: int


@dataclass(frozen=True, slots=True)
class Beside:
    """A part of what stands beside the records: the source's rows, and whether the target holds at least those."""

    part: Part
    rows: int
    held: bool


class Ledger:
    """Sums over the scopes, as they are verified in order of name."""

    def __init__(self) -> None:
        self.scopes = 0
        self.records = 0
        self.versions = 0
        self.differing = 0
        self.differences: list[Difference] = []
        """The first few of them."""
        self.left = Plan()
        """What was left as it is, counted."""
        self._source, self._target = hashlib.sha256(), hashlib.sha256()

    def take(self, scope: str, compared: Compared) -> None:
        source, target = compared.source, compared.target
        self.scopes += bool(source.records)
        self.records += source.records
        self.versions += source.versions
        self.left.add(compared.plan)
        for digest, tally in ((self._source, source), (self._target, target)):
            if tally.records:
                digest.update(f"{scope}\n{tally.records}\n{tally.digest}\n".encode())
        if not compared.same:
            self.differing += 1
            if len(self.differences) < _MOST_NAMED:
                self.differences.append(Difference(scope, source.records, target.records))

    @property
    def digests(self) -> tuple[str, str]:
        return self._source.hexdigest(), self._target.hexdigest()


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy came to.

    Args:
        scopes, records, versions: what the source holds.
        source_digest, target_digest: over every version, by scope, key, id and version (SHA-256 of canonical JSON).
        restored: how many records were new or changed at the target.
        forgotten: how many were erased there because they were at the source; `pending` of those leave bytes that
            whichever process next can removes.
        differing: how many scopes do not hold the same; `differences` are the first of them.
        newer, beaten, erased, own: records left as they are (`comparing.Plan`).
        beside: what stands beside the records; nothing of it travels where `carries` is False.
        with_history: whether replaced versions travel.
        follows: whether the source tells of changes.
        written: how many changes it told of while it was verified: the last word is another run.
    """

    scopes: int
    records: int
    versions: int
    source_digest: str
    target_digest: str
    restored: int
    forgotten: int
    pending: int
    differing: int
    differences: Sequence[Difference]
    newer: int
    beaten: int
    erased: int
    own: int
    beside: Sequence[Beside]
    carries: bool
    with_history: bool
    follows: bool
    written: int

    @property
    def same(self) -> bool:
        """Whether the target holds all that the source does."""
        return not self.differing and all(beside.held for beside in self.beside)
