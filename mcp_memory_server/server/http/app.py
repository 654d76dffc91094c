"""The ASGI application: MCP over streamable HTTP and SSE, behind everything that bounds a request.

From the outside in: log, cross-origin rules, known hosts, time; then, with routes chosen, who asks and how often.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from mcp_memory_server.background import running_beside
from mcp_memory_server.network import NetworkSettings
from mcp_memory_server.providers.base import MemoryProvider
from mcp_memory_server.server.auth import Authentication
from mcp_memory_server.server.state import ConnectionState
from mcp_memory_server.server.telemetry import measure_store
from mcp_memory_server.server.watch import Watch

from . import health
from .access_log import AccessLog
from .health import Health
from .limits import EndsWithItsToken, KnownHostsOnly, RateLimit, TimeToAnswer
from .sessionless import Sessionless
from .sse import MESSAGES_PATH, SSE_PATH, SseConnections

MCP_PATH: Final = "/mcp"

_LOCAL: Final = ("127.0.0.1", "localhost", "[::1]")
_EXPOSED: Final = ("Mcp-Session-Id", "WWW-Authenticate", "Retry-After")
_GRACE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Served:
    """What an application serves: one server for every connection, over one store, with one watch."""

    server: Server[ConnectionState]
    provider: MemoryProvider
    watch: Watch
    health: Health
    settings: NetworkSettings
    authentication: Authentication | None = None
    keeps_sessions: bool = True

    async def measure(self) -> None:
        """Tell how large the store is, where somebody takes the figures."""
        await measure_store(self.provider)


def build_app(served: Served) -> ASGIApp:
    """The application. It serves while its lifespan runs; the store is the caller's to close afterwards."""
    settings, authentication = served.settings, served.authentication
    security = allowed_callers(settings)
    guard = _guard(authentication)
    routes: list[BaseRoute] = [*served.health.routes(), *_metadata_routes(authentication)]
    manager = None
    if "streamable-http" in settings.transport:
        manager = StreamableHTTPSessionManager(
            served.server,
            stateless=not served.keeps_sessions,
            security_settings=security,
            max_request_body_size=settings.max_body_bytes,
            max_sessions=settings.max_sessions,
        )
        endpoint = StreamableHTTPASGIApp(manager)
        routes.append(Route(MCP_PATH, guard(endpoint if served.keeps_sessions else Sessionless(endpoint))))
    if "sse" in settings.transport:
        connections = SseConnections(served.server, security, settings.max_body_bytes, settings.max_sessions)
        routes.append(Route(SSE_PATH, guard(connections.connect), methods=["GET"]))
        routes.append(Mount(MESSAGES_PATH, guard(connections.post)))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with running_beside(served.watch.run, served.measure), AsyncExitStack() as running:
            if manager is not None:
                await running.enter_async_context(manager.run())
            yield

    app = Starlette(routes=routes, middleware=_known_callers(settings, authentication), lifespan=lifespan)
    timed = TimeToAnswer(app, settings.request_timeout_s + _GRACE_S)
    hosted = KnownHostsOnly(timed, security, health.PATHS)
    return AccessLog(_cross_origin(hosted, security.allowed_origins))


def allowed_callers(settings: NetworkSettings) -> TransportSecuritySettings:
    """What the Host header may say, and from where web pages may connect: this machine, and what the operator names."""
    hosts = list(settings.allowed_host)
    if settings.public_url is not None:
        hosts.append(urlsplit(settings.public_url).netloc.rpartition("@")[2])
    origins = list(settings.allowed_origin)
    if settings.is_loopback:
        hosts += [form for name in _LOCAL for form in (name, f"{name}:*")]
        origins += [form for name in _LOCAL for form in (f"http://{name}", f"http://{name}:*")]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def _known_callers(settings: NetworkSettings, authentication: Authentication | None) -> list[Middleware]:
    """Who asks, how often, and for how long."""
    known: list[Middleware] = []
    if authentication is not None:
        known.append(Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(authentication.verifier)))
        known.append(Middleware(AuthContextMiddleware))
        known.append(Middleware(EndsWithItsToken, verifier=authentication.verifier))
    if settings.requests_per_minute:
        known.append(
            Middleware(
                RateLimit,
                requests_per_minute=settings.requests_per_minute,
                authenticates=authentication is not None,
                open_paths=health.PATHS,
            )
        )
    return known


def _guard(authentication: Authentication | None) -> Callable[[ASGIApp], ASGIApp]:
    """What turns away who shows no good token."""
    if authentication is None:
        return _Open
    required = list(authentication.required_scopes)
    addresses = authentication.addresses
    metadata = build_resource_metadata_url(addresses.resource) if addresses else None
    return lambda app: RequireAuthMiddleware(app, required, metadata)


def _metadata_routes(authentication: Authentication | None) -> list[Route]:
    """Where clients read who issues tokens (RFC 9728); nothing where people hand them out."""
    if authentication is None or authentication.addresses is None:
        return []
    scopes = list(authentication.required_scopes) or None
    resource, issuer = authentication.addresses
    return create_protected_resource_routes(resource, [issuer], scopes, resource_name="mcp-memory-server")


def _cross_origin(app: ASGIApp, origins: list[str]) -> ASGIApp:
    """Answers preflight requests, and lets pages of the allowed origins read answers. Tokens travel in no cookie."""
    any_port = [re.escape(origin.removesuffix(":*")) + r":\d+" for origin in origins if origin.endswith(":*")]
    return CORSMiddleware(
        app,
        allow_origins=[origin for origin in origins if not origin.endswith(":*")],
        allow_origin_regex="|".join(any_port) or None,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=_EXPOSED,
    )


@dataclass(frozen=True, slots=True)
class _Open:
    """An endpoint without a guard, in the form of an object: a router takes a function for another kind of one."""

    app: ASGIApp

    async def __call__(self, *request: Any) -> None:
        await self.app(*request)
