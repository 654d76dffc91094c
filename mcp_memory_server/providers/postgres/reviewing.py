"""A person's decision about a record that waits for one."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory_server.providers.base import Settled, SettleRequest

from .connection import Transaction
from .forgetting import Erased


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was settled, and what of it has to leave the files."""

    settled: Settled
    erased: Erased | None


async def settle(db: Transaction, request: SettleRequest, language: str | None) -> Outcome | None:
    """Take the record out of quarantine, into its place or away. `language` is that of the ranking signatures."""
    raise NotImplementedError
