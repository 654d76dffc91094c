"""The state of the store, for its operator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from mcp_memory_server.errors import StoreBusy
from mcp_memory_server.providers.base import Condition

from . import forgetting, roles, signing
from .connection import SCHEMA, Database, Transaction
from .forgetting import Rewriting

_LONGEST_S: Final = 3600.0
"""Everything is looked at, however much that is."""
_SERVER: Final = """
SELECT current_setting('server_version'), (SELECT max(number) FROM migration), current_user::text,
    row_security_active('memory'), (SELECT count(*) FROM pg_inherits WHERE inhparent = 'memory'::regclass),
    (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
     WHERE relnamespace = $1::text::regnamespace AND relkind = 'r')
"""
_COUNTED: Final = {
    "records": "memory",
    "audit_lines": "audit",
    "journaled_digests": "journal",
    "pending_erasures": "erasure",
}
_UNSEARCHABLE: Final = """
SELECT count(*) FROM memory WHERE status = 'active' AND NOT EXISTS (
    SELECT FROM signature WHERE signature.scope_id = memory.scope_id AND signature.number = memory.number
)
"""
_RECORD: Final = """
INSERT INTO note (name, value) VALUES ('last_maintenance', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""


async def examine(database: Database, language: str | None, *, is_owned_apart: bool) -> Condition:
    """Mend what can be mended, count what is held, and look at what keeps scopes apart.

    Args:
        language: as in `open_postgres`.
        is_owned_apart: whether the tables are to belong to another role than the one that servers connect as.
    """
    with contextlib.suppress(StoreBusy):  # records without a signature are told as a fault, then
        await _sign_anew(database, language)
    ways: tuple[Rewriting, ...] = ()
    with contextlib.suppress(StoreBusy):  # then the condition says so
        ways = await forgetting.complete(database)
    return await database.read(None, lambda db: _condition(db, ways, is_owned_apart), limit_s=_LONGEST_S)


async def _sign_anew(database: Database, language: str | None) -> None:
    """Replace signatures that an earlier release or another language made, and make those that are missing."""
    batch = signing.Batch()
    while batch.goes_on:
        after = batch.last
        batch = await database.read(None, lambda db, after=after: signing.stale(db, after, language))
        if batch.stale:
            await database.write(None, lambda db, stale=batch.stale: signing.sign(db, stale))


async def _condition(db: Transaction, ways: tuple[Rewriting, ...], is_owned_apart: bool) -> Condition:
    await db.run("SET LOCAL statement_timeout = 0")
    row = await db.row(_SERVER, SCHEMA)
    assert row is not None
    release, schema_version, role, is_walled, partitions, size = row
    details: dict[str, str | int] = {
        "server_version": release,
        "schema_version": schema_version,
        "role": role,
        "row_level_security": "on" if is_walled else "off",
        "partitions": partitions,
        "size_bytes": size,
    }
    details |= {name: await db.value(f"SELECT count(*) FROM {table}") for name, table in _COUNTED.items()}
    unsearchable = await db.value(_UNSEARCHABLE)
    gap = roles.told_gap(role, await db.row(roles.WALL, role, SCHEMA))
    faults = [*_faults(unsearchable, int(details["pending_erasures"]), ways)]
    if gap is None:
        faults += roles.told_lacks(await db.row(roles.LACKING, SCHEMA))
    elif is_owned_apart:
        faults.append(gap)
    return Condition(details, tuple(faults), () if gap is None or is_owned_apart else (gap,))


def _faults(unsearchable: int, pending: int, ways: tuple[Rewriting, ...]) -> Iterator[str]:
    if unsearchable:
        yield f"{unsearchable} records cannot be found by search. Run doctor again when fewer write to the store."
    if pending:
        why = "; ".join(way.value for way in ways) or "the database was busy; run doctor again"
        yield f"{pending} erasures wait: {why}."


async def record_maintenance(db: Transaction, at: str) -> None:
    await db.run(_RECORD, at)


async def last_maintenance(db: Transaction) -> str | None:
    return await db.value("SELECT value FROM note WHERE name = 'last_maintenance'")
