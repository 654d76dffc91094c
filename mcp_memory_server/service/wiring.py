"""What the use cases share: the store, who resolves scopes, the limits, and where time and ids come from."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import anyio
from uuid6 import uuid7

from mcp_memory_server.digest import DEFAULT_MAX_MEMORIES
from mcp_memory_server.identity import DefaultScopeResolver, RequestContext, ScopeResolver
from mcp_memory_server.policy import HELD_PROVENANCES
from mcp_memory_server.providers.base import Filter, MemoryProvider
from mcp_memory_server.recall import Estimator, estimate_tokens
from mcp_memory_server.records import Provenance, Sensitivity, canonical_instant

from .conversations import Conversations
from .embeddings import Embeddings
from .journal import Journal
from .selector_guard import SelectorGuard

DEFAULT_MAX_FACT_CHARS: Final = 240
MAX_MEMORIES_CEILING: Final = 200
DEFAULT_PROMOTE_AFTER: Final = 3
DEFAULT_SELECTIVE_OVER: Final = 200
"""Up to so many, all notes at once cost a conversation no more than 27 turns of selective recall (docs/recall.md)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a digest shows when nobody says, how long a fact may be, in code points, and what may be shown.

    Records above `max_sensitivity` are left out of whatever a model or its user is shown, unless the host gives a
    session a ceiling of its own (`RequestContext.max_sensitivity`). An induced rule leaves quarantine after
    `promote_after` successes. Selective recall shows everything at once where no more than `selective_over` notes
    apply. Maintenance sets aside what is more than `max_records` at a scope; 0 is no limit.
    """

    max_memories: int = DEFAULT_MAX_MEMORIES
    max_fact_chars: int = DEFAULT_MAX_FACT_CHARS
    max_sensitivity: Sensitivity = "internal"
    promote_after: int = DEFAULT_PROMOTE_AFTER
    selective_over: int = DEFAULT_SELECTIVE_OVER
    max_records: int = 0


def utc_now() -> str:
    """The time as a canonical instant."""
    return canonical_instant(datetime.now(UTC))


def new_id() -> str:
    """A fresh time-ordered id (UUIDv7)."""
    return str(uuid7())


@dataclass(frozen=True, slots=True)
class Wiring:
    provider: MemoryProvider
    journal: Journal
    embeddings: Embeddings
    conversations: Conversations
    resolver: ScopeResolver = field(default_factory=DefaultScopeResolver)
    limits: Limits = field(default_factory=Limits)
    now: Callable[[], str] = utc_now
    new_id: Callable[[], str] = new_id
    quarantine: Collection[Provenance] = HELD_PROVENANCES
    """The provenances that wait for review."""
    selector: SelectorGuard | None = None
    """The deployment's own, in place of the store's search."""
    estimate: Estimator = estimate_tokens
    """How many tokens a text is: what `max_tokens` goes by."""
    changing: anyio.Lock = field(default_factory=anyio.Lock, init=False)
    """Held while something is read, changed and written back: of one process one such change is tried at a time."""

    def ceiling(self, context: RequestContext) -> Sensitivity:
        """The highest sensitivity that the session may be shown."""
        return context.max_sensitivity or self.limits.max_sensitivity

    def shown_now(self, context: RequestContext, now: str | None = None) -> Filter:
        """What a session may be shown: what holds now, up to its ceiling, and of its own thread."""
        return Filter(
            at=now or self.now(), max_sensitivity=self.ceiling(context), thread_id=context.thread_id, own_thread=True
        )
