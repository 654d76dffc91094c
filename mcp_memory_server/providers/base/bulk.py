"""The group `bulk`: several writes that happen together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .writing import WriteRequest, WritingProvider, Written


class BulkProvider(WritingProvider, Protocol):
    async def write_many(self, requests: Sequence[WriteRequest]) -> tuple[Written, ...]:
        """Write them in order, each as `write` would over what those before it left: all of them or none.

        Raises:
            Conflict, InvalidInput: what the first one that fails comes to; nothing was written.
        """
        ...
