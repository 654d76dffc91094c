"""A transaction: the queries asked in it, what it tells others at its end, and what became of its commit."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

from .failures import CommitInDoubt
from .names import place_of
from .notices import CHANNEL, notices_of

# The mark tells a transaction from another one to which the database gave the same number after a crash, in which it
# lost the first.
_SEAL: Final = """
WITH marked AS (
    UPDATE scope SET marks = ($2::bigint || marks)[:16] WHERE scope_id = $1
)
SELECT pg_current_xact_id()::text, count(pg_notify($3, notice)) FROM unnest($4::text[]) AS notice
"""
_FATE: Final = "SELECT pg_xact_status($1::text::xid8)"
_IS_MARKED: Final = "SELECT EXISTS (SELECT FROM scope WHERE scope_id = $1 AND $2 = ANY(marks))"
_END_IT: Final = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_xid = $2::text::xid8::xid
"""


@dataclass(frozen=True, slots=True)
class Seal:
    """By what a transaction is found again whose commit is in doubt."""

    transaction_id: str
    backend: int
    place: UUID
    mark: int


class Unfinished(Exception):
    """A transaction runs still, whose commit is in doubt."""


class Transaction:
    """A transaction that runs, with the queries that the modules of this package ask."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.changed: dict[tuple[str, str], None] = {}
        """The (scope, id) of records that it changes: told to all who listen when it commits."""
        self.place: UUID | None = None
        """Of a scope whose row it has locked, when it changes what is no record, and must not do so twice."""

    async def rows(self, query: str, *values: object) -> list[Sequence[Any]]:
        return await self._connection.fetch(query, *values)

    async def row(self, query: str, *values: object) -> Sequence[Any] | None:
        return await self._connection.fetchrow(query, *values)

    async def value(self, query: str, *values: object) -> Any:
        """The first column of the first row; None where there is none."""
        return await self._connection.fetchval(query, *values)

    async def run(self, query: str, *values: object) -> int:
        """How many rows the statement touched."""
        tag: str = await self._connection.execute(query, *values)
        last = tag.rpartition(" ")[2]
        return int(last) if last.isdecimal() else 0

    async def remarks(self, query: str) -> list[str]:
        """The details that the server tells of a statement with VERBOSE while it runs."""
        told: list[str] = []

        def listen(_: object, message: Any) -> None:
            told.append(message.detail or "")

        self._connection.add_log_listener(listen)
        try:
            await self._connection.execute(query)
        finally:
            self._connection.remove_log_listener(listen)
        return told

    async def run_many(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        """The statement once for each row of values, in one go."""
        await self._connection.executemany(query, rows)

    async def seal(self) -> Seal | None:
        """The last statement before the commit: what is told to others, and by what this one is found again.

        None where it changed nothing, or only what may be done again.
        """
        scope = next((scope for scope, _ in self.changed), None)
        place = self.place if scope is None else place_of(scope)
        if place is None:
            return None
        mark = secrets.randbits(63)
        row = await self.row(_SEAL, place, mark, CHANNEL, notices_of(self.changed))
        assert row is not None
        return Seal(row[0], self._connection.get_server_pid(), place, mark)


async def was_committed(db: Transaction, seal: Seal) -> bool:
    """Whether a transaction of another connection, which broke at its commit, was committed.

    Raises:
        Unfinished: it may be yet; its server process was told to end.
        CommitInDoubt: the database does not know any more.
    """
    try:
        fate = await db.value(_FATE, seal.transaction_id)
    except asyncpg.InvalidParameterValueError:
        return False  # there is no such transaction: a crash took it
    match fate:
        case "in progress":
            await db.value(_END_IT, seal.backend, seal.transaction_id)
            raise Unfinished
        case "aborted":
            return False
        case "committed" if await db.value(_IS_MARKED, seal.place, seal.mark):
            return True
        case _:
            raise CommitInDoubt
