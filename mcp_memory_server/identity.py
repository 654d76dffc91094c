"""Who asks, and which scopes apply to them.

The actor of a request comes from settings (stdio) or from a verified token (HTTP), never from what a
caller sends. A scope is an opaque token; nothing outside this module takes one apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol
from urllib.parse import quote

from .errors import InvalidInput, echo

GLOBAL_SCOPE: Final = "global"
MAX_SCOPE_CHARS: Final = 200
MAX_STORED_SCOPE_CHARS: Final = 240
"""What a store has to hold: a scope with the namespace before it (`providers.options`)."""
_FORBIDDEN_IN_SCOPE = re.compile(r"[\s\[\]\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ENCODED_IN_NAME = re.compile(r"[%#\[\]\s\x00-\x1f\x7f-\x9f]")


def check_scope(scope: str, most: int = MAX_SCOPE_CHARS) -> str:
    """`scope` itself, when it is a token that a record may carry.

    Raises:
        InvalidInput: not 1 to `most` characters free of whitespace, control characters and square brackets.
    """
    if not 1 <= len(scope) <= most:
        raise InvalidInput.of("scope", f"has {len(scope)} characters; a scope has 1 to {most}: {echo(scope)}")
    if _FORBIDDEN_IN_SCOPE.search(scope):
        raise InvalidInput.of("scope", f"holds whitespace, a control character or a square bracket: {echo(scope)}")
    return scope


def encode_name(name: str) -> str:
    """An id or project name as it stands inside a built-in scope: the few unsafe characters percent-encoded (UTF-8)."""
    return _ENCODED_IN_NAME.sub(lambda match: quote(match[0], safe=""), name)


@dataclass(frozen=True, slots=True)
class Actor:
    """The person on whose behalf a request runs. Case counts in `id` and `tenant_id`."""

    id: str
    tenant_id: str | None = None
    roles: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name, value in (("actor id", self.id), ("tenant id", self.tenant_id)):
            if value is not None and not value.strip():
                raise InvalidInput.of(name, "is blank")
        check_scope(actor_scope(self))
        if self.tenant_id is not None:
            check_scope(tenant_scope(self.tenant_id))


def actor_scope(actor: Actor) -> str:
    """The scope of what is held about this actor, wherever they work."""
    return f"actor:{encode_name(actor.id)}"


def project_scope(actor: Actor, project: str) -> str:
    """The scope of what is held about this actor in one project."""
    return f"{actor_scope(actor)}#{encode_name(project)}"


def tenant_scope(tenant_id: str) -> str:
    """The scope that everyone of a tenant shares."""
    return f"tenant:{encode_name(tenant_id)}"


def journal_name(actor: Actor) -> str:
    """Whose journal an actor's digests are in: two tenants may well have an actor of the same id."""
    own = actor_scope(actor)
    return own if actor.tenant_id is None else f"{own} {tenant_scope(actor.tenant_id)}"


def is_own_scope(actor: Actor, scope: str) -> bool:
    """Whether facts at `scope` touch nobody else's prompt: `actor:<id>` and its projects."""
    own = actor_scope(actor)
    # An encoded id holds no '#', so the prefix cannot be the beginning of somebody else's id.
    return scope == own or (scope.startswith(own + "#") and len(scope) > len(own) + 1)


@dataclass(frozen=True, slots=True)
class RequestContext:
    """One request: who asks, for which project, in which thread and run of the host.

    `max_sensitivity` is the session's own ceiling, by the host's word; None leaves it to the service.
    """

    actor: Actor
    project: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    max_sensitivity: Literal["public", "internal", "secret"] | None = None


class ScopeResolver(Protocol):
    """Maps a request to the scopes that apply to it."""

    async def resolve(self, context: RequestContext) -> Sequence[str]:
        """The ordered scopes, most specific first. May ask a membership service; an error refuses the request."""
        ...


class DefaultScopeResolver:
    """`actor:<id>#<project>` when there is a project, `actor:<id>`, `tenant:<id>` when there is one, `global`."""

    async def resolve(self, context: RequestContext) -> Sequence[str]:
        actor = context.actor
        scopes = [actor_scope(actor)]
        if context.project is not None:
            scopes.insert(0, check_scope(project_scope(actor, context.project)))
        if actor.tenant_id is not None:
            scopes.append(tenant_scope(actor.tenant_id))
        return (*scopes, GLOBAL_SCOPE)
