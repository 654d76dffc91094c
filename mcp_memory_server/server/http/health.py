"""`/healthz` and `/readyz`: whether the process runs, and whether it can answer. They tell nothing else."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mcp_memory_server.errors import MemoryServerError
from mcp_memory_server.identity import GLOBAL_SCOPE
from mcp_memory_server.service import MemoryService

logger = logging.getLogger(__name__)

PATHS: Final = frozenset({"/healthz", "/readyz"})

_STORE_S: Final = 2.0
"""How long the store may take."""
_KEPT_S: Final = 1.0
"""How long an answer of the store is good for: whoever asks without end costs it one read a second."""


class Health:
    """The two routes. `is_stopping` says when no new requests should be sent here."""

    def __init__(
        self,
        service: MemoryService,
        is_stopping: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service = service
        self._is_stopping = is_stopping
        self._clock = clock
        self._asking = anyio.Lock()
        self._asked_at = float("-inf")
        self._answered = False

    def routes(self) -> list[Route]:
        return [Route("/healthz", self._healthz), Route("/readyz", self._readyz)]

    async def _healthz(self, _: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def _readyz(self, _: Request) -> Response:
        if self._is_stopping():
            return PlainTextResponse("stopping\n", 503)
        if not await self._store_answers():
            return PlainTextResponse("the store does not answer\n", 503)
        return PlainTextResponse("ok\n")

    async def _store_answers(self) -> bool:
        async with self._asking:
            if self._clock() - self._asked_at >= _KEPT_S:
                self._answered = await self._ask_store()
                self._asked_at = self._clock()
            return self._answered

    async def _ask_store(self) -> bool:
        with anyio.move_on_after(_STORE_S):
            try:
                await self._service.find((GLOBAL_SCOPE,), key="readiness")
            except MemoryServerError as error:
                logger.warning("the store does not answer (%s)", error.code)
                return False
            return True
        logger.warning("the store does not answer within %g s", _STORE_S)
        return False
