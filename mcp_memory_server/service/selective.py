"""Selective recall: of notes too many to show, those that a turn needs and the conversation was not shown yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from mcp_memory_server.recall import (
    Block,
    BodyLimits,
    Degrade,
    FullRecall,
    ManifestLimits,
    NoteHeader,
    NothingNew,
    Outcome,
    PickedNotes,
    SelectionRequest,
    build_manifest,
    compose_selective_body,
    resolve_links,
    unsurfaced,
    validate_selected_ids,
)
from mcp_memory_server.records import MemoryRecord

from .selector_guard import SelectorGuard


@dataclass(frozen=True, slots=True)
class SelectiveLimits:
    """How many notes a turn brings, and how long manifest and body may become.

    Without `repeat_caveat` only the first block of a conversation has the whole caveat, and later ones a line of it.
    """

    max_selected: int = 5
    max_linked: int = 3
    repeat_caveat: bool = True
    manifest: ManifestLimits = field(default_factory=ManifestLimits)
    body: BodyLimits = field(default_factory=BodyLimits)


@dataclass(frozen=True, slots=True)
class SelectiveRequest:
    """One turn of a conversation.

    Args:
        objective: what the turn is about, in plain words.
        entries: what applies, of one scope or several from narrow to wide, as `resolve_digest` returns it: of two
            answers to one key only the narrower, the wider one under it. The first ones are listed first.
        now: an aware time; ages count up to it.
        seen: the keys that this conversation's earlier recalls surfaced.
        recent_tools: the tools that the conversation used last.
        full_recall: how the model can load a whole note, if it can.
    """

    objective: str
    entries: Sequence[MemoryRecord]
    now: datetime
    seen: frozenset[str] = frozenset()
    recent_tools: tuple[str, ...] = ()
    full_recall: FullRecall | None = None
    limits: SelectiveLimits = field(default_factory=SelectiveLimits)


async def recall_selectively(request: SelectiveRequest, selector: SelectorGuard) -> Outcome:
    """The notes that a selector picks, and those that they name; nothing of what was shown before (spec section 8).

    Pinned notes are shown without being asked for, before the others and beyond `max_selected`. What an outcome
    surfaced belongs into `seen` of the next request. On `Degrade` the caller shows the whole block.
    """
    headers = [NoteHeader.of(entry) for entry in request.entries]
    if not headers:
        return Degrade("empty_scope")
    fresh = unsurfaced(headers, request.seen)
    if not fresh:
        return NothingNew()
    pinned = tuple(header for header in fresh if header.pinned)
    picked = await _pick(request, tuple(header for header in fresh if not header.pinned), selector)
    if isinstance(picked, Degrade):
        return picked
    most = request.limits.max_selected
    selected = (*pinned, *picked[:most])
    linked = resolve_links(fresh, selected, request.limits.max_linked)
    beyond = sum(header not in linked for header in picked[most:])
    body = _body(request, selected, linked, fresh, beyond)
    # Without an index nothing may be left to say.
    return body if body.surfaced or request.limits.body.index else NothingNew()


async def _pick(
    request: SelectiveRequest, selectable: tuple[NoteHeader, ...], selector: SelectorGuard
) -> tuple[NoteHeader, ...] | Degrade:
    """What the selector picked, best first; it may be more than a turn shows."""
    if not selectable:
        return ()
    limits = request.limits
    manifest = build_manifest(selectable, request.now, limits.manifest)
    if not manifest.listed:
        return Degrade("no_manifest")
    ids = await selector.select(
        SelectionRequest(request.objective, manifest, request.recent_tools, limits.max_selected)
    )
    if isinstance(ids, Degrade):
        return ids
    picked = validate_selected_ids(manifest.listed, ids, len(ids))
    # To pick nothing is an answer; to pick only what is not there is none.
    return Degrade("selector_invented") if ids and not picked else picked


def _body(
    request: SelectiveRequest,
    selected: Sequence[NoteHeader],
    linked: Sequence[NoteHeader],
    fresh: Sequence[NoteHeader],
    beyond: int,
) -> Block:
    limits = request.limits
    records = {(entry.scope, entry.id): entry for entry in request.entries}
    shown = {(header.scope, header.id) for header in (*selected, *linked)}
    return compose_selective_body(
        PickedNotes(
            selected=[records[header.scope, header.id] for header in selected],
            linked=[records[header.scope, header.id] for header in linked],
            further=[header for header in fresh if (header.scope, header.id) not in shown],
            beyond=beyond,
        ),
        request.now,
        limits.body if limits.repeat_caveat or not request.seen else replace(limits.body, caveat=False),
        request.full_recall,
    )
