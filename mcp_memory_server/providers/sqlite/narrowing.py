"""A filter as SQL: which rows of `memory` answer as they are, and which versions answer besides or instead."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from mcp_memory_server.providers.base import Filter
from mcp_memory_server.providers.rows import RECORD_COLUMNS, record_of
from mcp_memory_server.providers.shown import Conditions
from mcp_memory_server.providers.timeline import answers
from mcp_memory_server.records import MemoryRecord, Status

from .names import is_storable, json_names

_OLD_COLUMNS = ", ".join(f"history.{name}" for name in RECORD_COLUMNS)
_CURRENT_COLUMNS = ", ".join(f"memory.{name}" for name in RECORD_COLUMNS)

# Word for word the condition of the index `memory_conditional`: else SQLite does not see that the index serves it.
_IS_CONDITIONAL: Final = """(
    valid_from IS NOT NULL OR valid_to IS NOT NULL OR started_at IS NOT NULL OR archived_at IS NOT NULL
    OR sensitivity = 'secret' OR kind = 'session'
)"""
_CONDITIONAL: Final = f"""
SELECT number, valid_from, started_at, valid_to, archived_at, sensitivity, kind, thread
FROM memory {{index}} WHERE {{rows}} AND {_IS_CONDITIONAL}
"""
_AT_SCOPES: Final = _CONDITIONAL.format(
    index="INDEXED BY memory_conditional", rows="scope_id IN (SELECT value FROM json_each(?))"
)
_AMONG_NUMBERS: Final = _CONDITIONAL.format(index="", rows="number IN (SELECT value FROM json_each(?))")

# A record with one version that took nobody's place, and no condition, holds always: its row answers as it is.
_TOUCHED: Final = f"""
SELECT number, scope_id, {_CURRENT_COLUMNS} FROM memory
WHERE scope_id IN (SELECT value FROM json_each(:scopes))
  AND (version > 1 OR details ->> '$.supersedes' IS NOT NULL OR updated_at > coalesce(:known_at, '~')
       OR {_IS_CONDITIONAL})
"""
_OLD_VERSIONS: Final = f"""
SELECT {_OLD_COLUMNS} FROM history WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id, version
"""
_ALLOWED: Final = """
SELECT number FROM memory WHERE scope_id IN (SELECT value FROM json_each(:scopes))
"""
_QUARANTINED: Final = f"""
SELECT scope_id, number, {_CURRENT_COLUMNS} FROM memory
WHERE scope_id IN (SELECT value FROM json_each(:scopes)) AND status = 'quarantined'
"""
_PINNED: Final = f"""
SELECT scope_id, number, {_CURRENT_COLUMNS} FROM memory
WHERE scope_id IN (SELECT value FROM json_each(:scopes)) AND +status = 'active'{{seen}} AND key IN (
    SELECT value FROM json_each(:keys)
    UNION SELECT key FROM memory INDEXED BY memory_pinned
    WHERE scope_id IN (SELECT value FROM json_each(:scopes)) AND pinned AND +status = 'active'{{seen}}
)
"""
_TAGGED: Final = """
AND NOT EXISTS (
    SELECT 1 FROM json_each(:tags) AS wanted
    WHERE wanted.value NOT IN (SELECT tag.value FROM json_each(memory.details, '$.tags') AS tag)
)
"""


class Placed(NamedTuple):
    """A version that answers though it is no row of `memory`: under the number and at the scope of its record."""

    scope_id: int
    number: int
    record: MemoryRecord


@dataclass(frozen=True, slots=True)
class Narrowed:
    """`allowed` rows answer, or all but the `hidden` ones where it is None; and the `versions`."""

    hidden: frozenset[int] = frozenset()
    allowed: frozenset[int] | None = None
    versions: tuple[Placed, ...] = field(default=())

    def clause(self, table: str = "memory") -> str:
        """What a query adds to have no other rows of `table`; it needs the parameter `seen`."""
        if self.allowed is not None:
            return f" AND {table}.number IN (SELECT value FROM json_each(:seen))"
        return f" AND {table}.number NOT IN (SELECT value FROM json_each(:seen))" if self.hidden else ""

    @property
    def seen(self) -> str:
        return json.dumps(list(self.hidden if self.allowed is None else self.allowed))


def conditions_at(db: sqlite3.Connection, scopes: Iterable[int]) -> dict[int, Conditions]:
    """The records at the scopes that a plain filter may leave out, by number."""
    return dict(map(_conditions, db.execute(_AT_SCOPES, (json.dumps(list(scopes)),))))


def conditions_among(db: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, Conditions]:
    """Of these records those that a plain filter may leave out."""
    return dict(map(_conditions, db.execute(_AMONG_NUMBERS, (json.dumps(list(numbers)),))))


def _conditions(row: Sequence[Any]) -> tuple[int, Conditions]:
    number, valid_from, started_at, valid_to, archived_at, sensitivity, kind, thread = row
    begins: str | None = max((valid_from or "", started_at or "")) or None
    session = (thread or "") if kind == "session" else None
    return number, Conditions(begins, valid_to, archived_at is not None, sensitivity == "secret", session)


def narrowed(db: sqlite3.Connection, scopes: Mapping[int, str], asked: Filter, statuses: Sequence[Status]) -> Narrowed:
    """What the filter comes to at these scopes. `statuses` are those that versions beside the rows may have."""
    versions: tuple[Placed, ...] = ()
    if asked.is_historic:
        hidden, versions = _resolved(db, scopes, asked, statuses)
    else:
        held = conditions_at(db, scopes)
        hidden = frozenset(number for number, conditions in held.items() if not conditions.let_through(asked))
    return Narrowed(hidden, _allowed(db, scopes, asked, hidden) if asked.is_narrow else None, versions)


def _resolved(
    db: sqlite3.Connection, scopes: Mapping[int, str], asked: Filter, statuses: Sequence[Status]
) -> tuple[frozenset[int], tuple[Placed, ...]]:
    """Of the records that may answer with an old version, or not at all: the rows that do not, and the versions."""
    rows = db.execute(_TOUCHED, {"scopes": json.dumps(list(scopes)), "known_at": asked.known_at}).fetchall()
    tokens = {row[2]: scopes[row[1]] for row in rows}
    old = db.execute(_OLD_VERSIONS, (json_names(tokens),)).fetchall()
    replaced = {
        record_id: [record_of(tokens[record_id], version) for version in versions]
        for record_id, versions in groupby(old, key=itemgetter(0))
    }
    hidden: set[int] = set()
    placed: list[Placed] = []
    for number, scope_id, *values in rows:
        current = record_of(scopes[scope_id], values)
        found = answers([*replaced.get(current.id, ()), current], asked, statuses)
        if not any(record is current for record in found):
            hidden.add(number)
        placed += [Placed(scope_id, number, record) for record in found if record is not current]
    return frozenset(hidden), tuple(placed)


def _allowed(
    db: sqlite3.Connection, scopes: Mapping[int, str], asked: Filter, hidden: frozenset[int]
) -> frozenset[int]:
    if not all(map(is_storable, asked.tags)):
        return frozenset()
    query = _ALLOWED
    given: dict[str, object] = {"scopes": json.dumps(list(scopes)), "since": asked.since, "until": asked.until}
    for column, values in (("kind", asked.kinds), ("owner", asked.owners), ("sensitivity", asked.sensitivities)):
        if values or column == "sensitivity":
            query += f" AND {column} IN (SELECT value FROM json_each(:{column}))"
            given[column] = json.dumps(values)
    if asked.since is not None:
        query += " AND updated_at >= :since"
    if asked.until is not None:
        query += " AND updated_at < :until"
    if asked.tags:
        query += _TAGGED
        given["tags"] = json.dumps(asked.tags)
    return frozenset(number for (number,) in db.execute(query, given)) - hidden


def quarantined_rows(db: sqlite3.Connection, scopes: Mapping[int, str], seen: Narrowed) -> list[Placed]:
    """The quarantined records among the rows that answer; ranking holds nothing of them."""
    given = {"scopes": json.dumps(list(scopes)), "seen": seen.seen}
    rows = db.execute(_QUARANTINED + seen.clause(), given)
    return [Placed(row[0], row[1], record_of(scopes[row[0]], row[2:])) for row in rows]


def pinned_rows(
    db: sqlite3.Connection, scopes: Mapping[int, str], seen: Narrowed, keys: Iterable[str]
) -> list[MemoryRecord]:
    """Of the rows that answer the active ones of these keys, and of every key that one of them pins."""
    given = {"scopes": json.dumps(list(scopes)), "seen": seen.seen, "keys": json_names(keys)}
    rows = db.execute(_PINNED.format(seen=seen.clause()), given)
    return [record_of(scopes[row[0]], row[2:]) for row in rows]
