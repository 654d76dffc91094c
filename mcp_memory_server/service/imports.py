"""Taking in a file that did not leave from here: nothing of what it claims about trust is believed (spec 9.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mcp_memory_server.identity import RequestContext
from mcp_memory_server.kinds.insights import FIRST_SALIENCE
from mcp_memory_server.policy import Claim, standing
from mcp_memory_server.providers.base import SET_ASIDE_TOO, ListRequest, can_browse
from mcp_memory_server.records import MemoryRecord

from .operate import take_in
from .trust import refuse_credentials, said_in, suspicion_of
from .wiring import Wiring

Versions = tuple[MemoryRecord, ...]

_UNTRIED: Final = {"success_count": 0, "failure_count": 0, "succeeded_in": ()}
"""A rule that nobody here has followed yet."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """How many records of a foreign file are new here, and how many of them wait for review."""

    changed: int
    waiting: int


def check_importable(record: MemoryRecord) -> None:
    """Refuse a record of a foreign file that holds a credential.

    Raises:
        CredentialRefused
    """
    refuse_credentials(said_in(record))


async def take_in_foreign(
    wiring: Wiring,
    context: RequestContext,
    records: Sequence[Versions],
    *,
    elevated: bool = False,
    any_scope: bool = False,
) -> TakenIn:
    """Restore records as an import: the server says who wrote them and how far they are trusted, not the file.

    Each keeps its times, up to now, and its history, but is a note of provenance `imported` on behalf of whoever
    imports it, pins and locks nothing, takes no other fact's place, has neither trials nor votes to its credit and,
    unless the operator's policy says otherwise, waits for review. One whose id is taken here gets another; what is held
    here or waits already is left out.

    Raises:
        Refused, InvalidInput, NotSupported: see `operate.take_in`; nothing was taken in.
    """
    known = await _known(wiring, records)
    taken = {record.id for record in known}
    said = {_said(record) for record in known}
    new: list[Versions] = []
    for versions in records:
        stamped = _stamped(wiring, context, versions)
        if _said(stamped[-1]) in said:
            continue
        if stamped[-1].id in taken:
            fresh = wiring.new_id()
            stamped = tuple(version.model_copy(update={"id": fresh}) for version in stamped)
        new.append(stamped)
    changed = await take_in(wiring, context, new, elevated=elevated, any_scope=any_scope)
    return TakenIn(changed, sum(versions[-1].status == "quarantined" for versions in new))


def _stamped(wiring: Wiring, context: RequestContext, versions: Versions) -> Versions:
    """A record as the server has it, whatever the file claims. Its versions stand and fall together.

    Whoever approves it sees the current one, so what any of them says counts for all.
    """
    suspicion = next(filter(None, (suspicion_of(said_in(version)) for version in versions)), None)
    now = wiring.now()
    return tuple(_stamped_version(wiring, context, _written_by(version, now), suspicion) for version in versions)


def _written_by(version: MemoryRecord, now: str) -> MemoryRecord:
    """The version, written no later than now: one of the future would be the newest for ever."""
    created_at = version.created_at and min(version.created_at, now)
    return version.model_copy(update={"created_at": created_at, "updated_at": min(version.updated_at, now)})


def _stamped_version(
    wiring: Wiring, context: RequestContext, version: MemoryRecord, suspicion: str | None
) -> MemoryRecord:
    verdict = standing(Claim("agent", "imported", suspicion, sensitivity=version.sensitivity), wiring.quarantine)
    return version.model_copy(
        update={
            "origin": version.origin.model_copy(update={"author": "agent", "actor_ref": context.actor.id}),
            "provenance": "imported",
            "status": verdict.status,
            "held_because": verdict.held_because,
            "pinned": False,
            "supersedes": None,
            "superseded_by": None,
            "rule": version.rule and version.rule.model_copy(update=_UNTRIED),
            "insight": version.insight and version.insight.model_copy(update={"salience": FIRST_SALIENCE}),
            "working": version.working and version.working.model_copy(update={"read_only": False}),
        }
    )


async def _known(wiring: Wiring, records: Sequence[Versions]) -> Sequence[MemoryRecord]:
    """What is held under the ids of the records, wherever, and under their keys at their scopes."""
    provider = wiring.provider
    current = [versions[-1] for versions in records if versions]
    scopes = tuple({record.scope for record in current})
    everywhere = await provider.scopes() if can_browse(provider) else scopes
    requests = (
        ListRequest(everywhere, ids=tuple(record.id for record in current), filter=SET_ASIDE_TOO),
        ListRequest(scopes, keys=tuple({record.key for record in current}), filter=SET_ASIDE_TOO),
    )
    return [record for request in requests for record in (await provider.list(request)).records]


def _said(record: MemoryRecord) -> tuple[object, ...]:
    return record.scope, record.key, record.text, record.tags, record.valid_from, record.valid_to, record.kind
