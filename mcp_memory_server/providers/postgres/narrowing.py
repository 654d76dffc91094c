"""A filter as SQL: which rows of `memory` answer as they are, and which versions answer besides or instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple
from uuid import UUID

from mcp_memory_server.providers.base import Filter
from mcp_memory_server.providers.shown import Conditions
from mcp_memory_server.providers.timeline import answers
from mcp_memory_server.records import MemoryRecord, Status

from .aside import aside
from .columns import COLUMNS, OLD_COLUMNS, record_of
from .connection import Transaction
from .names import is_storable, stored, stored_names

# As the condition of the index `memory_conditional` has it: else Postgres does not see that the index serves.
_IS_CONDITIONAL: Final = """(
    memory.begins IS NOT NULL OR memory.valid_to IS NOT NULL OR memory.archived_at IS NOT NULL
    OR memory.sensitivity = 'secret' OR memory.kind = 'session'
)"""
CONDITION_COLUMNS: Final = (
    "memory.begins, memory.valid_to, memory.archived_at, memory.sensitivity, memory.kind, memory.thread"
)
"""For a select that `conditions_of` reads."""
_CONDITIONAL: Final = f"""
SELECT memory.scope_id, memory.number, {CONDITION_COLUMNS} FROM memory WHERE {{rows}} AND {_IS_CONDITIONAL}
"""
_AT_SCOPES: Final = _CONDITIONAL.format(rows="memory.scope_id = ANY($1)")
_AMONG_NUMBERS: Final = _CONDITIONAL.format(rows="memory.scope_id = $1 AND memory.number = ANY($2::bigint[])")

# A record with one version that took nobody's place, and no condition, holds always: its row answers as it is. What
# `details` says of it as JSON is not asked for, since Postgres reads none that holds a NUL. A few rows too many do no
# harm.
_TOUCHED: Final = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number FROM memory
WHERE memory.scope_id = ANY($1)
  AND (memory.version > 1 OR memory.details LIKE '%"supersedes":%' OR memory.updated_at > $2 OR {_IS_CONDITIONAL})
"""
_OLD_VERSIONS: Final = f"""
SELECT {OLD_COLUMNS}, history.scope_id FROM history
WHERE history.scope_id = ANY($1) AND history.id = ANY($2::text[]) ORDER BY history.scope_id, history.id, history.version
"""
_ANSWERING: Final = "SELECT memory.scope_id, memory.number FROM memory WHERE memory.scope_id = ANY($1)"
_QUARANTINED: Final = f"""
SELECT {COLUMNS}, memory.scope_id, memory.number FROM memory
WHERE memory.scope_id = ANY($1) AND memory.status = 'quarantined'
"""
_PINNED_KEYS: Final = """
SELECT DISTINCT memory.key FROM memory
WHERE memory.scope_id = ANY($1) AND memory.pinned <> 0 AND memory.status = ANY($2::text[])
"""
_WITH_KEYS: Final = f"""
SELECT {COLUMNS}, memory.scope_id FROM memory
WHERE memory.scope_id = ANY($1) AND memory.status = 'active' AND memory.key = ANY($2::text[])
"""


class Placed(NamedTuple):
    """A version that answers though it is no row of `memory`: under the number and at the scope of its record."""

    scope_id: UUID
    number: int
    record: MemoryRecord


class Parameters:
    """The values of a query, numbered as they are added."""

    def __init__(self, *values: object) -> None:
        self._values = list(values)

    def __iter__(self) -> Iterator[object]:
        return iter(self._values)

    def add(self, value: object) -> str:
        self._values.append(value)
        return f"${len(self._values)}"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a row that answers fulfils: SQL where `{row}` stands for the table, `{0}` and so on for the values."""

    sql: str
    values: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Those rows answer that fulfil all `conditions`, and the `versions`.

    `hidden` are rows that do not because of time, by scope and number, where old versions count: one of the conditions.
    """

    conditions: tuple[Condition, ...] = ()
    hidden: frozenset[tuple[UUID, int]] = frozenset()
    versions: tuple[Placed, ...] = ()

    def clause(self, parameters: Parameters, row: str = "memory") -> str:
        """What a query adds to have no other rows; `row` is what it calls the table."""
        told = [condition.sql.format(*map(parameters.add, condition.values), row=row) for condition in self.conditions]
        return "".join(f" AND ({sql})" for sql in told)


async def conditions_at(db: Transaction, places: Iterable[UUID]) -> dict[UUID, dict[int, Conditions]]:
    """The records at the scopes that a plain filter may leave out, by scope and number."""
    found: dict[UUID, dict[int, Conditions]] = {place: {} for place in places}
    for place, number, *columns in await db.rows(_AT_SCOPES, list(found)):
        if (conditions := conditions_of(columns)) is not None:
            found[place][number] = conditions
    return found


async def conditions_among(db: Transaction, place: UUID, numbers: Sequence[int]) -> dict[int, Conditions]:
    """Of these records of a scope those that a plain filter may leave out."""
    found: dict[int, Conditions] = {}
    for _, number, *columns in await db.rows(_AMONG_NUMBERS, place, numbers):
        if (conditions := conditions_of(columns)) is not None:
            found[number] = conditions
    return found


def conditions_of(columns: Sequence[Any]) -> Conditions | None:
    """What a plain filter may leave a record out for, by its `CONDITION_COLUMNS`; None where nothing is."""
    begins, valid_to, archived_at, sensitivity, kind, thread = columns
    session = thread if kind == "session" else None
    found = Conditions(begins, valid_to, archived_at is not None, sensitivity == "secret", session)
    return None if found == _UNCONDITIONAL else found


_UNCONDITIONAL: Final = Conditions(None, None, is_archived=False, is_secret=False, session=None)


async def narrowed(db: Transaction, scopes: Mapping[UUID, str], asked: Filter, statuses: Sequence[Status]) -> Narrowed:
    """What the filter comes to at these scopes. `statuses` are those that versions beside the rows may have."""
    if not asked.is_historic:
        return Narrowed((*_by_time(asked), *_by_content(asked)))
    rows = await db.rows(_TOUCHED, list(scopes), asked.known_at)
    old = await db.rows(_OLD_VERSIONS, list(scopes), [row[0] for row in rows])
    hidden, versions = await aside(len(rows) + len(old), lambda: _resolved(scopes, rows, old, asked, statuses))
    apart = Condition(
        "({row}.scope_id, {row}.number) NOT IN (SELECT * FROM unnest({0}::uuid[], {1}::bigint[]))",
        ([place for place, _ in hidden], [number for _, number in hidden]),
    )
    return Narrowed((apart, *_by_content(asked)), hidden, versions)


def _by_time(asked: Filter) -> Iterator[Condition]:
    """What current records are left out for though nothing narrows the question: as `Conditions.let_through`."""
    if asked.at is not None:
        yield Condition("{row}.begins IS NULL OR {row}.begins <= {0}", (asked.at,))
        yield Condition("{row}.valid_to IS NULL OR {row}.valid_to > {0}", (asked.at,))
    if not asked.include_archived:
        yield Condition("{row}.archived_at IS NULL")
    if asked.own_thread:
        thread = asked.thread_id or ""
        if is_storable(thread):
            yield Condition("{row}.kind <> 'session' OR {row}.thread = {0}", (stored(thread),))
        else:
            yield Condition("{row}.kind <> 'session'")


def _by_content(asked: Filter) -> Iterator[Condition]:
    if asked.max_sensitivity not in (None, "secret") or asked.min_sensitivity is not None:
        yield Condition("{row}.sensitivity = ANY({0}::text[])", (list(asked.sensitivities),))
    if asked.kinds:
        yield Condition("{row}.kind = ANY({0}::text[])", (list(asked.kinds),))
    if asked.owners:
        yield Condition("{row}.owner = ANY({0}::text[])", (list(asked.owners),))
    if asked.since is not None:
        yield Condition("{row}.updated_at >= {0}", (asked.since,))
    if asked.until is not None:
        yield Condition("{row}.updated_at < {0}", (asked.until,))
    if asked.tags:
        tags = stored_names(asked.tags)
        yield Condition("{row}.tags @> {0}::text[]", (tags,)) if len(tags) == len(asked.tags) else Condition("false")


def _resolved(
    scopes: Mapping[UUID, str],
    rows: Sequence[Sequence[Any]],
    old: Sequence[Sequence[Any]],
    asked: Filter,
    statuses: Sequence[Status],
) -> tuple[frozenset[tuple[UUID, int]], tuple[Placed, ...]]:
    """Of the records that may answer with an old version, or not at all: the rows that do not, and the versions."""
    replaced = {
        (place, record_id): [record_of(scopes[place], version) for version in versions]
        for (place, record_id), versions in groupby(old, key=itemgetter(-1, 0))
    }
    hidden: set[tuple[UUID, int]] = set()
    placed: list[Placed] = []
    for row in rows:
        place, number = row[-2:]
        current = record_of(scopes[place], row)
        found = answers([*replaced.get((place, row[0]), ()), current], asked, statuses)
        if not any(record is current for record in found):
            hidden.add((place, number))
        placed += [Placed(place, number, record) for record in found if record is not current]
    return frozenset(hidden), tuple(placed)


async def answering_rows(db: Transaction, places: Iterable[UUID], seen: Narrowed) -> dict[UUID, set[int]]:
    """The rows that answer, of any status, by scope and number."""
    found: dict[UUID, set[int]] = {place: set() for place in places}
    parameters = Parameters(list(found))
    for place, number in await db.rows(_ANSWERING + seen.clause(parameters), *parameters):
        found[place].add(number)
    return found


async def quarantined_rows(db: Transaction, scopes: Mapping[UUID, str], seen: Narrowed) -> list[Placed]:
    """The quarantined records among the rows that answer; ranking holds nothing of them."""
    parameters = Parameters(list(scopes))
    rows = await db.rows(_QUARANTINED + seen.clause(parameters), *parameters)
    return [Placed(row[-2], row[-1], record_of(scopes[row[-2]], row)) for row in rows]


async def pinned_keys(
    db: Transaction, places: Iterable[UUID], seen: Narrowed, statuses: Sequence[Status] = ("active",)
) -> set[str]:
    """The keys, as columns hold them, that a row pins which answers."""
    parameters = Parameters(list(places), list(statuses))
    rows = await db.rows(_PINNED_KEYS + seen.clause(parameters), *parameters)
    return {key for (key,) in rows}


async def pinned_rows(
    db: Transaction, scopes: Mapping[UUID, str], seen: Narrowed, keys: Iterable[str] = ()
) -> list[MemoryRecord]:
    """Of the rows that answer the active ones of these keys, and of every key that one of them pins."""
    held = await pinned_keys(db, scopes, seen) | set(stored_names(keys))
    if not held:
        return []
    parameters = Parameters(list(scopes), list(held))
    rows = await db.rows(_WITH_KEYS + seen.clause(parameters), *parameters)
    return [record_of(scopes[row[-1]], row) for row in rows]
