"""`list`: what it hands over, in which order, and how it counts."""

from mcp_memory_server.providers.base import Group, Listing, PinRequest
from mcp_memory_server.records import MemoryOrigin

from .registry import check
from .samples import ACME, ANN, ANN_SHOP, EVERYONE, listed, minute, remember, texts, writing
from .store import Store, opened


@check()
async def an_empty_store_lists_nothing(store: Store) -> None:
    async with opened(store) as provider:
        assert await listed(provider, ANN, EVERYONE) == Listing((), keys=0, pinned_keys=0)


@check(Group.WRITE)
async def every_field_of_a_record_comes_back(store: Store) -> None:
    request = writing(
        "release day",
        "Releases go out on Thursday",
        at=3,
        origin=MemoryOrigin(author="human", thread_id="th", run_id="rn", actor_ref="hr:7"),
        tags=("work", "two words"),
        valid_from=minute(1),
        valid_to=minute(9),
        kind="procedural",
        provenance="tool",
        status="active",
        owner="shared",
        sensitivity="secret",
        importance=0.25,
        confidence=1.0,
        subject="release",
        predicate="goes out on",
        object="Thursday",
        extraction="skip",
    )
    async with opened(store) as provider:
        written = (await provider.write(request)).record
        listing = await listed(provider)
    assert listing.records == (written,)
    for name in ("key", "text", "scope", "origin", "tags", "valid_from", "valid_to", "kind", "provenance", "status"):
        assert getattr(written, name) == getattr(request, name), name
    for name in ("owner", "sensitivity", "importance", "confidence", "subject", "predicate", "object", "extraction"):
        assert getattr(written, name) == getattr(request, name), name


@check(Group.WRITE)
async def keys_come_pinned_first_then_by_scope_then_newest_then_by_key(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "b", "wide, newest", ACME, at=9)
        await remember(provider, "older", "narrow, older", ANN, at=1)
        await remember(provider, "z", "narrow, tied", ANN, at=2)
        await remember(provider, "a", "narrow, tied, first key", ANN, at=2)
        pinned = await remember(provider, "wide pin", "pinned", ACME, at=0)
        await provider.pin(PinRequest(ACME, pinned.id, pinned=True, at=minute(9)))
        listing = await listed(provider, ANN, ACME)
    assert [record.key for record in listing.records] == ["wide pin", "a", "z", "older", "b"]


@check(Group.WRITE)
async def a_key_stands_where_its_narrowest_record_does(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "both", "wide answer, newest of all", EVERYONE, at=9)
        await remember(provider, "both", "narrow answer, oldest", ANN, at=0)
        await remember(provider, "narrow", "newer", ANN, at=1)
        await remember(provider, "wide", "newer still", EVERYONE, at=8)
        listing = await listed(provider, ANN, EVERYONE)
    assert texts(listing.records) == [
        "newer",
        "narrow answer, oldest",
        "wide answer, newest of all",
        "newer still",
    ]


@check(Group.WRITE)
async def the_order_of_the_scopes_is_the_request_s(store: Store) -> None:
    async with opened(store) as provider:
        for scope in (EVERYONE, ANN, ANN_SHOP):
            await remember(provider, "key", scope, scope)
        for scopes in ((ANN_SHOP, ANN, EVERYONE), (EVERYONE, ANN_SHOP, ANN)):
            assert texts((await listed(provider, *scopes)).records) == list(scopes)
        repeated = await listed(provider, ANN, EVERYONE, ANN)
    assert texts(repeated.records) == [ANN, EVERYONE]


@check(Group.WRITE)
async def one_pinned_record_pins_its_key(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "plain", "newest", ANN, at=9)
        await remember(provider, "key", "narrow", ANN, at=1)
        wide = await remember(provider, "key", "wide and pinned", EVERYONE, at=1)
        await provider.pin(PinRequest(EVERYONE, wide.id, pinned=True, at=minute(9)))
        listing = await listed(provider, ANN, EVERYONE)
        narrow_only = await listed(provider, ANN)
    assert texts(listing.records) == ["narrow", "wide and pinned", "newest"]
    assert (listing.keys, listing.pinned_keys) == (2, 1)
    assert texts(narrow_only.records) == ["newest", "narrow"]
    assert narrow_only.pinned_keys == 0


@check(Group.WRITE)
async def limit_counts_keys_and_every_record_of_a_listed_key_comes_along(store: Store) -> None:
    async with opened(store) as provider:
        for number in range(4):
            await remember(provider, f"key {number}", "narrow", ANN, at=number)
            await remember(provider, f"key {number}", "wide", EVERYONE, at=number)
        for limit in range(6):
            listing = await listed(provider, ANN, EVERYONE, limit=limit)
            expected = [f"key {number}" for number in (3, 2, 1, 0)[:limit] for _ in (ANN, EVERYONE)]
            assert [record.key for record in listing.records] == expected
            assert (listing.keys, listing.pinned_keys) == (4, 0)


@check(Group.WRITE)
async def ids_and_keys_narrow_the_request(store: Store) -> None:
    async with opened(store) as provider:
        narrow = await remember(provider, "a", "a at ann", ANN)
        wide = await remember(provider, "a", "a at all", EVERYONE)
        other = await remember(provider, "b", "b at ann", ANN)
        both = (ANN, EVERYONE)
        assert (await listed(provider, *both, keys=("a",))).records == (narrow, wide)
        assert (await listed(provider, *both, ids=(wide.id,))) == Listing((wide,), keys=1, pinned_keys=0)
        assert (await listed(provider, *both, ids=(narrow.id, other.id), keys=("b", "c"))).records == (other,)
        assert (await listed(provider, *both, ids=())) == Listing((), keys=0, pinned_keys=0)
        assert (await listed(provider, *both, keys=())).records == ()


@check(Group.WRITE)
async def tens_of_thousands_of_names_can_be_asked_for(store: Store) -> None:
    """More than a database takes as parameters of one statement."""
    async with opened(store) as provider:
        record = await remember(provider, "key 39999", "the one that exists")
        names = tuple(f"key {number}" for number in range(40_000))
        assert (await listed(provider, keys=names)).records == (record,)
        assert (await listed(provider, ids=(*names, record.id))).records == (record,)


@check(Group.WRITE)
async def other_statuses_are_listed_only_when_asked_for(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "a", "active")
        waiting = await remember(provider, "b", "waiting", status="quarantined")
        assert await listed(provider) == Listing((active,), keys=1, pinned_keys=0)
        assert (await listed(provider, statuses=("quarantined",))).records == (waiting,)
        assert (await listed(provider, statuses=("active", "quarantined"))).keys == 2
