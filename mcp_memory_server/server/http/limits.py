"""What bounds a request over HTTP: whose name the Host header may bear, how many requests, and for how long."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import anyio
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_memory_server.server.auth import Verifier, caller_of

from .buckets import Buckets

logger = logging.getLogger(__name__)

RECHECK_S = 15.0
"""How often the token behind an open stream is verified anew: a stream ends when its token does."""


class KnownHostsOnly:
    """Refuses requests under a name that is not this server's, and from web pages that may not connect.

    A page can make its own name lead to this machine (DNS rebinding), and so reach what only listens here; but the
    browser says which name it was.
    """

    def __init__(self, app: ASGIApp, security: TransportSecuritySettings, open_paths: frozenset[str]) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(security)
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in self._open_paths:
            refusal = await self._security.validate_request(Request(scope))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


class RateLimit:
    """Answers 429 to who sends more than their share; for behind the authentication, so that it knows callers.

    Where tokens are asked for, a request without a good one costs next to nothing and is turned away anyhow; where
    none are, callers are told apart by their address.
    """

    def __init__(  # in the form that Starlette makes it from
        self,
        app: ASGIApp,
        requests_per_minute: int,
        authenticates: bool,
        open_paths: frozenset[str] = frozenset(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._buckets = Buckets.per_minute(requests_per_minute)
        self._authenticates = authenticates
        self._open_paths = open_paths
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = self._caller(scope) if scope["type"] == "http" and scope["path"] not in self._open_paths else None
        wait_s = 0 if caller is None else self._buckets.take(caller, self._clock())
        if wait_s:
            headers = {"Retry-After": str(wait_s)}
            await refusal(429, f"Too many requests. Try again in {wait_s} s.", headers)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _caller(self, scope: Scope) -> str | None:
        if self._authenticates:
            return caller_of(scope)
        return scope["client"][0] if scope.get("client") else "unknown"


class TimeToAnswer:
    """Gives a request so long until its answer begins, a body that comes in byte by byte included.

    An answer that has begun may take longer, as streams do. Handling has a limit of its own (`server.time_limit`).
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with anyio.move_on_after(self._seconds) as limit:

            async def send_in_time(message: Message) -> None:
                limit.deadline = float("inf")
                await send(message)

            await self._app(scope, receive, send_in_time)
        if limit.cancelled_caught:
            said = f"The request took longer than {self._seconds:g} s. If it was to write, read whether it did."
            await refusal(503, said)(scope, receive, send)


class EndsWithItsToken:
    """Ends an open stream when its token has expired or was revoked; for behind the authentication."""

    def __init__(self, app: ASGIApp, verifier: Verifier) -> None:
        self._app = app
        self._verifier = verifier

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = getattr(scope.get("user"), "access_token", None)
        if scope["type"] != "http" or token is None:
            await self._app(scope, receive, send)
            return
        async with anyio.create_task_group() as tasks:

            async def end_with_token() -> None:
                good = True
                while good:
                    await anyio.sleep(RECHECK_S)
                    good = await self._verifier.verify_token(token.token) is not None
                logger.info("a stream was ended: its token lets nobody in any more")
                tasks.cancel_scope.cancel()

            async def send_watched(message: Message) -> None:
                if message["type"] == "http.response.start" and _is_stream(message):
                    tasks.start_soon(end_with_token)
                await send(message)

            await self._app(scope, receive, send_watched)
            tasks.cancel_scope.cancel()


def _is_stream(start: MutableMapping[str, Any]) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in start["headers"]
    )


def refusal(status: int, said: str, headers: Mapping[str, str] | None = None) -> Response:
    """An answer in place of the one that was asked for: no JSON-RPC, since no request was read."""
    return Response(json.dumps({"error": said}), status, headers, "application/json")
