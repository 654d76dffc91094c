"""Erasing records down to the bytes.

Postgres keeps deleted rows until VACUUM comes by, and what VACUUM takes away stays in the holes of the pages. So after
an erasure the partitions that hold the scope's rows are written anew, with their indexes and their TOAST: CLUSTER
copies what is alive into new files, in the order of the scopes, and the old ones go when it commits. Unlike VACUUM
FULL it does that within a transaction, so that the tables of a partition change together, no row is outdated between
waiting for the lock and copying, and the tickets say so or not. Readers and writers of that partition, who may be of
other scopes, wait meanwhile: therefore only so much is rewritten at once, and more of it when the operator has the
store examined.

A row that somebody's older transaction may still read is copied as well. The server tells how many of those there
were, and the erasure waits until there are none.

What the tables let go of is still in the write-ahead log, whose segments go at a checkpoint after they are full. Where
the server's role may, both are brought about before the ticket is closed. Replicas follow the log; backups are beyond
reach. docs/scale.md says what an operator sets for which guarantee.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple
from uuid import UUID

import anyio
from uuid6 import uuid7

from mcp_memory_server.errors import StoreBusy, StoreError
from mcp_memory_server.providers.base import Erasure, ForgetRequest

from .connection import Database, Transaction
from .names import place_of, stored
from .turns import Held, Turn
from .writing import begin_with

logger = logging.getLogger(__name__)

_SAYING: Final = ("memory", "history", "signature", "token", "entity", "mention")
"""The tables that hold what somebody said, or what was made of it; the others hold ids, numbers and times."""

_ERASE_EVERY_S: Final = 5.0
_ERASE_AT_LEAST_EVERY_S: Final = 320.0
_PATIENCE_S: Final = 2.0
"""How long a chance to rewrite is waited for."""
_RETRY_S: Final = 0.05
_LOCK_MS: Final = 250
"""How long a rewrite waits for its lock: whoever comes after it waits as well. It is less than `deadlock_timeout`, so
that a transaction which holds one partition and wants the next one goes first."""
_AT_ONCE_BYTES: Final = 32 << 20
"""What is rewritten while others wait, indexes included: some 20,000 memories, about a second's work."""
_LONGEST_S: Final = 6 * 3600.0
"""For an examination, in which tables of any size are rewritten."""

_LOCK: Final = 0x4D4D_5333
"""Of the advisory lock that who rewrites holds. It is tried and not waited for: a statement that waits has a snapshot,
and rows that a snapshot may see are not left out."""

# Once: it may have been taken along already (carrying.py).
_AUDIT: Final = """
INSERT INTO audit (scope_id, id, scope, actor_id, at, reason)
SELECT $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::text WHERE NOT EXISTS (
    SELECT FROM audit WHERE scope_id = $1 AND id = $2 AND actor_id = $4 AND at = $5 AND reason = $6
)
"""
_TICKET: Final = "INSERT INTO erasure (scope_id, ticket) VALUES ($1, $2)"
# A leaf is what has files: a partition, or the table itself where there are none.
_DUE: Final = r"""
WITH root AS (
    SELECT oid, relkind FROM unnest($1::text[]) AS saying (name) JOIN pg_class ON oid = name::regclass
), leaf AS (
    SELECT inhrelid AS oid, inhparent AS parent, bound[1]::integer AS modulus, bound[2]::integer AS remainder
    FROM root JOIN pg_inherits ON inhparent = root.oid JOIN pg_class AS part ON part.oid = inhrelid,
        regexp_match(pg_get_expr(part.relpartbound, part.oid), '(\d+).*?(\d+)') AS bound
    UNION ALL SELECT oid, NULL, NULL, NULL FROM root WHERE relkind = 'r'
)
SELECT leaves, array_agg(ticket) FROM erasure JOIN (
    SELECT scope_id, array_agg(leaf.oid ORDER BY leaf.oid) AS leaves
    FROM (SELECT DISTINCT scope_id FROM erasure WHERE NOT rewritten) AS wanted JOIN leaf
        ON leaf.parent IS NULL OR satisfies_hash_partition(leaf.parent, leaf.modulus, leaf.remainder, scope_id)
    GROUP BY scope_id
) AS place USING (scope_id) WHERE NOT rewritten GROUP BY leaves ORDER BY leaves
"""
_LEAVES: Final = """
SELECT format('%I.%I', nspname, leaf.relname), quote_ident(by.relname), pg_total_relation_size(leaf.oid)::bigint,
    pg_has_role(leaf.relowner, 'USAGE') OR CASE WHEN current_setting('server_version_num')::integer >= 170000
        THEN has_table_privilege(leaf.oid, 'MAINTAIN') ELSE false END
FROM pg_class AS leaf JOIN pg_namespace ON pg_namespace.oid = leaf.relnamespace
JOIN pg_index ON indrelid = leaf.oid AND indisprimary JOIN pg_class AS by ON by.oid = indexrelid
WHERE leaf.oid = ANY($1::oid[]) ORDER BY leaf.oid
"""
_OPEN: Final = "SELECT ticket FROM erasure"
_REWRITTEN: Final = "UPDATE erasure SET rewritten = true WHERE ticket = ANY($1)"
_UNLOGGED: Final = "SELECT ticket FROM erasure WHERE rewritten"
_CLOSE: Final = "DELETE FROM erasure WHERE ticket = ANY($1)"
_MAY: Final = """
SELECT has_function_privilege('pg_switch_wal()', 'EXECUTE'),
    EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper)
    OR EXISTS (SELECT FROM pg_roles WHERE rolname = 'pg_checkpoint' AND pg_has_role(oid, 'USAGE'))
"""


class Rewriting(Enum):
    """What came of an attempt to rewrite partitions; why bytes wait, where they do."""

    DONE = "done"
    TAKEN = "another process or a long transaction has the tables; this is tried again"
    SEEN = "an older transaction of somebody may still read the rows; end it"
    TOO_LARGE = "the partitions are too large to be rewritten while others wait; run `mcp-memory-server doctor`"
    REFUSED = (
        "the server's role may not rewrite the tables; run `mcp-memory-server migrate` (Postgres 17), or give it them"
    )


class _Due(NamedTuple):
    """Partitions that hold erased rows, and the tickets of these."""

    leaves: tuple[int, ...]
    tickets: frozenset[UUID]


class _Leaf(NamedTuple):
    """A partition, its primary key, its size with all that belongs to it, and whether this role may rewrite it."""

    name: str
    key: str
    size_bytes: int
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Erased:
    """A record that left the tables."""

    key: str
    ticket: UUID


async def erase(db: Transaction, request: ForgetRequest) -> Erased | None:
    """Delete the record and all that was derived from it, and open a ticket for its bytes."""
    turn, held = await begin_with(db, request.scope, request.id)
    return None if held is None else await erase_held(turn, held, request)


async def erase_held(turn: Turn, held: Held, request: ForgetRequest) -> Erased:
    """As `erase`, of a record that was met in a turn, which ends with it."""
    turn.drop(held)
    await turn.end()
    await leave_audit_line(turn.db, request)
    return Erased(held.record.key, await open_ticket(turn.db, request.scope))


async def leave_audit_line(db: Transaction, request: ForgetRequest) -> None:
    """Note who had it done to which record, when and why, once: what stays when nothing else does."""
    said = (request.id, request.scope, request.by, request.at, request.reason)
    await db.run(_AUDIT, place_of(request.scope), *map(stored, said))


async def open_ticket(db: Transaction, scope: str) -> UUID:
    """Note that bytes have to leave the files, in the transaction that deletes them."""
    ticket = uuid7()
    await db.run(_TICKET, place_of(scope), ticket)
    return ticket


async def finish(database: Database, erased: Erased) -> Erasure:
    """Get the bytes of an erasure out of the files, if there is a chance to in time."""
    try:
        if await _patiently(lambda: _rewrite_one(database, erased.ticket)) is Rewriting.DONE:
            await _write_off_log(database)
            return "done"
    except StoreError as error:
        # The record is gone from every answer; only the bytes wait. Whoever looks for tickets next sees to it.
        logger.warning("the bytes of an erasure wait (%s)", error.code)
    return "pending"


async def complete_soon(database: Database) -> None:
    """As `finish`, of all that has tickets."""
    try:
        await complete(database, _AT_ONCE_BYTES)
    except StoreError as error:
        logger.warning("the bytes of erasures wait (%s)", error.code)


async def complete(
    database: Database, at_most_bytes: int | None = None, but: Collection[UUID] = ()
) -> tuple[Rewriting, ...]:
    """Get the bytes out that earlier erasures had to leave; what is in the way of the others.

    Args:
        at_most_bytes: how much may be rewritten at once; None for as much as there is, however long that takes.
        but: tickets that are left for later, because somebody may be at work on them.
    """
    came: list[Rewriting] = []
    for leaves, tickets in await database.read(None, _due):
        if not tickets <= set(but):
            came.append(await _patiently(lambda leaves=leaves: _rewrite(database, leaves, at_most_bytes)))
    await _write_off_log(database)
    return tuple(dict.fromkeys(way for way in came if way is not Rewriting.DONE))


async def open_tickets(db: Transaction) -> frozenset[UUID]:
    return frozenset(ticket for (ticket,) in await db.rows(_OPEN))


async def keep_erasing(database: Database) -> None:
    """Complete what an erasure of any process had to leave, every few seconds, until cancelled."""
    fresh, pause_s, told = frozenset[UUID](), _ERASE_EVERY_S, ""
    while True:
        await anyio.sleep(pause_s)
        waiting = ""
        try:
            known, fresh = fresh, await database.read(None, open_tickets)
            if known & fresh:
                waiting = "; ".join(way.value for way in await complete(database, _AT_ONCE_BYTES, fresh - known))
        except StoreError as error:
            waiting = error.code
        if waiting and waiting != told:
            logger.warning("pending erasures wait (%s)", waiting)
        # Not all over again every few seconds while a transaction of hours looks on.
        told, pause_s = waiting, min(pause_s * 2, _ERASE_AT_LEAST_EVERY_S) if waiting else _ERASE_EVERY_S


async def _due(db: Transaction) -> list[_Due]:
    rows = await db.rows(_DUE, list(_SAYING))
    return [_Due(tuple(leaves), frozenset(tickets)) for leaves, tickets in rows]


async def _patiently(attempt: Callable[[], Awaitable[Rewriting]]) -> Rewriting:
    """What comes of it, tried again for a while if others are in the way."""
    deadline, pause_s = anyio.current_time() + _PATIENCE_S, _RETRY_S
    while (came := await attempt()) in {Rewriting.TAKEN, Rewriting.SEEN}:
        if anyio.current_time() + pause_s > deadline:
            break
        await anyio.sleep(pause_s)
        pause_s *= 2
    return came


async def _rewrite_one(database: Database, ticket: UUID) -> Rewriting:
    """Rewrite the partitions that a ticket is about; it is done as well if somebody else just did it."""
    for due in await database.read(None, _due):
        if ticket in due.tickets:
            return await _rewrite(database, due.leaves, _AT_ONCE_BYTES)
    return Rewriting.DONE


async def _rewrite(database: Database, leaves: tuple[int, ...], at_most_bytes: int | None) -> Rewriting:
    """Rewrite partitions, in one transaction that notes it on all tickets of theirs."""
    limit_s = _LONGEST_S if at_most_bytes is None else None
    try:
        return await database.write(None, lambda db: _cluster(db, leaves, at_most_bytes), limit_s=limit_s)
    except StoreBusy:
        return Rewriting.TAKEN


async def _cluster(db: Transaction, leaves: tuple[int, ...], at_most_bytes: int | None) -> Rewriting:
    if not await db.value("SELECT pg_try_advisory_xact_lock($1)", _LOCK):
        return Rewriting.TAKEN
    parts = [_Leaf(*row) for row in await db.rows(_LEAVES, leaves)]
    if not all(part.is_ours for part in parts):
        return Rewriting.REFUSED
    if at_most_bytes is not None and sum(part.size_bytes for part in parts) > at_most_bytes:
        return Rewriting.TOO_LARGE
    await db.run(f"SET LOCAL lock_timeout = {_LOCK_MS}")
    await db.run(f"LOCK TABLE {', '.join(part.name for part in parts)} IN ACCESS EXCLUSIVE MODE")
    if at_most_bytes is None:
        await db.run("SET LOCAL statement_timeout = 0")
    tickets = [ticket for due in await _due(db) if due.leaves == leaves for ticket in due.tickets]
    for part in parts:
        if not _left_nothing(await db.remarks(f"CLUSTER (VERBOSE) {part.name} USING {part.key}")):
            return Rewriting.SEEN
    await db.run(_REWRITTEN, tickets)
    return Rewriting.DONE


def _left_nothing(details: Iterable[str]) -> bool:
    """Whether a CLUSTER left every dead row behind: it tells how many it could not, in the server's language."""
    kept = [int(number[0]) for detail in details if (number := re.search(r"\d+", detail))]
    return bool(kept) and not any(kept)


async def _write_off_log(database: Database) -> None:
    """Have the log's segments go that hold what the tables let go of, where the role may; close the tickets of it."""
    tickets = [ticket for (ticket,) in await database.read(None, lambda db: db.rows(_UNLOGGED))]
    if not tickets:
        return  # another process has been at it
    may_switch, may_checkpoint = await database.read((), lambda db: db.row(_MAY)) or (False, False)
    if may_checkpoint:
        if may_switch:
            await database.maintain(lambda db: db.value("SELECT pg_switch_wal()"))
        await database.maintain(lambda db: db.run("CHECKPOINT"))
    await database.write(None, lambda db: db.run(_CLOSE, tickets))
