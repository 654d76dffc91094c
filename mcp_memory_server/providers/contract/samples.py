"""Scopes, times and requests that the checks share."""

from __future__ import annotations

from typing import Any, Final

from mcp_memory_server.providers.base import (
    ForgetRequest,
    Listing,
    ListRequest,
    MemoryProvider,
    SearchRequest,
    WriteRequest,
    WritingProvider,
)
from mcp_memory_server.providers.versions import MAX_NAME_CHARS
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

ANN: Final = "actor:ann"
ANN_SHOP: Final = "actor:ann#shop"
BOB: Final = "actor:bob"
ACME: Final = "tenant:acme"
EVERYONE: Final = "global"

AGENT: Final = MemoryOrigin(author="agent")
HALF_PAIR: Final = "half of a pair: \ud83d"
"""A string that Python holds and UTF-8 cannot."""
LONGEST: Final = "".join(chr(0x20000 + number * 7919 % 40_000) for number in range(MAX_NAME_CHARS))
"""A name as long as names may be, of the widest characters and none of them twice: no index packs it smaller."""


def minute(number: int) -> str:
    """The instant that many minutes after a fixed one."""
    return f"2026-03-01T{9 + number // 60:02}:{number % 60:02}:00.000Z"


def writing(key: str, text: str, scope: str = ANN, at: int = 0, **fields: Any) -> WriteRequest:
    """A request to hold `text` under `key`, at minute `at`."""
    return WriteRequest(scope=scope, key=key, text=text, origin=fields.pop("origin", AGENT), at=minute(at), **fields)


async def remember(
    provider: WritingProvider, key: str, text: str, scope: str = ANN, at: int = 0, **fields: Any
) -> MemoryRecord:
    """The record that is current after the write."""
    return (await provider.write(writing(key, text, scope, at, **fields))).record


def requested(*scopes: str, **fields: Any) -> ListRequest:
    """A list request, at Ann's scope unless others are named."""
    return ListRequest(scopes or (ANN,), **fields)


async def listed(provider: MemoryProvider, *scopes: str, **fields: Any) -> Listing:
    return await provider.list(requested(*scopes, **fields))


def question(query: str, *scopes: str, limit: int = 10) -> SearchRequest:
    """A search request, at Ann's scope unless others are named."""
    return SearchRequest(scopes or (ANN,), query, limit, at=minute(59))


def erasing(record: MemoryRecord) -> ForgetRequest:
    return ForgetRequest(record.scope, record.id, by="ann", at=minute(59))


def raw_record(id: str, key: str, text: str, scope: str = ANN, at: int = 0, **fields: Any) -> MemoryRecord:
    """A record as an export holds it."""
    held: dict[str, Any] = {"created_at": minute(0), "updated_at": minute(at), "origin": AGENT, **fields}
    return MemoryRecord(id=id, key=key, text=text, scope=scope, **held)


def texts(records: tuple[MemoryRecord, ...]) -> list[str]:
    return [record.text for record in records]
