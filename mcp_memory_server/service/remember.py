"""Recording a fact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypedDict, get_args

from mcp_memory_server.digest import Override
from mcp_memory_server.errors import Conflict, InvalidInput, NotSupported, Problem, echo
from mcp_memory_server.identity import RequestContext, actor_scope, check_scope, project_scope
from mcp_memory_server.kinds import PLAIN, Form
from mcp_memory_server.policy import write_verdict
from mcp_memory_server.providers.base import (
    SENSITIVITIES,
    SET_ASIDE_TOO,
    Filter,
    ListRequest,
    SearchRequest,
    WriteRequest,
    WriteStatus,
    WritingProvider,
    Written,
    can_search,
    can_write,
    instant,
)
from mcp_memory_server.records import (
    Author,
    MemoryOrigin,
    MemoryRecord,
    Sensitivity,
    check_validity,
    normal_key,
    normal_tags,
    normal_text,
)
from mcp_memory_server.similarity import similar_keys

from .offer import journaled_digest
from .trust import judged, refuse_credentials
from .wiring import Wiring

Where = Literal["everywhere", "project"]

Claimed = Literal["tool", "extraction", "reflection", "induction"]
"""The provenances that a caller may name: what a person stated and what was imported is for the server to say."""

_TEXTS: Final = ("key", "fact", "tags")
"""The arguments that hold words of the caller's."""

_CHECKED: Final = (*_TEXTS, "valid_from", "valid_to", "if_version", "sensitivity")


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """A fact to record under a key, as given; normalising and checking it is the use case's work.

    `digest_id` names the digest that the fact was concluded from: the write is then authorised against the
    scopes recorded with it. `if_version` writes only over that version of the key; 0 only where there is none.
    `supersedes` is the id of a fact under another key, at the same scope, whose place this one takes: it ends now.
    `sensitivity` unset keeps that of the fact that is replaced; a new one is `internal`. `form` is for the use cases
    of the other kinds, which have checked it.

    `provenance` is how a host came by the fact, `tool` unless it says otherwise: what was extracted from a
    conversation or reflected upon waits for review. `derived_from` are the ids of the records that it rests on: it
    is trusted no more than they are, and is as sensitive.
    """

    key: str
    fact: str
    tags: Sequence[str] = ()
    valid_from: str | None = None
    valid_to: str | None = None
    if_version: int | None = None
    digest_id: str | None = None
    where: Where = "everywhere"
    supersedes: str | None = None
    sensitivity: Sensitivity | None = None
    form: Form = PLAIN
    provenance: Claimed = "tool"
    derived_from: Sequence[str] = ()


class RememberOptions(TypedDict, total=False):
    """The optional fields of `RememberRequest`, as keyword arguments."""

    tags: Sequence[str]
    valid_from: str | None
    valid_to: str | None
    if_version: int | None
    digest_id: str | None
    where: Where
    supersedes: str | None
    sensitivity: Sensitivity | None
    provenance: Claimed
    derived_from: Sequence[str]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a write. Its record may be `quarantined`: then it waits for review, and `held_because` says why.

    `previous` is the fact that it replaced, unless that lies above the session's ceiling. `overrides` are the wider
    answers that the record now outranks, `outranked_by` the narrower ones that stand before it here; `similar_keys`
    are other keys that look like the same question.
    """

    status: WriteStatus
    record: MemoryRecord
    previous: MemoryRecord | None
    overrides: tuple[Override, ...]
    similar_keys: tuple[str, ...]
    outranked_by: tuple[Override, ...] = ()

    @property
    def validity_note(self) -> str | None:
        """A sentence about a fact that does not hold when it is written, and so is in no digest yet, or any more."""
        record = self.record
        if record.valid_from is not None and record.valid_from > record.updated_at:
            return f"It is shown from {record.valid_from} on; until then nothing answers the key at {record.scope}."
        if record.valid_to is not None and record.valid_to <= record.updated_at:
            return f"It ended at {record.valid_to}: only a question about the time before shows it."
        return None


async def remember(wiring: Wiring, context: RequestContext, request: RememberRequest) -> Remembered:
    """Record an assistant's conclusion at an own scope of the actor.

    Raises:
        InvalidInput: every wrong argument, with the limit that it broke.
        CredentialRefused: an argument holds one.
        Refused: the target scope does not apply.
        Conflict: `if_version` does not match.
        NotFound: no such digest.
        NotSupported: the provider is read-only.
    """
    scopes = await concluded_at(wiring, context, request)
    return await write_at(wiring, context, request, scopes, own_scope(context, request.where), author="agent")


async def concluded_at(wiring: Wiring, context: RequestContext, request: RememberRequest) -> tuple[str, ...]:
    """The scopes that a conclusion is authorised against: of the digest that it was drawn from, or of now.

    Raises:
        NotFound: no such digest.
    """
    if request.digest_id is None:
        return tuple(await wiring.resolver.resolve(context))
    return (await journaled_digest(wiring, context, request.digest_id)).scopes


def own_scope(context: RequestContext, where: Where) -> str:
    """The own scope that `where` names.

    Raises:
        InvalidInput: `project` without a configured project.
    """
    if where == "everywhere":
        return actor_scope(context.actor)
    if context.project is None:
        raise InvalidInput.of("where", "is 'project', but no project is configured; use 'everywhere'")
    return project_scope(context.actor, context.project)


async def write_at(  # noqa: PLR0913  # the request, and who decides what about it
    wiring: Wiring,
    context: RequestContext,
    request: RememberRequest,
    scopes: Sequence[str],
    scope: str,
    *,
    author: Author,
    elevated: bool = False,
) -> Remembered:
    """Record a fact at `scope`, when policy lets `author` do so given the `scopes` that apply."""
    provider = _writing(wiring)
    write_verdict(context.actor, scopes, scope, author, elevated).require()
    draft = await admitted(wiring, context, request, scopes, check_scope(scope), author=author)
    try:
        written = await provider.write(draft)
    except Conflict as conflict:
        raise await _without_what_is_kept_back(wiring, context, draft, conflict) from None
    return await told(wiring, context, scopes, draft, written)


async def told(
    wiring: Wiring, context: RequestContext, scopes: Sequence[str], draft: WriteRequest, written: Written
) -> Remembered:
    """What became of a write, with what else the writer may know about its key."""
    if written.record.status == "quarantined":  # it answers nothing yet
        return Remembered(written.status, written.record, None, (), ())
    wiring.embeddings.poke()
    shown = _shown_to_writer(wiring, context, draft)
    narrower, wider = await _answers_elsewhere(wiring, scopes, draft, shown)
    similar = await _similar(wiring, scopes, draft, shown) if written.status == "stored" else ()
    previous = written.previous
    if previous is not None and previous.sensitivity not in shown.ceiling:
        previous = None
    return Remembered(written.status, written.record, previous, wider, similar, narrower)


def _shown_to_writer(wiring: Wiring, context: RequestContext, draft: WriteRequest) -> Filter:
    """What a session may be shown now; a person writes at the console, which shows everything that holds."""
    shown = wiring.shown_now(context)
    return replace(shown, max_sensitivity=None) if draft.origin.author == "human" else shown


async def _without_what_is_kept_back(
    wiring: Wiring, context: RequestContext, draft: WriteRequest, conflict: Conflict
) -> Conflict:
    """The conflict, without the current text where the writer may not read that."""
    readable = replace(SET_ASIDE_TOO, max_sensitivity=_shown_to_writer(wiring, context, draft).max_sensitivity)
    asked = ListRequest((draft.scope,), keys=(draft.key,), filter=readable)
    if any(record.text == conflict.current_text for record in (await wiring.provider.list(asked)).records):
        return conflict
    return Conflict(conflict.key, conflict.expected, conflict.current_version)


def _writing(wiring: Wiring) -> WritingProvider:
    provider = wiring.provider
    if not can_write(provider):
        name = provider.capabilities.provider
        raise NotSupported(name, "be written to", "Nothing was stored. Configure a writable store.")
    return provider


async def admitted(  # noqa: PLR0913  # who writes what where
    wiring: Wiring,
    context: RequestContext,
    request: RememberRequest,
    scopes: Sequence[str],
    scope: str,
    *,
    author: Author,
) -> WriteRequest:
    """The write as policy lets it in: checked, normalised and, unless it can be trusted, held for review.

    Raises:
        InvalidInput: it names every wrong argument at once.
        CredentialRefused, Refused
    """
    draft = drafted(wiring, context, request, scope, author)
    provenance = request.form.provenance or ("user" if author == "human" else _claimed(request))
    words = {name: getattr(request, name) for name in _TEXTS} | request.form.names
    if request.form.raw:
        del words["fact"]  # it follows from these
    return await judged(wiring, scopes, draft, provenance, {**words, **request.form.raw})


def drafted(  # noqa: PLR0913  # likewise
    wiring: Wiring,
    context: RequestContext,
    request: RememberRequest,
    scope: str,
    author: Author,
    *,
    wrong: Iterable[Problem] = (),
) -> WriteRequest:
    """The checked and normalised write.

    Raises:
        InvalidInput: it names every wrong argument at once, those that the caller found `wrong` too.
        CredentialRefused: before anything else.
    """
    given = {name: getattr(request, name) for name in _CHECKED}
    values, problems = _normalised(given, request.form.max_chars(wiring.limits.max_fact_chars))
    if problems := [*wrong, *problems]:
        raise InvalidInput(*problems)
    fields: dict[str, Any] = dict(request.form.fields)
    fields["derived_from"] = tuple(dict.fromkeys((*request.derived_from, *request.form.derived_from)))
    return WriteRequest(
        scope=scope,
        key=values["key"],
        text=values["fact"],
        origin=MemoryOrigin(
            author=author,
            thread_id=context.thread_id,
            run_id=context.run_id,
            actor_ref=context.actor.id,
        ),
        at=wiring.now(),
        tags=values["tags"],
        valid_from=values.get("valid_from"),
        valid_to=values.get("valid_to"),
        if_version=request.if_version,
        supersedes=request.supersedes,
        sensitivity=values.get("sensitivity"),
        **fields,
    )


def problems_of(given: Mapping[str, Any], max_fact_chars: int) -> list[Problem]:
    """What is wrong with those arguments of `remember` that are there, in the types that they should have.

    Raises:
        CredentialRefused: then nothing of the arguments is echoed.
    """
    return _normalised(given, max_fact_chars)[1]


def _normalised(given: Mapping[str, Any], max_fact_chars: int) -> tuple[dict[str, Any], list[Problem]]:
    normalise: dict[str, Callable[[Any], Any]] = {
        "key": normal_key,
        "fact": lambda fact: normal_text(fact, max_fact_chars),
        "tags": normal_tags,
        "valid_from": lambda given: instant("valid_from", given),
        "valid_to": lambda given: instant("valid_to", given),
        "if_version": _version,
        "sensitivity": _sensitivity,
    }
    refuse_credentials({name: given.get(name) for name in _TEXTS})
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, normal in normalise.items():
        if given.get(name) is not None:
            try:
                values[name] = normal(given[name])
            except InvalidInput as error:
                problems.extend(error.problems)
    try:
        check_validity(values.get("valid_from"), values.get("valid_to"))
    except InvalidInput as error:
        problems.extend(error.problems)
    return values, problems


def _claimed(request: RememberRequest) -> Claimed:
    if request.provenance not in get_args(Claimed):
        claims = ", ".join(get_args(Claimed))
        raise InvalidInput.of("provenance", f"is {echo(request.provenance)}; a caller may name one of {claims}")
    return request.provenance


def _version(version: int) -> int:
    if version < 0:
        raise InvalidInput.of("if_version", f"is {version}; versions begin at 1, and 0 means none yet")
    return version


def _sensitivity(sensitivity: Sensitivity) -> Sensitivity:
    if sensitivity not in SENSITIVITIES:
        raise InvalidInput.of("sensitivity", f"is {echo(sensitivity)}; it is one of {', '.join(SENSITIVITIES)}")
    return sensitivity


async def _answers_elsewhere(
    wiring: Wiring, scopes: Sequence[str], draft: WriteRequest, shown: Filter
) -> tuple[tuple[Override, ...], tuple[Override, ...]]:
    """What the key is answered with at narrower scopes than this one, and at wider ones."""
    place = scopes.index(draft.scope)
    others = (*scopes[:place], *scopes[place + 1 :])
    if not others:
        return (), ()
    listing = await wiring.provider.list(ListRequest(others, keys=(draft.key,), filter=shown))
    held = [record for record in listing.records if record.scope in others]
    narrower = tuple(Override.of(record) for record in held if scopes.index(record.scope) < place)
    wider = tuple(Override.of(record) for record in held if scopes.index(record.scope) > place)
    return narrower, wider


async def _similar(wiring: Wiring, scopes: Sequence[str], draft: WriteRequest, shown: Filter) -> tuple[str, ...]:
    """Search finds the candidates, so that a large scope costs no more than a small one."""
    if not can_search(wiring.provider):
        return ()
    request = SearchRequest(tuple(scopes), draft.key, limit=20, at=draft.at, with_signals=False, filter=shown)
    hits = await wiring.provider.search(request)
    return tuple(similar_keys(draft.key, (hit.record.key for hit in hits if hit.record.scope in scopes)))
