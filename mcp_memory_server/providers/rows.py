"""Record to row and back, shared by the SQL providers.

A row holds what a query filters or sorts by in columns of its own; the rest of the record is JSON in `details`,
without defaults, so that a new optional field needs no new column.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from mcp_memory_server.records import MemoryRecord

from .base import JournaledDigest, JournaledEntry, VersionRef

RECORD_COLUMNS: Final = ("id", "key", "text", "created_at", "updated_at", "version", "pinned", "status", "details")
"""The columns of a record's row, in the order of `record_values` and `record_of`; its scope stands beside them."""

PINNED: Final = 1
ALONG: Final = 2
"""The bits of the column `pinned`: an operator's pin, and a kind that comes along in every digest without one."""

_APART: Final = {*RECORD_COLUMNS, "scope"}


def is_storable(name: str) -> bool:
    """Whether a column can hold the name at all: half of a surrogate pair has no place in UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def record_values(record: MemoryRecord) -> tuple[str | int | None, ...]:
    """The values of `RECORD_COLUMNS`."""
    details = record.model_dump_json(exclude=_APART, exclude_defaults=True)
    return (
        record.id,
        record.key,
        record.text,
        record.created_at,
        record.updated_at,
        record.version,
        (PINNED if record.pinned else 0) | (ALONG if record.kind == "working" else 0),
        record.status,
        details,
    )


def record_of(scope: str, values: Sequence[Any]) -> MemoryRecord:
    """The record of a row whose columns begin with `RECORD_COLUMNS`."""
    fields: dict[str, Any] = dict(zip(RECORD_COLUMNS, values, strict=False))
    details = json.loads(fields.pop("details"))
    fields["pinned"] &= PINNED
    return MemoryRecord(scope=scope, **fields, **details)


def journal_body(digest: JournaledDigest) -> str:
    """All of a journaled digest but its ids, actor and time, as JSON."""
    return json.dumps(
        {
            "scopes": digest.scopes,
            "entries": [
                [entry.ref.id, entry.ref.version, int(entry.pinned), [[o.id, o.version] for o in entry.overrides]]
                for entry in digest.entries
            ],
            "omitted": digest.omitted,
            "pinned_omitted": digest.pinned_omitted,
            "recalled": digest.recalled,
            "query_hash": digest.query_hash,
            "signals": dict(digest.signals),
            "as_of": digest.as_of,
            "known_at": digest.known_at,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def journaled_of(digest_id: str, actor_id: str, turn_id: str | None, at: str, body: str) -> JournaledDigest:
    """The journaled digest of a row."""
    fields = json.loads(body)
    entries = tuple(
        JournaledEntry(VersionRef(id_, version), bool(pinned), tuple(VersionRef(*ref) for ref in overrides))
        for id_, version, pinned, overrides in fields.pop("entries")
    )
    scopes = tuple(fields.pop("scopes"))
    return JournaledDigest(
        digest_id=digest_id, actor_id=actor_id, turn_id=turn_id, at=at, scopes=scopes, entries=entries, **fields
    )
