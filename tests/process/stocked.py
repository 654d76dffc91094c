"""Stores that hold much before a server opens them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import anyio

from mcp_memory_server.providers.base import RestoreRequest
from mcp_memory_server.providers.sqlite import open_sqlite
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

AT: Final = "2026-01-01T00:00:00.000Z"


def stock(store: Path, facts: Iterable[tuple[str, str, tuple[str, ...]]]) -> None:
    """Put these (key, fact, tags) at `actor:ann`."""
    records = [
        MemoryRecord(
            id=f"record-{number}",
            key=key,
            text=text,
            tags=tags,
            scope="actor:ann",
            origin=MemoryOrigin(author="agent"),
            created_at=AT,
            updated_at=AT,
        )
        for number, (key, text, tags) in enumerate(facts)
    ]

    async def restore() -> None:
        async with open_sqlite(f"sqlite:///{store}") as provider:
            await provider.restore(RestoreRequest(tuple((record,) for record in records), AT))

    anyio.run(restore)
