"""Versions of a record, as history and as what a replay was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mcp_memory_server.providers.base import HistoryRequest, VersionRef, VersionsRequest
from mcp_memory_server.providers.versions import closed_history
from mcp_memory_server.records import MemoryRecord

from .columns import COLUMNS, OLD_COLUMNS, record_of
from .connection import Transaction
from .names import places_of, stored_names

# A record and its history go together, so an old version needs no look at the current one.
_VERSIONS: Final = f"""
SELECT {OLD_COLUMNS}, history.scope_id FROM history WHERE scope_id = ANY($1) AND id = ANY($2::text[]) {{here}}
UNION ALL
SELECT {COLUMNS}, memory.scope_id FROM memory WHERE scope_id = ANY($1) AND id = ANY($2::text[]) {{here}}
"""
_ALL: Final = f"{_VERSIONS.format(here='')} ORDER BY id, version"
_NAMED: Final = _VERSIONS.format(here="AND version = ANY($3::bigint[])")


async def history(db: Transaction, request: HistoryRequest) -> tuple[MemoryRecord, ...]:
    return closed_history(await stored_versions(db, request.scopes, [request.id]))


async def stored_versions(db: Transaction, scopes: Sequence[str], ids: Sequence[str]) -> list[MemoryRecord]:
    """Every version of these records as it was when current, by id and oldest first; of those at the scopes."""
    places = places_of(scopes)
    rows = await db.rows(_ALL, list(places), stored_names(ids))
    return [record_of(places[row[-1]], row) for row in rows]


async def versions(db: Transaction, request: VersionsRequest) -> Mapping[VersionRef, MemoryRecord]:
    places = places_of(request.scopes)
    wanted = set(request.refs)
    ids, numbers = {ref.id for ref in wanted}, {ref.version for ref in wanted}
    found: dict[VersionRef, MemoryRecord] = {}
    for row in await db.rows(_NAMED, list(places), stored_names(sorted(ids)), sorted(numbers)):
        record = record_of(places[row[-1]], row)
        ref = VersionRef(record.id, record.version)
        if ref in wanted:
            found[ref] = record
    return found
