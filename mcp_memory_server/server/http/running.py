"""Running the web server: where it listens, and how it ends."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlunsplit

import anyio
import uvicorn

from mcp_memory_server.config import Settings
from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.opening import open_service
from mcp_memory_server.server import build_server
from mcp_memory_server.server.auth import Authentication, open_authentication, token_actor
from mcp_memory_server.server.identity import fixed_actor
from mcp_memory_server.server.time_limit import TimeLimit
from mcp_memory_server.server.watch import Watch
from mcp_memory_server.service import MemoryService

from .app import MCP_PATH, Served, build_app
from .health import Health
from .sse import SSE_PATH

logger = logging.getLogger(__name__)

_REQUESTS_S: Final = 3
"""How long requests that are under way may still take after a signal."""
_WHOLE_S: Final = 5.0
"""How long ending may take in all. What then still runs is cut off: the store is safe at any moment."""
_BACKLOG: Final = 2048


async def serve_http(settings: Settings) -> int:
    """Serve until a signal comes; the exit status: 0 after an end in good order.

    Raises:
        ConfigurationError: the settings would let in whoever asks, or cannot work.
        StoreError: the store cannot be opened.
    """
    check_exposure(settings)
    with _listening(settings.host, settings.port) as listener:
        url = settings.public_url or _address(
            listener, MCP_PATH if "streamable-http" in settings.transport else SSE_PATH
        )
        async with open_authentication(settings, url) as authentication, open_service(settings) as service:
            runner = _Runner(settings, service, authentication)
            logger.info("serving the memory in %s at %s, %s", settings.shown_url, url, _whose(settings, authentication))
            await runner.run(listener)
    return 0


def check_exposure(settings: Settings) -> None:
    """Refuse to serve other machines without knowing who asks, or under names that nobody gave.

    Raises:
        ConfigurationError: with what is missing.
    """
    if settings.is_loopback:
        return
    if not settings.authenticates and not settings.insecure:
        raise ConfigurationError(
            f"The setting host ({settings.origin('host')}) lets other machines connect, and nothing says who they "
            "are: set token_file or jwt_issuer, or --insecure where something else keeps strangers away."
        )
    if not settings.allowed_host and settings.public_url is None:
        raise ConfigurationError(
            f"The setting host ({settings.origin('host')}) lets other machines connect: name this server as clients "
            "do, with --public-url https://NAME/mcp or --allowed-host NAME."
        )


def _whose(settings: Settings, authentication: Authentication | None) -> str:
    return "asking callers for tokens" if authentication else f"to anybody who connects, as {settings.actor}"


class _Runner:
    """One process's server, from the first connection to the last."""

    def __init__(self, settings: Settings, service: MemoryService, authentication: Authentication | None) -> None:
        self._watch = Watch(service.provider)
        self._settings = settings
        identify = fixed_actor(settings.identity, settings.project)
        if authentication is not None:
            identify = token_actor(settings.project)
        server = build_server(
            service,
            project=settings.project,
            identify=identify,
            toolsets=settings.toolsets,
            roles_required=settings.roles_required,
            watch=self._watch,
        )
        server.middleware.append(TimeLimit(settings.request_timeout_s))
        health = Health(service, lambda: self._uvicorn.should_exit)
        app = build_app(Served(server, self._watch, health, settings, authentication))
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # nothing here asks where a request came from
            timeout_graceful_shutdown=_REQUESTS_S,
            ws="none",
            lifespan="on",
        )
        self._uvicorn = _Uvicorn(config)

    async def run(self, listener: socket.socket) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._stop_on_signal)
            await self._uvicorn.serve([listener])
            tasks.cancel_scope.cancel()

    async def _stop_on_signal(self) -> None:
        """End in good order at the first signal, and at once at a second one."""
        if sys.platform == "win32":  # asyncio has no signal receiver there; uvicorn's own handler does it
            return
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                if self._uvicorn.should_exit:
                    os._exit(128 + number)
                _exit_after(_WHOLE_S, 128 + number)
                self._watch.close()
                self._uvicorn.handle_exit(number, None)


class _Uvicorn(uvicorn.Server):
    """uvicorn, which would end the process by the signal that it caught: before the store is closed."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        if sys.platform != "win32":
            yield
            return
        with super().capture_signals():
            yield


def _exit_after(seconds: float, status: int) -> None:
    timer = threading.Timer(seconds, os._exit, (status,))
    timer.daemon = True
    timer.start()


@contextmanager
def _listening(host: str, port: int) -> Generator[socket.socket]:
    """A socket at the address, bound before anything is opened.

    Raises:
        ConfigurationError: the address is none of this machine's, or taken.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            f"The server cannot listen at {host}, port {port}: {error.strerror or error}. Set --host or --port."
        ) from None
    with listener:
        yield listener


def _address(listener: socket.socket, path: str) -> str:
    host, port, *_ = listener.getsockname()
    return urlunsplit(("http", f"[{host}]:{port}" if ":" in host else f"{host}:{port}", path, "", ""))
