"""Starting a server from settings."""

from __future__ import annotations

import logging
import sys
from typing import Final

import anyio

from mcp_memory_server.config import Settings
from mcp_memory_server.opening import open_service

from . import build_server
from .stdio import run_stdio

logger = logging.getLogger(__name__)

_LOG_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def serve_stdio(settings: Settings) -> int:
    """Serve MCP over standard input and output; the exit status of the process.

    Raises:
        ConfigurationError, StoreError: before anything was answered.
    """
    logging.basicConfig(level=settings.log_level, stream=sys.stderr, format=_LOG_FORMAT)
    # The driver logs each statement it runs at DEBUG: nothing that could show a memory, and nothing of use here.
    logging.getLogger("aiosqlite").setLevel(logging.INFO)
    return anyio.run(_serve_stdio, settings)


async def _serve_stdio(settings: Settings) -> int:
    async with open_service(settings) as service:
        server = build_server(
            service,
            actor=settings.identity,
            project=settings.project,
            toolsets=settings.toolsets,
            # Who started this process may as well say --elevated on the command line. Where roles are set, those count.
            elevated=not settings.roles,
        )
        logger.info("serving the memory of %s from %s", settings.actor, settings.shown_url)
        return await run_stdio(server)
