"""Two stores side by side, a page at a time: whatever they hold, only a few pages of it are in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from mcp_memory_server.providers.base import (
    SET_ASIDE_TOO,
    BrowsingProvider,
    HistoryRequest,
    ListRequest,
    PageCursor,
    PageRequest,
    VersionRef,
    VersionsRequest,
    has_history,
)
from mcp_memory_server.records import MemoryRecord

from .comparing import Pair, Versions

BATCH: Final = 500
_MOST_GUESSED: Final = 64
"""Versions rise by one unless somebody imported others: up to so many are asked for without asking which there are."""


async def pairs_at(source: BrowsingProvider, target: BrowsingProvider | None, scope: str) -> AsyncGenerator[Pair]:
    """Every key of a scope that either end has, in order of key; `target` is None where it holds nothing there."""
    async with aclosing(_keys_at(source, scope)) as ours, aclosing(_keys_at(target, scope)) as theirs:
        here, there = await anext(ours, None), await anext(theirs, None)
        while here is not None or there is not None:
            key = min(_key_of(held) for held in (here, there) if held is not None)
            pair = Pair(scope)
            if here is not None and _key_of(here) == key:
                pair, here = Pair(scope, here), await anext(ours, None)
            if there is not None and _key_of(there) == key:
                pair, there = Pair(scope, pair.source, there), await anext(theirs, None)
            yield pair


async def pairs_of(
    source: BrowsingProvider, target: BrowsingProvider, scopes: Sequence[str], ids: Sequence[str]
) -> Sequence[Pair]:
    """The keys of the records with these ids at these scopes, as `pairs_at` would give them."""
    ours, theirs = await records_of(source, scopes, ids), await records_of(target, scopes, ids)
    keys = {versions[-1].key for versions in (*ours, *theirs)}
    asked = ListRequest(tuple(scopes), keys=tuple(sorted(keys)), filter=SET_ASIDE_TOO)
    sides: list[dict[tuple[str, str], list[Versions]]] = []
    for end in (source, target):
        by_key: dict[tuple[str, str], list[Versions]] = {}
        for versions in await _listed(end, asked):
            by_key.setdefault((versions[-1].scope, versions[-1].key), []).append(versions)
        sides.append(by_key)
    here, there = sides
    return [Pair(name[0], here.get(name, ()), there.get(name, ())) for name in sorted({*here, *there})]


async def records_of(provider: BrowsingProvider, scopes: Sequence[str], ids: Sequence[str]) -> Sequence[Versions]:
    """Those of the records that are held at these scopes."""
    return await _listed(provider, ListRequest(tuple(scopes), ids=tuple(ids), filter=SET_ASIDE_TOO))


def _key_of(held: Sequence[Versions]) -> str:
    return held[0][-1].key


async def _listed(provider: BrowsingProvider, request: ListRequest) -> Sequence[Versions]:
    found = (await provider.list(request)).records
    held = [record for record in found if record.scope in request.scopes]
    return await _with_history(provider, request.scopes, held)


async def _keys_at(provider: BrowsingProvider | None, scope: str) -> AsyncGenerator[list[Versions]]:
    """The records of each key at a scope, those of a key by id."""
    held: list[Versions] = []
    after: PageCursor | None = None
    while provider is not None:
        page = await provider.page(PageRequest(scope, BATCH, after))
        for versions in await _with_history(provider, (scope,), [record for record in page if record.scope == scope]):
            if held and _key_of(held) != versions[-1].key:
                yield held
                held = []
            held.append(versions)
        if len(page) < BATCH:
            break
        after = PageCursor.behind(page[-1])
    if held:
        yield held


async def _with_history(
    provider: BrowsingProvider, scopes: tuple[str, ...], records: Sequence[MemoryRecord]
) -> Sequence[Versions]:
    replaced = [record for record in records if record.version > 1]
    if not replaced or not has_history(provider):
        return [(record,) for record in records]
    refs: list[VersionRef] = []
    for record in replaced:
        if record.version <= _MOST_GUESSED:
            refs += (VersionRef(record.id, version) for version in range(1, record.version))
        else:
            versions = await provider.history(HistoryRequest(scopes, record.id))
            refs += (VersionRef(record.id, version.version) for version in versions[:-1])
    old: dict[str, list[MemoryRecord]] = {}
    for version in (await provider.versions(VersionsRequest(scopes, tuple(refs)))).values():
        old.setdefault(version.id, []).append(version)
    return [
        (*sorted(
            (version for version in old.get(record.id, ()) if version.version < record.version),
            key=lambda version: version.version,
        ), record)
        for record in records
    ]  # fmt: skip
