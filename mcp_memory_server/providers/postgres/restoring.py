"""Taking records in as they are, with their history."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory_server.providers.base import RestoreRequest

from .connection import Transaction


async def restore(db: Transaction, request: RestoreRequest, signatures: Sequence[bytes]) -> int:
    """`signatures` are those of each record's current version, in the same order."""
    raise NotImplementedError
