"""Lists of scopes that are too large to be read whole for a few keys: as the reference answers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_memory_server.providers.base import Filter, ListRequest, PinRequest, WriteRequest
from mcp_memory_server.providers.contract.store import EveryGroup, opened
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

from .matrix import STORES

ANN, ACME, ALL = "actor:ann", "tenant:acme", "global"
SCOPES: Final = (ANN, ACME, ALL)
AT: Final = "2026-03-01T09:00:30.000Z"


def fact(scope: str, number: int, **more: Any) -> WriteRequest:
    """Every 7th names a thread, every 11th is over by `AT`, every 13th waits for review; keys recur across scopes."""
    at = f"2026-03-01T09:{number % 60:02}:{number % 7:02}.{number % 1000:03}Z"
    thread = f"thread {number % 5}" if number % 7 == 0 else None
    fields: dict[str, Any] = {"kind": "session"} if thread else {}
    if number % 11 == 0:
        fields["valid_to"] = AT
    if number % 13 == 0:
        fields["status"] = "quarantined"
    if number % 17 == 0:
        fields["sensitivity"] = "secret"
    origin = MemoryOrigin(author="agent", thread_id=thread)
    return WriteRequest(scope, f"key {number % 450}", f"text {number}", origin, at, **(fields | more))


async def fill(provider: EveryGroup) -> None:
    facts = [fact(ANN, number) for number in range(700)]
    facts += [fact(ACME, number, valid_from="2026-02-01T00:00:00.000Z") for number in range(300, 500)]
    facts += [fact(ALL, number) for number in range(440, 470)]
    facts += [fact(ANN, number) for number in range(1_350, 1_400)]
    for start in range(0, len(facts), 100):
        await provider.write_many(facts[start : start + 100])
    listed = await provider.list(ListRequest(SCOPES))
    for record in listed.records[::90]:
        await provider.pin(PinRequest(record.scope, record.id, pinned=True, at=AT))


def without_ids(records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Ids are minted."""
    return [record.model_copy(update={"id": "", "superseded_by": None}) for record in records]


FILTERS: Final = (
    Filter(),
    Filter(at=AT),
    Filter(at=AT, own_thread=True, thread_id="thread 3", max_sensitivity="internal"),
    Filter(at=AT, kinds=("semantic",), since="2026-03-01T09:20:00.000Z"),
    Filter(at=AT, include_quarantined=True),
    Filter(as_of=AT),
    Filter(known_at=AT, own_thread=True),
    Filter(include_superseded=True),
)


@pytest.mark.parametrize("scheme", [scheme for scheme in STORES if scheme != "memory"])
async def test_a_list_is_cut_and_counted_as_the_reference_does(tmp_path: Path, scheme: str) -> None:
    async with opened(STORES["memory"](tmp_path)) as reference, opened(STORES[scheme](tmp_path)) as provider:
        await fill(reference)
        await fill(provider)
        for asked in FILTERS:
            for scopes in (SCOPES, (ACME, ANN)):
                for limit in (0, 40):
                    request = ListRequest(scopes, limit=limit, filter=asked)
                    expected, listed = await reference.list(request), await provider.list(request)
                    told = replace(listed, records=()), without_ids(listed.records)
                    assert told == (replace(expected, records=()), without_ids(expected.records)), request
