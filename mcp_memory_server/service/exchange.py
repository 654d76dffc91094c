"""Records with all their versions, as they leave for a file."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable

from mcp_memory_server.providers.base import HistoryRequest, VersionRef, VersionsRequest, has_history
from mcp_memory_server.records import MemoryRecord

from .browse import everything_at
from .wiring import Wiring


async def held_versions(wiring: Wiring, scopes: Iterable[str]) -> AsyncGenerator[tuple[MemoryRecord, ...]]:
    """The versions of every record at the scopes, as they were when current, oldest first.

    For callers that have checked whom the scopes apply to. A record that is erased meanwhile is left out.
    """
    for scope in scopes:
        async for record in everything_at(wiring, scope):
            if versions := await _versions_of(wiring, record):
                yield versions


async def _versions_of(wiring: Wiring, record: MemoryRecord) -> tuple[MemoryRecord, ...]:
    provider = wiring.provider
    if record.version == 1 or not has_history(provider):
        return (record,)
    # History closes what was replaced; only `versions` has it as it was.
    history = await provider.history(HistoryRequest((record.scope,), record.id))
    refs = tuple(VersionRef(version.id, version.version) for version in history)
    held = await provider.versions(VersionsRequest((record.scope,), refs))
    return tuple(held[ref] for ref in refs if ref in held)
