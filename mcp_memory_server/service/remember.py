"""Recording a fact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from mcp_memory_server.digest import Override
from mcp_memory_server.errors import InvalidInput, NotSupported, Problem
from mcp_memory_server.identity import RequestContext, actor_scope, check_scope, project_scope
from mcp_memory_server.policy import write_verdict
from mcp_memory_server.providers.base import (
    ListRequest,
    SearchRequest,
    WriteRequest,
    WriteStatus,
    WritingProvider,
    Written,
    can_search,
    can_write,
)
from mcp_memory_server.records import (
    Author,
    MemoryOrigin,
    MemoryRecord,
    canonical_instant,
    check_validity,
    normal_key,
    normal_tags,
    normal_text,
)
from mcp_memory_server.similarity import similar_keys

from .offer import journaled_digest
from .wiring import Wiring

Where = Literal["everywhere", "project"]


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """A fact to record under a key, as given; normalising and checking it is the use case's work.

    `digest_id` names the digest that the fact was concluded from: the write is then authorised against the
    scopes recorded with it. `if_version` writes only over that version of the key; 0 only where there is none.
    """

    key: str
    fact: str
    tags: Sequence[str] = ()
    valid_from: str | None = None
    valid_to: str | None = None
    if_version: int | None = None
    digest_id: str | None = None
    where: Where = "everywhere"


class RememberOptions(TypedDict, total=False):
    """The optional fields of `RememberRequest`, as keyword arguments."""

    tags: Sequence[str]
    valid_from: str | None
    valid_to: str | None
    if_version: int | None
    digest_id: str | None
    where: Where


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a write.

    `overrides` are the wider answers that the record now outranks, `outranked_by` the narrower ones that stand
    before it here; `similar_keys` are other keys that look like the same question.
    """

    status: WriteStatus
    record: MemoryRecord
    previous: MemoryRecord | None
    overrides: tuple[Override, ...]
    similar_keys: tuple[str, ...]
    outranked_by: tuple[Override, ...] = ()


async def remember(wiring: Wiring, context: RequestContext, request: RememberRequest) -> Remembered:
    """Record an assistant's conclusion at an own scope of the actor.

    Raises:
        InvalidInput: every wrong argument, with the limit that it broke.
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
    draft = drafted(wiring, context, request, check_scope(scope), author)
    return await told(wiring, scopes, draft, await provider.write(draft))


async def told(wiring: Wiring, scopes: Sequence[str], draft: WriteRequest, written: Written) -> Remembered:
    """What became of a write, with what else there is to know about its key."""
    wiring.embeddings.poke()
    narrower, wider = await _answers_elsewhere(wiring, scopes, draft.scope, draft.key)
    similar = await _similar(wiring, scopes, draft) if written.status == "stored" else ()
    return Remembered(written.status, written.record, written.previous, wider, similar, narrower)


def _writing(wiring: Wiring) -> WritingProvider:
    provider = wiring.provider
    if not can_write(provider):
        name = provider.capabilities.provider
        raise NotSupported(name, "be written to", "Nothing was stored. Configure a writable store.")
    return provider


def drafted(
    wiring: Wiring, context: RequestContext, request: RememberRequest, scope: str, author: Author
) -> WriteRequest:
    """The checked and normalised write; raises `InvalidInput` that names every wrong argument at once."""
    given = {name: getattr(request, name) for name in ("key", "fact", "tags", "valid_from", "valid_to", "if_version")}
    values, problems = _normalised(given, wiring.limits.max_fact_chars)
    if problems:
        raise InvalidInput(*problems)
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
    )


def problems_of(given: Mapping[str, Any], max_fact_chars: int) -> list[Problem]:
    """What is wrong with those arguments of `remember` that are there, in the types that they should have."""
    return _normalised(given, max_fact_chars)[1]


def _normalised(given: Mapping[str, Any], max_fact_chars: int) -> tuple[dict[str, Any], list[Problem]]:
    normalise: dict[str, Callable[[Any], Any]] = {
        "key": normal_key,
        "fact": lambda fact: normal_text(fact, max_fact_chars),
        "tags": normal_tags,
        "valid_from": lambda instant: _instant("valid_from", instant),
        "valid_to": lambda instant: _instant("valid_to", instant),
        "if_version": _version,
    }
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


def _version(version: int) -> int:
    if version < 0:
        raise InvalidInput.of("if_version", f"is {version}; versions begin at 1, and 0 means none yet")
    return version


def _instant(argument: str, value: str) -> str:
    try:
        return canonical_instant(value)
    except ValueError as error:
        raise InvalidInput.of(argument, str(error)) from None


async def _answers_elsewhere(
    wiring: Wiring, scopes: Sequence[str], scope: str, key: str
) -> tuple[tuple[Override, ...], tuple[Override, ...]]:
    """What the key is answered with at narrower scopes than this one, and at wider ones."""
    place = scopes.index(scope)
    others = (*scopes[:place], *scopes[place + 1 :])
    if not others:
        return (), ()
    listing = await wiring.provider.list(ListRequest(others, keys=(key,)))
    held = [record for record in listing.records if record.scope in others]
    narrower = tuple(Override.of(record) for record in held if scopes.index(record.scope) < place)
    wider = tuple(Override.of(record) for record in held if scopes.index(record.scope) > place)
    return narrower, wider


async def _similar(wiring: Wiring, scopes: Sequence[str], draft: WriteRequest) -> tuple[str, ...]:
    """Search finds the candidates, so that a large scope costs no more than a small one."""
    if not can_search(wiring.provider):
        return ()
    hits = await wiring.provider.search(SearchRequest(tuple(scopes), draft.key, limit=20, at=draft.at))
    return tuple(similar_keys(draft.key, (hit.record.key for hit in hits if hit.record.scope in scopes)))
