"""Recording a fact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, TypeVar

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

T = TypeVar("T")

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

    `overrides` are the wider answers that the record now outranks; `similar_keys` are other keys that look like
    the same question.
    """

    status: WriteStatus
    record: MemoryRecord
    previous: MemoryRecord | None
    overrides: tuple[Override, ...]
    similar_keys: tuple[str, ...]


async def remember(wiring: Wiring, context: RequestContext, request: RememberRequest) -> Remembered:
    """Record an assistant's conclusion at an own scope of the actor.

    Raises:
        InvalidInput: every wrong argument, with the limit that it broke.
        Refused: the target scope does not apply.
        Conflict: `if_version` does not match.
        NotFound: no such digest.
        NotSupported: the provider is read-only.
    """
    if request.digest_id is None:
        scopes = tuple(await wiring.resolver.resolve(context))
    else:
        scopes = (await journaled_digest(wiring, context, request.digest_id)).scopes
    return await write_at(wiring, context, request, scopes, own_scope(context, request.where), author="agent")


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
    draft = _draft(wiring, context, request, check_scope(scope), author)
    beaten = await _wider_answers(wiring, scopes, scope, draft.key)
    written = await provider.write(draft)
    wiring.embeddings.poke()
    similar = await _similar(wiring, scopes, draft) if written.status == "stored" else ()
    return Remembered(written.status, written.record, written.previous, beaten, similar)


def _writing(wiring: Wiring) -> WritingProvider:
    provider = wiring.provider
    if not can_write(provider):
        name = provider.capabilities.provider
        raise NotSupported(name, "be written to", "Nothing was stored. Configure a writable store.")
    return provider


def _draft(
    wiring: Wiring, context: RequestContext, request: RememberRequest, scope: str, author: Author
) -> WriteRequest:
    """The checked and normalised write; raises `InvalidInput` that names every wrong argument at once."""
    problems: list[Problem] = []

    def checked(normalise: Callable[[], T]) -> T | None:
        try:
            return normalise()
        except InvalidInput as error:
            problems.extend(error.problems)
            return None

    key = checked(lambda: normal_key(request.key))
    text = checked(lambda: normal_text(request.fact, wiring.limits.max_fact_chars))
    tags = checked(lambda: normal_tags(request.tags))
    valid_from = checked(lambda: _instant("valid_from", request.valid_from))
    valid_to = checked(lambda: _instant("valid_to", request.valid_to))
    checked(lambda: check_validity(valid_from, valid_to))
    if request.if_version is not None and request.if_version < 0:
        problems.append(Problem("if_version", f"is {request.if_version}; versions begin at 1, and 0 means none yet"))
    if problems or key is None or text is None or tags is None:
        raise InvalidInput(*problems)
    return WriteRequest(
        scope=scope,
        key=key,
        text=text,
        origin=MemoryOrigin(
            author=author,
            thread_id=context.thread_id,
            run_id=context.run_id,
            actor_ref=context.actor.id,
        ),
        at=wiring.now(),
        tags=tags,
        valid_from=valid_from,
        valid_to=valid_to,
        if_version=request.if_version,
    )


def _instant(argument: str, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        return canonical_instant(value)
    except ValueError as error:
        raise InvalidInput.of(argument, str(error)) from None


async def _wider_answers(wiring: Wiring, scopes: Sequence[str], scope: str, key: str) -> tuple[Override, ...]:
    wider = tuple(scopes[scopes.index(scope) + 1 :])
    if not wider:
        return ()
    listing = await wiring.provider.list(ListRequest(wider, keys=(key,)))
    return tuple(Override.of(record) for record in listing.records if record.scope in wider)


async def _similar(wiring: Wiring, scopes: Sequence[str], draft: WriteRequest) -> tuple[str, ...]:
    """Search finds the candidates, so that a large scope costs no more than a small one."""
    if not can_search(wiring.provider):
        return ()
    hits = await wiring.provider.search(SearchRequest(tuple(scopes), draft.key, limit=20, at=draft.at))
    return tuple(similar_keys(draft.key, (hit.record.key for hit in hits if hit.record.scope in scopes)))
