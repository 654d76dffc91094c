"""Running the web server: where it listens, and how it ends."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final

import anyio
import uvicorn

from mcp_memory_server.config import Settings
from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.opening import keeps_sessions, open_service
from mcp_memory_server.server import build_server
from mcp_memory_server.server.auth import Authentication, open_authentication, token_actor
from mcp_memory_server.server.identity import fixed_actor
from mcp_memory_server.server.state_keys import read_state_keys
from mcp_memory_server.server.time_limit import TimeLimit
from mcp_memory_server.server.watch import Watch
from mcp_memory_server.service import MemoryService

from .app import MCP_PATH, Served, build_app
from .heads import PunctualHeads
from .health import Health
from .sessionless import WithoutSubscriptions
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
    state_keys = read_state_keys(settings)
    with listening(settings.host, settings.port) as listener:
        url = settings.public_url or address_of(listener, settings)
        async with open_authentication(settings, url) as authentication, open_service(settings) as service:
            web = WebServer(settings, service, authentication, state_keys)
            whose = "asking callers for tokens" if authentication else f"to whoever connects, as {settings.actor}"
            logger.info("serving the memory in %s at %s, %s", settings.shown_url, url, whose)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_stop_on_signal, web)
                await web.run(listener)
                tasks.cancel_scope.cancel()
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


class WebServer:
    """One process's server, from the first connection to the last."""

    def __init__(
        self,
        settings: Settings,
        service: MemoryService,
        authentication: Authentication | None,
        state_keys: Sequence[str] = (),
    ) -> None:
        self._watch = Watch(service.provider)
        server = build_server(
            service,
            project=settings.project,
            identify=token_actor(settings.project)
            if authentication
            else fixed_actor(settings.identity, settings.project),
            toolsets=settings.toolsets,
            roles_required=settings.roles_required,
            watch=self._watch,
            state_keys=state_keys,
        )
        server.middleware.append(TimeLimit(settings.request_timeout_s))
        server.middleware.append(WithoutSubscriptions())
        health = Health(service, is_stopping=lambda: self.is_stopping)
        app = build_app(
            Served(server, service.provider, self._watch, health, settings, authentication, keeps_sessions(settings))
        )
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                app,
                http=PunctualHeads,
                log_config=None,
                access_log=False,  # ours leaves queries out
                server_header=False,
                proxy_headers=False,  # callers are told apart by their tokens
                timeout_graceful_shutdown=_REQUESTS_S,
                ws="none",
                lifespan="on",
            )
        )

    @property
    def is_stopping(self) -> bool:
        return self._uvicorn.should_exit

    @property
    def subscribers(self) -> int:
        """How many listen for changes."""
        return self._watch.subscribers

    async def run(self, listener: socket.socket) -> None:
        """Serve until `stop`. What then is under way may end; who listens is told that this is on purpose."""
        await self._uvicorn.serve([listener])

    def stop(self) -> None:
        self._watch.close()
        self._uvicorn.handle_exit(signal.SIGTERM, None)


async def _stop_on_signal(web: WebServer) -> None:
    """End in good order at the first signal, and at once at a second one."""
    if sys.platform == "win32":  # asyncio has no signal receiver there; uvicorn's own handlers do it
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            if web.is_stopping:
                os._exit(128 + number)
            _exit_after(_WHOLE_S, 128 + number)
            web.stop()


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
def listening(host: str, port: int) -> Generator[socket.socket]:
    """A socket at the address, bound before anything is opened.

    Raises:
        ConfigurationError: the address is none of this machine's, or taken.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
        # Connections inherit it, and asyncio does not see to it where a socket was made without its protocol. Without,
        # the body of an answer waits behind its head until the client's system has confirmed that one: 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        raise ConfigurationError(
            f"The server cannot listen at {host}, port {port}: {error.strerror or error}. Set --host or --port."
        ) from None
    with listener:
        yield listener


def address_of(listener: socket.socket, settings: Settings) -> str:
    """The URL at which the first transport of the settings is served."""
    host, port, *_ = listener.getsockname()
    path = MCP_PATH if "streamable-http" in settings.transport else SSE_PATH
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"
