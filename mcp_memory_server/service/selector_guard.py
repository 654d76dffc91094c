"""A guard around a selector: whatever it does, a turn gets its answer or a reason, in time."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, cast

import anyio

from mcp_memory_server.background import run_forsakable
from mcp_memory_server.recall import Degrade, DegradeReason, SelectionRequest, Selector

logger = logging.getLogger(__name__)

DEFAULT_TIME_LIMIT_S: Final = 5.0
# Each is a thread that may never end; a selector that leaves so many of them is broken.
_MOST_LEFT_BEHIND: Final = 8
_MOST_IDS: Final = 1_000


class SelectorGuard:
    """Asks a selector, for at most `time_limit_s` seconds.

    Each call has a thread and an event loop of its own, which are left behind when time is up: a selector that blocks,
    swallows its cancellation or ends the process it believes to own delays nobody. Well-behaved ones are cancelled
    at the limit. While eight calls that were left behind still run, further ones fail at once.

    `trusted` is for selectors of our own that need the caller's event loop, such as the store's search: they run on
    it and are cancelled when time is up.
    """

    def __init__(
        self, selector: Selector, time_limit_s: float = DEFAULT_TIME_LIMIT_S, *, trusted: bool = False
    ) -> None:
        self._selector = selector
        self._time_limit_s = time_limit_s
        self._trusted = trusted
        self._left_behind: list[threading.Event] = []

    async def select(self, request: SelectionRequest) -> tuple[str, ...] | Degrade:
        """The ids that the selector named, not checked yet, or why there are none. Raises only its own cancellation."""
        answer = await self._answer(request)
        if isinstance(answer, _Fault):
            logger.warning("%s (%s): the whole block is shown instead", answer.reason, answer.detail)
            return Degrade(answer.reason)
        return answer

    async def _answer(self, request: SelectionRequest) -> tuple[str, ...] | _Fault:
        if self._trusted:
            with anyio.move_on_after(self._time_limit_s):
                return await self._attempt(request)
            return self._late()
        self._left_behind = [ended for ended in self._left_behind if not ended.is_set()]
        if len(self._left_behind) >= _MOST_LEFT_BEHIND:
            return _Fault("selector_overdue", "earlier calls have not ended")
        ended = threading.Event()
        try:
            with anyio.move_on_after(self._time_limit_s):
                return await run_forsakable(lambda: self._run(request, ended))
            return self._late()
        finally:
            if not ended.is_set():
                self._left_behind.append(ended)

    def _late(self) -> _Fault:
        return _Fault("selector_timed_out", f"no answer within {self._time_limit_s:g} s")

    def _run(self, request: SelectionRequest, ended: threading.Event) -> tuple[str, ...] | _Fault:
        """In a thread that nobody waits for beyond the limit."""
        try:
            # Not anyio's loop: it cancels again and again, which one that swallows cancellation turns into a busy wait.
            return asyncio.run(self._within_limit(request))
        except BaseException as error:  # also SystemExit and a cancellation of its own making: they stay in here
            return _Fault.of(error)
        finally:
            ended.set()

    async def _within_limit(self, request: SelectionRequest) -> tuple[str, ...] | _Fault:
        try:
            async with asyncio.timeout(self._time_limit_s):
                return await self._attempt(request)
        except TimeoutError:  # never the selector's own: that one is a fault already
            return self._late()

    async def _attempt(self, request: SelectionRequest) -> tuple[str, ...] | _Fault:
        try:
            return _ids_in(await self._selector.select(request))
        except Exception as error:  # the boundary to code of others: a turn goes on without a selection
            return _Fault.of(error)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why there are no ids; the detail is for the log."""

    reason: DegradeReason
    detail: str

    @classmethod
    def of(cls, error: BaseException) -> _Fault:
        # The name only: the message of a foreign error may quote what is remembered.
        return cls("selector_failed", type(error).__name__)


def _ids_in(answer: object) -> tuple[str, ...]:
    """The strings of an answer, as far as anybody would read it.

    Raises:
        TypeError: no collection of ids at all, or a single string, which would come apart into characters.
    """
    if isinstance(answer, (str, bytes)) or not isinstance(answer, Iterable):
        raise TypeError("not a collection of ids")
    items = list(islice(cast("Iterable[object]", answer), _MOST_IDS))
    ids = tuple(item for item in items if isinstance(item, str))
    if items and not ids:
        raise TypeError("a collection of something else")
    return ids
