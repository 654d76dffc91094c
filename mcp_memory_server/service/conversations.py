"""What each conversation was shown, kept by the server for callers that name the conversation."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from mcp_memory_server.errors import NotSupported, StoreError
from mcp_memory_server.identity import Actor, journal_name
from mcp_memory_server.providers.base import (
    MemoryProvider,
    Surfaced,
    SurfacedLookup,
    SurfaceRequest,
    SurfacingProvider,
    keeps_surfaced,
)
from mcp_memory_server.records import MemoryRecord, refuse_surrogates

from .journal import Retention
from .keyed import keyed, secret_for_reading, secret_of

logger = logging.getLogger(__name__)

_PRUNE_EVERY: Final = 1_000


class Conversations:
    """Sets of records by actor and conversation, in the store; pruned by age and number as the journal is."""

    def __init__(self, provider: MemoryProvider, retention: Retention | None = None) -> None:
        self._provider = provider
        self._retention = retention or Retention()
        self._until_prune = 1

    async def shown(self, actor: Actor, conversation_id: str) -> Sequence[Surfaced]:
        """What the actor's conversation was shown.

        Raises:
            NotSupported: the provider keeps no such sets.
            StoreError: it cannot be read now.
        """
        provider = self._keeping()
        refuse_surrogates("conversation_id", conversation_id)
        secret = await secret_for_reading(provider)
        if secret is None:
            return ()
        name = keyed(secret, "conversation", conversation_id)
        return await provider.surfaced(SurfacedLookup(journal_name(actor), name))

    async def add(self, actor: Actor, conversation_id: str, shown: Iterable[MemoryRecord], at: str) -> bool:
        """Note what is being shown; whether that could be written. A recall does not fail for it.

        Raises:
            NotSupported: the provider keeps no such sets.
            InvalidInput: an id that no store can hold.
        """
        provider = self._keeping()
        refuse_surrogates("conversation_id", conversation_id)
        refs = tuple(Surfaced(record.scope, record.id, record.version) for record in shown)
        try:
            name = keyed(await secret_of(provider), "conversation", conversation_id)
            await provider.surface(SurfaceRequest(journal_name(actor), name, at, refs))
            await self._prune(provider)
        except StoreError as error:
            logger.warning("what a conversation was shown cannot be kept (%s)", error.code)
            return False
        return True

    async def prune(self, *, count_only: bool = False) -> int:
        """Drop, or only count, the sets that are not kept any longer; how many."""
        if not keeps_surfaced(self._provider):
            return 0
        return await self._provider.prune_surfaced(self._retention.pruning(count_only))

    def _keeping(self) -> SurfacingProvider:
        provider = self._provider
        if not keeps_surfaced(provider):
            remedy = "Leave conversation_id out, keep the surfaced keys of each answer, and send them as seen."
            raise NotSupported(provider.capabilities.provider, "keep what a conversation was shown", remedy)
        return provider

    async def _prune(self, provider: SurfacingProvider) -> None:
        self._until_prune -= 1
        if self._until_prune <= 0:
            self._until_prune = _PRUNE_EVERY
            await provider.prune_surfaced(self._retention.pruning())
