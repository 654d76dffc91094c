"""What the use cases share: the store, who resolves scopes, the limits, and where time and ids come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from uuid6 import uuid7

from mcp_memory_server.digest import DEFAULT_MAX_MEMORIES
from mcp_memory_server.identity import DefaultScopeResolver, ScopeResolver
from mcp_memory_server.providers.base import MemoryProvider
from mcp_memory_server.records import canonical_instant

from .embeddings import Embeddings
from .journal import Journal

DEFAULT_MAX_FACT_CHARS: Final = 240
MAX_MEMORIES_CEILING: Final = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a digest shows when nobody says, and how long a fact may be, in code points."""

    max_memories: int = DEFAULT_MAX_MEMORIES
    max_fact_chars: int = DEFAULT_MAX_FACT_CHARS


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
    resolver: ScopeResolver = field(default_factory=DefaultScopeResolver)
    limits: Limits = field(default_factory=Limits)
    now: Callable[[], str] = utc_now
    new_id: Callable[[], str] = new_id
