"""Odd text: all of it comes back as it was given, or is refused before anything is written."""

from typing import Final

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import (
    ForgetRequest,
    Group,
    HistoryRequest,
    PageRequest,
    PinRequest,
    RestoreRequest,
    VersionRef,
    VersionsRequest,
)
from mcp_memory_server.records import MemoryOrigin, visible_line

from .refusals import refusal
from .registry import check
from .samples import ANN, HALF_PAIR, LONGEST, listed, minute, raw_record, remember, writing
from .store import Store, opened

ODD_TEXTS: Final = (
    "🤷🏽‍♀️ and 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "a NUL \x00 in the middle",
    "\x00",
    "'; DROP TABLE memory; --",
    '"quoted" \\back\\slashed\\ %s {} $1 :name ?',
    "line\nbreaks\r\nand\ttabs",
    "\u202eright to left\u202c \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "e\u0301 stays decomposed, é composed",
    "the highest code point \U0010ffff and a noncharacter \ufffe",
    '{"looks": ["like", "json"]}',
    " ",
    "x" * 240,
    "𝔘" * 240,
    "long " * 20_000,
)


@check(Group.WRITE)
async def any_text_comes_back_as_it_was_written(store: Store) -> None:
    async with opened(store) as provider:
        for number, text in enumerate(ODD_TEXTS):
            origin = MemoryOrigin(author="agent", thread_id=text[:100])
            key = f"{number} {visible_line(text[:80])}"
            written = await remember(provider, key, text, tags=(text[:40],), origin=origin)
            assert (written.text, written.tags, written.origin) == (text, (text[:40],), origin)
            assert (await listed(provider, keys=(written.key,))).records == (written,)


@check(Group.WRITE, Group.HISTORY)
async def any_text_comes_back_from_history(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", ODD_TEXTS[0])
        for number, text in enumerate(ODD_TEXTS):
            await remember(provider, "key", text, at=number)
        history = await provider.history(HistoryRequest((ANN,), record.id))
        assert tuple(version.text for version in history) == ODD_TEXTS


@check(Group.WRITE)
async def half_of_a_surrogate_pair_is_refused_in_what_is_written(store: Store) -> None:
    async with opened(store) as provider:
        before = await remember(provider, "key", "text")
        for request in (
            writing("key", HALF_PAIR),
            writing(HALF_PAIR, "text"),
            writing("key", "text", scope=f"actor:{HALF_PAIR[-1]}"),
            writing("key", "other text", tags=(HALF_PAIR,)),
            writing("key", "other text", subject=HALF_PAIR),
            writing("key", "other text", origin=MemoryOrigin(author="agent", thread_id=HALF_PAIR)),
        ):
            assert str(await refusal(InvalidInput, provider.write(request))).isprintable()
        assert (await listed(provider)).records == (before,)
        assert (await remember(provider, "key", "other text")).version == 2


@check(Group.WRITE, Group.RESTORE)
async def half_of_a_surrogate_pair_is_refused_in_what_is_restored(store: Store) -> None:
    good, bad = raw_record("id-1", "a", "text"), raw_record("id-2", "b", HALF_PAIR)
    async with opened(store) as provider:
        await refusal(InvalidInput, provider.restore(RestoreRequest(((good,), (bad,)), at=minute(1))))
        assert (await listed(provider)).records == ()


@check(Group.WRITE, Group.RESTORE)
async def a_name_may_be_as_long_as_an_index_holds(store: Store) -> None:
    """Of more characters it is refused whole, by every store alike."""
    origin = MemoryOrigin(author="agent", thread_id=LONGEST)
    restored = raw_record(LONGEST, "key", "text", subject=LONGEST, object=LONGEST[::-1])
    async with opened(store) as provider:
        said = await remember(provider, LONGEST, "text", kind="session", origin=origin)
        await provider.restore(RestoreRequest(((restored,),), at=minute(1)))
        for request in (
            writing(f"{LONGEST}x", "text"),
            writing("other", "text", subject=f"{LONGEST}x"),
            writing("other", "text", object=f"{LONGEST}x"),
            writing("other", "text", kind="session", origin=MemoryOrigin(author="agent", thread_id=f"{LONGEST}x")),
        ):
            await refusal(InvalidInput, provider.write(request))
        long_id = raw_record(f"{LONGEST}x", "other", "text")
        await refusal(InvalidInput, provider.restore(RestoreRequest(((long_id,),), at=minute(1))))
        held = (await listed(provider)).records
        assert len(held) == 2
        assert said in held
        assert restored in held
        assert (await listed(provider, ids=(f"{LONGEST}x",), keys=(f"{LONGEST}x",))).records == ()


@check(Group.WRITE)
async def a_name_with_half_of_a_surrogate_pair_matches_nothing(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        assert (await listed(provider, ids=(HALF_PAIR,))).records == ()
        assert (await listed(provider, keys=(HALF_PAIR, "key"))).records == (record,)
        assert (await listed(provider, HALF_PAIR, ANN)).records == (record,)
        assert await provider.forget(ForgetRequest(ANN, HALF_PAIR, by="ann", at=minute(1))) is None
        assert await provider.forget(ForgetRequest(HALF_PAIR, record.id, by="ann", at=minute(1))) is None
        assert await provider.pin(PinRequest(ANN, HALF_PAIR, pinned=True, at=minute(1))) is None


@check(Group.WRITE)
async def a_name_is_not_taken_for_its_beginning(store: Store) -> None:
    """As by a database that ends a string at NUL, or trims it."""
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        for end in ("\x00", "\x00more", " ", "\n"):
            assert (await listed(provider, keys=(f"key{end}",))).records == ()
            assert (await listed(provider, ids=(f"{record.id}{end}",))).records == ()
            assert (await listed(provider, f"{ANN}{end}")).records == ()
            assert await provider.forget(ForgetRequest(ANN, f"{record.id}{end}", by="ann", at=minute(1))) is None


@check(Group.HISTORY)
async def history_has_nothing_under_half_of_a_surrogate_pair(store: Store) -> None:
    async with opened(store) as provider:
        assert await provider.history(HistoryRequest((ANN, HALF_PAIR), HALF_PAIR)) == ()
        assert await provider.versions(VersionsRequest((HALF_PAIR,), (VersionRef(HALF_PAIR, 1),))) == {}


@check(Group.WRITE, Group.BROWSE)
async def pages_and_stats_have_nothing_under_half_of_a_surrogate_pair(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "key", "text")
        assert await provider.page(PageRequest(HALF_PAIR, limit=5)) == ()
        assert (await provider.stats((HALF_PAIR,))).records == 0
