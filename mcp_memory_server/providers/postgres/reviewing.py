"""A person's decision about a record that waits for one."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import ForgetRequest, Settled, SettleRequest
from mcp_memory_server.providers.signatures import signature_of
from mcp_memory_server.providers.versions import approval
from mcp_memory_server.records import active_lane

from .connection import Transaction
from .forgetting import Erased, erase_held, leave_audit_line, open_ticket
from .turns import Held, Turn
from .writing import begin_with, close_superseded, meet_current, meet_ids


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was settled, and what of it has to leave the files."""

    settled: Settled
    erased: Erased | None


async def settle(db: Transaction, request: SettleRequest, language: str | None) -> Outcome | None:
    """Take the record out of quarantine, into its place or away. `language` is that of the ranking signatures."""
    turn, held = await begin_with(db, request.scope, request.id)
    if held is None or held.record.status != "quarantined":
        return None
    if request.decision == "reject":
        rejection = ForgetRequest(request.scope, request.id, request.by, request.at, "rejected")
        return Outcome(Settled(None), await erase_held(turn, held, rejection))
    return await _approve(turn, held, request, language)


async def _approve(turn: Turn, waiting: Held, request: SettleRequest, language: str | None) -> Outcome:
    held = waiting.record
    place = (held.scope, held.key, active_lane(held.kind, held.origin.thread_id))
    await meet_current(turn, [place])
    current = turn.current(*place)
    approved = approval(held, current and current.record, request)
    record = approved.record
    if record.supersedes is not None:
        await meet_ids(turn, [(record.scope, record.supersedes)])
    if approved.status != "stored":
        turn.drop(waiting)
    if approved.previous is not None:
        turn.keep(approved.previous)
    if approved.status != "unchanged":
        if record.supersedes is not None:
            with contextlib.suppress(InvalidInput):  # it is gone by now, or was never active
                close_superseded(turn, record)
        turn.put(record, signature_of(record, language))
    await turn.end()
    await leave_audit_line(turn.db, ForgetRequest(request.scope, request.id, request.by, request.at, "approved"))
    erased = None
    if approved.status != "stored" or record.text != held.text:
        erased = Erased(held.key, await open_ticket(turn.db, held.scope))
    return Outcome(Settled(record, approved.previous), erased)
