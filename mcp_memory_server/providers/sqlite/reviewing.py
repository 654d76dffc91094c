"""A person's decision about a record that waits for one."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import ForgetRequest, Settled, SettleRequest
from mcp_memory_server.providers.rows import record_of
from mcp_memory_server.providers.signatures import signature_of
from mcp_memory_server.providers.versions import approval
from mcp_memory_server.records import active_lane

from .forgetting import Erased, delete, erase, leave_audit_line, open_ticket
from .names import is_storable
from .reading import COLUMNS
from .writing import advance, announce, close_superseded, current_in, into_history, put

_WAITING = f"""
SELECT {COLUMNS}, memory.number FROM memory JOIN scope ON scope.id = memory.scope_id
WHERE scope.token = ? AND memory.id = ? AND memory.status = 'quarantined'
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was settled, and what of it has to leave the files."""

    settled: Settled
    erased: Erased | None


def settle(db: sqlite3.Connection, request: SettleRequest, language: str | None) -> Outcome | None:
    """Take the record out of quarantine, into its place or away. `language` is that of the ranking signatures."""
    if not (is_storable(request.scope) and is_storable(request.id)):
        return None
    row = db.execute(_WAITING, (request.scope, request.id)).fetchone()
    if row is None:
        return None
    if request.decision == "reject":
        rejection = ForgetRequest(request.scope, request.id, request.by, request.at, "rejected")
        return Outcome(Settled(None), erase(db, rejection))
    held, number = record_of(request.scope, row), row[-1]
    current = current_in(db, held.scope, held.key, active_lane(held.kind, held.origin.thread_id))
    approved = approval(held, current, request)
    place = advance(db, held.scope)
    gone: list[str] = []
    if approved.status != "stored":
        gone += delete(db, place, number, held.id)
    if approved.previous is not None:
        into_history(db, approved.previous)
    if approved.status != "unchanged":
        if approved.record.supersedes is not None:
            with contextlib.suppress(InvalidInput):  # it is gone by now, or was never active
                close_superseded(db, place, approved.record)
        put(db, place, approved.record, signature_of(approved.record, language))
    if approved.record.id != held.id:
        announce(db, held.scope, held.id)
    if approved.record.text != held.text:
        gone.append(held.text)
    leave_audit_line(db, ForgetRequest(request.scope, request.id, request.by, request.at, "approved"))
    erased = Erased(held.key, open_ticket(db), tuple(gone)) if gone else None
    return Outcome(Settled(approved.record, approved.previous), erased)
