"""Ranking signatures stored behind the acknowledgement: which records are without, and the task that sees to it.

A write leaves a mark in the place of the signature, and whoever searches makes it of the record until it is stored. So
answers are the same before and after, and nothing is lost with what is noted here, in memory: another search notes it
again, and `doctor` looks at every record.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import deque
from collections.abc import Sequence
from typing import Final, TypeVar

import anyio

from mcp_memory_server.errors import StoreError

from . import signing
from .connection import Database, Work

logger = logging.getLogger(__name__)

T = TypeVar("T")

_MOST: Final = 10_000
"""How many ids are kept; the oldest go first."""
_BATCH: Final = 32
"""Few enough that neither a search of this process nor a writer of another waits noticeably for one."""
_QUIET_S: Final = 0.2
_LONGEST_S: Final = 1.0
"""A burst of writes is let end, but not waited for longer than this."""
_AGAIN_AFTER_S: Final = 5.0
_CLOSING_S: Final = 1.0


class Backlog:
    """The ids of records whose stored signature is outdated, or UNSIGNED, until it is replaced."""

    def __init__(self, database: Database, language: str | None) -> None:
        self._database = database
        self._language = language
        self._ids = deque[str](maxlen=_MOST)
        self._noted_at = 0.0
        self._wanted = anyio.Event()

    def note(self, record_id: str) -> None:
        """Keep an id, in whatever thread; `wake` is then to be called in the event loop's."""
        self._ids.append(record_id)

    def wake(self) -> None:
        """Have what is noted signed soon."""
        if self._ids:
            self._noted_at = time.monotonic()
            self._wanted.set()

    async def keep_signing(self) -> None:
        """Sign what is noted whenever writing pauses, until cancelled."""
        while True:
            await self._wanted.wait()
            await self._pause_in_writing()
            self._wanted = anyio.Event()
            if not await self._sign_noted():
                await anyio.sleep(_AGAIN_AFTER_S)
                self._wanted.set()

    async def _pause_in_writing(self) -> None:
        with anyio.move_on_after(_LONGEST_S):
            while (left := self._noted_at + _QUIET_S - time.monotonic()) > 0:  # noqa: ASYNC110  # no event tells of quiet
                await anyio.sleep(left)

    async def finish(self) -> None:
        """Sign what is left, for a moment, before the store is closed; the next search makes do without the rest."""
        if self._ids and self._database.is_there:  # else a store would be made where it was taken away
            with anyio.move_on_after(_CLOSING_S, shield=True):
                await self._sign_noted()

    async def sign_all(self) -> None:
        """Look at every record: make what is missing, and replace what an earlier release or another language made."""
        batch = signing.Batch()
        while batch.goes_on:
            after = batch.last_number
            epoch, batch = await self._read(lambda db, after=after: signing.stale(db, after, self._language))
            if batch.stale:
                await self._database.write(self._signing(batch.stale, epoch))

    async def _sign_noted(self) -> bool:
        """Sign what is noted by now; False when the store cannot take it, and the rest is left noted.

        What is noted meanwhile waits for the next pause: in a long burst each would else have a transaction of its own.
        """
        for _ in range(0, len(self._ids), _BATCH):
            ids = [self._ids.popleft() for _ in range(min(_BATCH, len(self._ids)))]
            try:
                epoch, stale = await self._read(lambda db, ids=ids: signing.stale_among(db, ids, self._language))
                if stale:
                    await self._database.write_unwaited(self._signing(stale, epoch))
            except StoreError as error:
                self._ids.extend(ids)
                logger.warning("signatures wait (%s)", error.code)
                return False
            except Exception as error:  # a record that nobody can read must not end all that is done with the store
                # Its search fails and tells of it. Here only the kind of error is told: a message may quote the record.
                logger.error("signatures cannot be made (%s)", type(error).__name__)
            except BaseException:  # cancelled: they are to be signed as before
                self._ids.extend(ids)
                raise
        return True

    async def _read(self, work: Work[T]) -> tuple[int, T]:
        """What `work` gives, and the epoch of the file that it read."""
        return await self._database.read(lambda db: (self._database.epoch, work(db)))

    def _signing(self, stale: Sequence[signing.Stale], epoch: int) -> Work[None]:
        def sign(db: sqlite3.Connection) -> None:
            if self._database.epoch == epoch:  # else another file stands there, whose records may have the same names
                signing.sign(db, stale)

        return sign
