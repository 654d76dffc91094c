"""The journal of what was shown: batched, so that it neither delays nor fails a recall."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import anyio
from uuid6 import UUID

from mcp_memory_server.background import running_beside
from mcp_memory_server.errors import StoreError
from mcp_memory_server.providers.base import (
    JournaledDigest,
    JournalingProvider,
    JournalLookup,
    MemoryProvider,
    PruneRequest,
    can_journal,
)
from mcp_memory_server.records import canonical_instant

from .keyed import keyed, secret_for_reading

logger = logging.getLogger(__name__)

# Long enough to gather the turns of a busy moment, short enough that a replay from another process finds them.
_FLUSH_INTERVAL_S: Final = 0.2
# When to look again for an entry that another process may be about to write. The first look mostly finds it; on a busy
# machine it takes longer.
_LOOKS_AGAIN_AFTER_S: Final = (0.3, 0.7)
# As far as clocks of servers may be apart, and more.
_NEW_FOR_S: Final = 5.0
# What a store that cannot be written for long may make us hold; the oldest entries go first.
_MOST_WAITING: Final = 10_000
_PRUNE_EVERY: Final = 1_000


@dataclass(frozen=True, slots=True)
class Retention:
    """How long journaled digests are kept, and how many at most."""

    days: int = 30
    digests: int = 10_000

    def pruning(self, count_only: bool = False) -> PruneRequest:
        """What drops, or counts, all that is not kept any longer now."""
        before = canonical_instant(datetime.now(UTC) - timedelta(days=self.days))
        return PruneRequest(before, self.digests, count_only=count_only)


MakeEntry = Callable[[bytes], JournaledDigest]
"""Makes an entry, given the store's secret: what a caller said is in it as keyed hashes only (`keyed`)."""


class Journal:
    """Appends digests in the background while `running`; drained before whatever must see them."""

    def __init__(self, provider: MemoryProvider, retention: Retention | None = None) -> None:
        self._provider: JournalingProvider | None = provider if can_journal(provider) else None
        self._retention = retention or Retention()
        self._waiting: list[MakeEntry] = []
        self._writing = anyio.Lock()
        self._wake = anyio.Event()
        self._healthy = True
        self._until_prune = 1

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Write what is submitted every now and then; what is left at the end, too."""
        async with running_beside(self._keep_writing):
            try:
                yield
            finally:
                with anyio.move_on_after(2, shield=True):
                    await self.drain()

    async def _keep_writing(self) -> None:
        while True:
            await self._wake.wait()
            await anyio.sleep(_FLUSH_INTERVAL_S)
            await self.drain()

    def submit(self, entry: MakeEntry) -> bool:
        """Leave the entry, and the work of making it, to the background; whether it can be expected to arrive."""
        if self._provider is None:
            return False
        self._waiting.append(entry)
        del self._waiting[:-_MOST_WAITING]
        self._wake.set()
        return self._healthy

    async def write(self, entry: MakeEntry) -> bool:
        """Journal one entry durably, now; false when the store cannot be written."""
        self.submit(entry)
        return await self.drain()

    async def drain(self) -> bool:
        """Write all that waits; false, with all of it still waiting, when the store cannot be written."""
        provider = self._provider
        if provider is None:
            return False
        async with self._writing:
            batch, self._waiting = self._waiting, []
            if self._wake.is_set():  # another one would not wake the writer, who waits for this one
                self._wake = anyio.Event()
            if not batch:
                return self._healthy
            try:
                secret = await provider.journal_secret()
                await provider.journal([entry(secret) for entry in batch])
                await self._prune(provider, len(batch))
            except Exception as error:  # whatever a provider raises: a journal that fails must not fail a recall
                self._waiting[:0] = batch
                if self._healthy:
                    reason = error.code if isinstance(error, StoreError) else type(error).__name__
                    logger.warning("the journal cannot be written (%s); %d entries wait", reason, len(batch))
                self._healthy = False
            except BaseException:
                self._waiting[:0] = batch
                raise
            else:
                self._healthy = True
            return self._healthy

    async def find(self, lookup: JournalLookup) -> JournaledDigest | None:
        """The actor's own journaled digest; drains first, so that what was just shown is found.

        What another process has just shown may not be written yet: it is waited for, a moment long.
        """
        if self._provider is None:
            return None
        await self.drain()
        if lookup.turn_id is not None:
            secret = await secret_for_reading(self._provider)
            if secret is None:
                return None
            lookup = replace(lookup, turn_id=keyed(secret, "turn", lookup.turn_id))
        found = await self._provider.journaled(lookup)
        if lookup.digest_id is not None and _may_be_under_way(lookup.digest_id):
            for wait_s in _LOOKS_AGAIN_AFTER_S:
                if found is not None:
                    break
                await anyio.sleep(wait_s)
                found = await self._provider.journaled(lookup)
        return found

    async def prune(self, *, count_only: bool = False) -> int:
        """Drop, or only count, what is not kept any longer; how many entries."""
        if self._provider is None:
            return 0
        return await self._provider.prune_journal(self._retention.pruning(count_only))

    async def _prune(self, provider: JournalingProvider, written: int) -> None:
        self._until_prune -= written
        if self._until_prune <= 0:
            self._until_prune = _PRUNE_EVERY
            await provider.prune_journal(self._retention.pruning())


def _may_be_under_way(digest_id: str) -> bool:
    """Whether a digest of this id would be so new that its entry may still be with the process that showed it.

    Told by the id alone, which has its time in it: so one that nobody has is waited for as one of others is.
    """
    try:
        minted_at_s = UUID(digest_id).time / 1000
    except ValueError:
        return False
    return abs(time.time() - minted_at_s) < _NEW_FOR_S
