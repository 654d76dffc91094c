"""What a verified token gives: the SDK's access token, with the actor on whose behalf it was issued."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST
from pydantic import ConfigDict, SkipValidation

from mcp_memory_server.identity import Actor, RequestContext, journal_name
from mcp_memory_server.server.identity import Ctx, Identify, thread_of


class ActorToken(AccessToken):
    """An access token that lets its actor in."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    actor: SkipValidation[Actor]


class Verifier(Protocol):
    async def verify_token(self, token: str) -> ActorToken | None:
        """What the token says; None for every token that lets nobody in, whatever is wrong with it."""
        ...


class EitherVerifier:
    """Tries one kind of token, and then the other."""

    def __init__(self, *verifiers: Verifier) -> None:
        self._verifiers = verifiers

    async def verify_token(self, token: str) -> ActorToken | None:
        for verifier in self._verifiers:
            if (found := await verifier.verify_token(token)) is not None:
                return found
        return None


def token_actor(project: str | None) -> Identify:
    """Every request is that of the actor of its own access token, and of nobody else.

    Which token that is, the SDK's middleware says, once for each request: a session serves its own credential only.
    """

    def identify(ctx: Ctx) -> RequestContext:
        token = get_access_token()
        if not isinstance(token, ActorToken):  # no way in is known that has none; if there is one, it is shut
            raise MCPError(INVALID_REQUEST, "The request has no access token.")
        return RequestContext(token.actor, project, thread_id=thread_of(ctx))

    return identify


def caller_of(scope: Mapping[str, Any]) -> str | None:
    """A name for whose request an ASGI scope is, one an actor; None where no token was shown."""
    token = getattr(scope.get("user"), "access_token", None)
    return journal_name(token.actor) if isinstance(token, ActorToken) else None
