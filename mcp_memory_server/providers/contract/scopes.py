"""Scopes: what lies outside is neither returned, nor counted, nor changed."""

from typing import Final

from mcp_memory_server.identity import MAX_STORED_SCOPE_CHARS
from mcp_memory_server.providers.base import (
    ForgetRequest,
    Group,
    HistoryRequest,
    ListRequest,
    PinRequest,
    VersionRef,
    VersionsRequest,
)

from .registry import check
from .samples import ANN, BOB, EVERYONE, listed, minute, question, remember, texts
from .store import Store, opened

LOOKALIKES: Final = (
    "actor:ann",
    "actor:Ann",
    "actor:ann#shop",
    "actor:ann#",
    "actor:anna",
    "actor:an_",
    "actor:an%",
    "actor:a*",
    "actor:änn",
    "actor:a\u0308nn",
    "ann",
    "AND",
    "mcp",
    "a-b",
    "a:b",
    '"a"',
    "o'brien",
    "ann@example.org",
    "6f0b6d8e-6f2c-4c9e-9d4f-3f6f0c1d2e3a",
    "部門:営業",
    "s" * 200,
    "s" * 199,
    "s" * MAX_STORED_SCOPE_CHARS,
)
"""Tokens that are easily taken for one another: by case, prefix, wildcard, normal form or query syntax."""


@check(Group.WRITE)
async def scopes_are_opaque_tokens_that_match_only_themselves(store: Store) -> None:
    async with opened(store) as provider:
        for scope in LOOKALIKES:
            await remember(provider, "key", f"held at {scope}", scope)
        for scope in LOOKALIKES:
            assert texts((await listed(provider, scope)).records) == [f"held at {scope}"]


@check(Group.WRITE, Group.SEARCH)
async def a_search_stays_within_scopes_that_look_alike(store: Store) -> None:
    async with opened(store) as provider:
        for scope in LOOKALIKES:
            await remember(provider, "key", f"the same words, held at {scope}", scope)
        for scope in LOOKALIKES:
            found = await provider.search(question("same words", scope))
            assert [hit.record.scope for hit in found] == [scope]


@check(Group.WRITE)
async def a_request_without_scopes_finds_nothing(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "key", "text", EVERYONE)
        listing = await provider.list(ListRequest(()))
        assert listing.records == ()
        assert listing.keys == 0


@check(Group.WRITE)
async def nothing_is_forgotten_or_pinned_at_a_scope_that_is_not_the_record_s(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text", BOB)
        for scope in (ANN, EVERYONE, "actor:bob#shop"):
            assert await provider.forget(ForgetRequest(scope, record.id, by="ann", at=minute(1))) is None
            assert await provider.pin(PinRequest(scope, record.id, pinned=True, at=minute(1))) is None
        assert (await listed(provider, BOB)).records == (record,)


@check(Group.WRITE, Group.HISTORY)
async def no_version_is_shown_at_a_scope_that_is_not_the_record_s(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text", BOB)
        await remember(provider, "key", "other text", BOB, at=1)
        refs = (VersionRef(record.id, 1), VersionRef(record.id, 2))
        assert await provider.history(HistoryRequest((ANN, EVERYONE), record.id)) == ()
        assert await provider.versions(VersionsRequest((ANN, EVERYONE), refs)) == {}
        assert len(await provider.versions(VersionsRequest((ANN, BOB), refs))) == 2


@check(Group.WRITE, Group.BROWSE)
async def pages_and_counts_are_those_of_the_scopes(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "key", "ann's", ANN)
        before = await provider.stats((ANN,))
        foreign = await remember(provider, "key", "bob's", BOB, at=5)
        await provider.pin(PinRequest(BOB, foreign.id, pinned=True, at=minute(6)))
        await remember(provider, "key", "bob's, corrected", BOB, at=7)
        after = await provider.stats((ANN,))
    assert (before.records, before.pinned, before.versions, before.by_scope, before.last_write) == (
        after.records,
        after.pinned,
        after.versions,
        after.by_scope,
        after.last_write,
    )
