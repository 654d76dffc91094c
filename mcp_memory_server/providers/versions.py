"""What a write and a restore do to the versions of a record, and what may be held: decided once for all providers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from mcp_memory_server.errors import Conflict, InvalidInput, Problem, echo
from mcp_memory_server.records import Kind, MemoryRecord, active_lane, check_validity, lane_of

from .base import (
    AuditLine,
    Carried,
    EntityId,
    HeldVectors,
    JournaledDigest,
    Merge,
    RestoreRequest,
    ReviseRequest,
    SettleRequest,
    SurfaceRequest,
    VectorsWrite,
    WriteRequest,
    Written,
)

MAX_NAME_CHARS: Final = 256
"""Of each name that rows are found by: a store keeps those in indexes, and in no database does any length fit there."""

_TAKEN_FROM_THE_REQUEST: Final = tuple(
    field.name for field in fields(WriteRequest) if field.name not in {"at", "if_version"}
)
_SAID: Final = ("text", "tags", "valid_from", "valid_to", "kind", "rule", "episode", "working", "insight")
"""What a record says: writing the same again changes nothing."""
_ASKED: Final = ("subject", "predicate", "object", "extraction", "sensitivity", "supersedes")
"""What a write of the same may ask for besides."""

_KEPT_BY_A_REVISION: Final = (
    "id", "scope", "key", "text", "origin", "created_at", "updated_at", "pinned", "status",
)  # fmt: skip

__all__ = [
    "MAX_NAME_CHARS",
    "approval",
    "check_carried",
    "check_journalable",
    "check_restorable",
    "check_surfacing",
    "check_vectors",
    "closed",
    "closed_history",
    "lane_of",
    "next_version",
    "refuse_outside",
    "revised",
    "superseded",
    "target_lane",
]


def target_lane(request: WriteRequest) -> str:
    """The lane of the active record that the request is about: what it replaces, or would once it is approved."""
    return active_lane(request.kind, request.origin.thread_id)


def next_version(
    current: MemoryRecord | None, request: WriteRequest, new_id: str, waiting: Iterable[MemoryRecord] = ()
) -> Written:
    """What writing `request` over `current` comes to; `new_id` names the record when there is none yet.

    `previous` is the replaced record as it was; `closed` gives the form in which history shows it.

    Args:
        current: the active record of the key in the `target_lane`. A quarantined request leaves it as it is.
        request: what to write.
        new_id: names a record that is new.
        waiting: the quarantined records of the key; looked at when the request is to be quarantined.

    Raises:
        Conflict: `if_version` is not the current version, whatever is to be written.
        InvalidInput: a value that no record can hold, such as half of a surrogate pair or too long a name; or another
            kind.
    """
    if current is not None and request.supersedes == current.id:
        raise InvalidInput.of("supersedes", "is the record of that key itself: writing the key replaces its fact")
    held = current.version if current else 0
    if request.if_version is not None and request.if_version != held:
        raise Conflict(request.key, request.if_version, held, current.text if current else None)
    if current is not None:
        _refuse_other_kind(current, request.kind)
        if _says_the_same(current, request):
            return Written("unchanged", current)
    if request.status == "quarantined":
        for held in waiting:
            if held.origin.actor_ref == request.origin.actor_ref and _says_the_same(held, request):
                return Written("unchanged", held)
    if current is None or request.status == "quarantined":
        return Written("stored", _record(request, id=new_id, created_at=request.at))
    replacement = _record(
        request,
        id=current.id,
        created_at=current.created_at,
        version=current.version + 1,
        pinned=current.pinned,
        sensitivity=request.sensitivity or current.sensitivity,
        supersedes=request.supersedes or current.supersedes,
    )
    return Written("replaced", replacement, previous=current)


def superseded(old: MemoryRecord | None, by: MemoryRecord) -> MemoryRecord:
    """The version that closes a record whose place another one takes.

    Raises:
        InvalidInput: there is no active record of the id that `by` supersedes.
    """
    if old is None or old.status != "active" or old.scope != by.scope:
        raise InvalidInput.of("supersedes", f"names no active record at {by.scope}: {echo(by.supersedes)}")
    closing = {"valid_to": _ended(old, by.updated_at), "superseded_by": by.id}
    return old.model_copy(update=closing | {"version": old.version + 1, "updated_at": by.updated_at})


def _refuse_other_kind(current: MemoryRecord, kind: Kind) -> None:
    """What a block, a rule or a fact of a key is, it stays: a slip of the key must not take one for the other."""
    if current.kind != kind:
        raise InvalidInput.of(
            "key",
            f"is that of a memory of the kind {current.kind}, which one of the kind {kind} does not replace; use "
            "another key, or forget that memory first",
        )


def revised(current: MemoryRecord, request: ReviseRequest) -> Written:
    """What revising the record that is held, in whichever lane, comes to.

    Raises:
        Conflict: it is at another version.
        InvalidInput: a value that no record can hold.
    """
    asked = request.record
    if current.version != asked.version:
        raise Conflict(asked.key, asked.version, current.version, current.text)
    kept = {name: getattr(current, name) for name in _KEPT_BY_A_REVISION}
    if (record := asked.model_copy(update=kept)) == current:
        return Written("unchanged", current)
    record = record.model_copy(update={"version": current.version + 1, "updated_at": request.at})
    _check_holdable("record", record)
    return Written("replaced", record, previous=current)


def approval(held: MemoryRecord, current: MemoryRecord | None, request: SettleRequest) -> Written:
    """What approving the quarantined record `held` over the active fact of its key comes to.

    The record of `stored` has the id of `held`; otherwise `held` is to go.

    Raises:
        Conflict: `if_version` is not the current version.
        InvalidInput: the text is one that no record can hold, or that follows from the parts of its kind; the active
            memory of the key is of another kind; or it is a working block that was changed after this edit of it.
    """
    version = current.version if current else 0
    if request.if_version is not None and request.if_version != version:
        raise Conflict(held.key, request.if_version, version, current.text if current else None)
    edited = request.text is not None and request.text != held.text
    if edited and (held.rule is not None or held.working is not None):
        raise InvalidInput.of("text", f"of a {held.kind} memory follows from its parts; reject it, and write it anew")
    if current is not None:
        _refuse_other_kind(current, held.kind)
        if held.working is not None and current.updated_at > held.updated_at:
            raise InvalidInput.of(
                "id",
                "names an edit of a block that was changed since, which approving it would undo; put what it adds into "
                "the block, and reject it",
            )
    moves = current is not None or edited or held.provenance != "imported"
    said: dict[str, Any] = {
        "text": request.text if request.text is not None else held.text,
        "origin": request.origin or held.origin,
        "provenance": request.provenance or held.provenance,
        "status": "active",
        "held_because": None,
        "updated_at": request.at if moves else held.updated_at,
    }
    _check_holdable("record", approved := held.model_copy(update=said))
    if current is None:
        return Written("stored", approved)
    if all(getattr(current, name) == getattr(approved, name) for name in _SAID):
        return Written("unchanged", current)
    kept = {"id": current.id, "created_at": current.created_at, "pinned": current.pinned}
    if current.sensitivity == "secret":
        kept["sensitivity"] = current.sensitivity  # what an approval does not say does not uncover anything
    replacement = approved.model_copy(update=kept | {"version": current.version + 1})
    return Written("replaced", replacement, previous=current)


def closed(record: MemoryRecord, replaced_at: str) -> MemoryRecord:
    """A version as history shows it: superseded, and true no longer than until it was replaced."""
    return record.model_copy(update={"superseded_by": record.id, "valid_to": _ended(record, replaced_at)})


def _ended(record: MemoryRecord, at: str) -> str:
    """When a fact that is over at that instant ended; one that was to begin later has ended as it began."""
    ends = at if record.valid_to is None else min(record.valid_to, at)
    return ends if record.valid_from is None else max(record.valid_from, ends)


def closed_history(versions: Sequence[MemoryRecord]) -> tuple[MemoryRecord, ...]:
    """All versions of one record, oldest first: each but the last closed at the time of the one that replaced it."""
    replaced = (closed(old, new.updated_at) for old, new in pairwise(versions))
    return (*replaced, *versions[-1:])


def check_restorable(request: RestoreRequest) -> None:
    """Refuse what cannot be the versions of records, before anything is taken in.

    Raises:
        InvalidInput: a record without versions, whose versions do not rise or disagree about id, scope or key,
            or that holds half of a surrogate pair or too long a name. The message names its place.
    """
    for place, versions in enumerate(request.records, start=1):
        argument = f"record {place}"
        if not versions:
            raise InvalidInput.of(argument, "has no version")
        if len({(version.id, version.scope, version.key) for version in versions}) > 1:
            raise InvalidInput.of(argument, "has versions that disagree about its id, scope or key")
        if any(old.version >= new.version for old, new in pairwise(versions)):
            raise InvalidInput.of(argument, "has versions that do not rise")
        for version in versions:
            _check_holdable(argument, version)
            check_validity(version.valid_from, version.valid_to)


def refuse_outside(request: RestoreRequest, place: int, scope: str) -> None:
    """Refuse to replace what is held at `scope`, unless the request allows it, for the record at that place.

    Raises:
        InvalidInput: naming the place, and not where the id is held.
    """
    if request.replace_at is not None and scope not in request.replace_at:
        raise InvalidInput.of(f"record {place}", "has an id that is taken; nothing was taken in. Leave its line out")


def check_journalable(digest: JournaledDigest) -> None:
    """Refuse a digest whose names no store can hold.

    Raises:
        InvalidInput: a name holds half of a surrogate pair, or is too long.
    """
    ids = [ref.id for entry in digest.entries for ref in (entry.ref, *entry.overrides)]
    names = (digest.digest_id, digest.actor_id, digest.turn_id or "", digest.query_hash or "", *digest.scopes)
    try:
        "".join((*names, *digest.signals, *digest.signals.values(), *ids)).encode()
    except UnicodeEncodeError:
        raise InvalidInput.of("digest", "has a name that holds half of a surrogate pair; send whole ones") from None
    _check_lengths("digest", digest_id=digest.digest_id, turn_id=digest.turn_id)


def check_surfacing(request: SurfaceRequest) -> None:
    """Refuse a set whose name no store can hold.

    Raises:
        InvalidInput: a name holds half of a surrogate pair, or is too long.
    """
    try:
        (request.actor_id + request.conversation_id).encode()
    except UnicodeEncodeError:
        raise InvalidInput.of("conversation_id", "holds half of a surrogate pair; send whole ones") from None
    _check_lengths("request", conversation_id=request.conversation_id)


def check_carried(rows: Sequence[Carried]) -> None:
    """Refuse what no store can hold, before anything is taken in.

    Raises:
        InvalidInput: see `check_journalable`, `check_surfacing` and `check_vectors`.
    """
    for row in rows:
        match row:
            case JournaledDigest():
                check_journalable(row)
            case SurfaceRequest():
                check_surfacing(row)
            case HeldVectors():
                check_vectors(VectorsWrite(row.embedder, (row.vectors,)))
            case EntityId() | Merge() | AuditLine():
                pass  # ids and names of a store, which held them


def check_vectors(request: VectorsWrite) -> None:
    """Refuse vectors that no search could use.

    Raises:
        InvalidInput: the embedder's id is blank or cannot be encoded, or the vectors differ in dimension.
    """
    try:
        blank = not request.embedder.encode().strip()
    except UnicodeEncodeError:
        blank = True
    if blank:
        raise InvalidInput.of("embedder", "has no usable id")
    if len({len(record.pooled) for record in request.records}) > 1:
        raise InvalidInput.of("vectors", "differ in dimension, so that they cannot be of one embedder")


def _says_the_same(current: MemoryRecord, request: WriteRequest) -> bool:
    """Whether the record says and is all that the request asks for; what is unset asks for nothing.

    What is set aside says nothing to anybody, so stating it again brings it back.
    """
    if current.archived_at is not None and request.archived_at is None:
        return False
    said = all(getattr(current, name) == getattr(request, name) for name in _SAID)
    asked = ((getattr(current, name), getattr(request, name)) for name in _ASKED)
    return said and all(wanted is None or wanted == held for held, wanted in asked)


def _record(request: WriteRequest, **kept: Any) -> MemoryRecord:
    asked = {name: value for name in _TAKEN_FROM_THE_REQUEST if (value := getattr(request, name)) is not None}
    try:
        record = MemoryRecord(**(asked | kept), updated_at=request.at)
        check_validity(record.valid_from, record.valid_to)
    except ValidationError as error:
        # `from None`: pydantic's message quotes the text, and messages reach logs.
        raise InvalidInput(
            *(
                Problem(".".join(map(str, fault["loc"])), f"cannot be stored: {fault['msg']}")
                for fault in error.errors()
            )
        ) from None
    _check_holdable("record", record)
    return record


def _check_holdable(argument: str, record: MemoryRecord) -> None:
    """pydantic takes any string of Python's; UTF-8, and so every store, does not, and an index takes no long one."""
    try:
        record.model_dump_json()
    except PydanticSerializationError:
        raise InvalidInput.of(argument, "holds half of a surrogate pair; send whole ones") from None
    thread = record.origin.thread_id if record.kind == "session" else None
    _check_lengths(argument, id=record.id, key=record.key, thread=thread, subject=record.subject, object=record.object)


def _check_lengths(argument: str, **names: str | None) -> None:
    for kind, name in names.items():
        if name is not None and len(name) > MAX_NAME_CHARS:
            raise InvalidInput.of(argument, f"has {kind} of {len(name)} characters; the limit is {MAX_NAME_CHARS}")
