"""Starting a server from settings."""

from __future__ import annotations

import logging

import anyio

from mcp_memory_server.config import Settings
from mcp_memory_server.opening import open_service

from . import build_server
from .logs import log_to_stderr
from .stdio import run_stdio

logger = logging.getLogger(__name__)


def serve(settings: Settings) -> int:
    """Serve MCP over the configured transport; the exit status of the process.

    Raises:
        ConfigurationError, StoreError: before anything was answered.
    """
    log_to_stderr(settings.log_level, settings.log_format)
    if settings.transport == ("stdio",):
        return anyio.run(_serve_stdio, settings)
    from .http.running import serve_http  # noqa: PLC0415  # a host that starts servers over stdio needs no web server

    return anyio.run(serve_http, settings)


async def _serve_stdio(settings: Settings) -> int:
    async with open_service(settings) as service:
        server = build_server(
            service,
            actor=settings.identity,
            project=settings.project,
            toolsets=settings.toolsets,
            # Who started this process may as well say --elevated on the command line. Where roles are set, those count.
            elevated=not settings.roles,
            roles_required=settings.roles_required,
        )
        logger.info("serving the memory of %s from %s", settings.actor, settings.shown_url)
        return await run_stdio(server)
