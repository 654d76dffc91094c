"""What stands beside the records: taken along a page at a time, and compared by count and digest."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from mcp_memory_server.providers.base import Carried, CarryingProvider, CarryPage, CarryRequest, Part

from .outcome import Beside

_PAGE: Final = 500
_MODULUS: Final = 2**256


class _Sum:
    """Counts rows and adds up their digests: the same in whatever order they come."""

    def __init__(self) -> None:
        self.rows = 0
        self.digests = 0

    def take(self, row: Carried) -> None:
        self.rows += 1
        self.digests = (self.digests + int.from_bytes(hashlib.sha256(repr(row).encode()).digest())) % _MODULUS


async def carry_part(source: CarryingProvider, target: CarryingProvider, part: Part) -> Beside:
    """Take a part along. Held where the target has more rows, as one in use may, or just those."""
    ours, theirs = _Sum(), _Sum()
    async with aclosing(_pages(source, part)) as pages:
        async for page in pages:
            await target.carry(page.rows)
            for row in page.rows:
                ours.take(row)
    async with aclosing(_pages(target, part)) as pages:
        async for page in pages:
            for row in page.rows:
                theirs.take(row)
    held = theirs.rows > ours.rows or (theirs.rows, theirs.digests) == (ours.rows, ours.digests)
    return Beside(part, ours.rows, held)


async def _pages(provider: CarryingProvider, part: Part) -> AsyncGenerator[CarryPage]:
    page = CarryPage((), None)
    while True:
        page = await provider.carried(CarryRequest(part, _PAGE, page.after))
        yield page
        if page.after is None:
            return
