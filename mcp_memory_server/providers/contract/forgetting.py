"""`forget`: erased from every answer, and down to the bytes."""

from typing import Final

from mcp_memory_server.providers.base import (
    ForgetRequest,
    Group,
    HistoryRequest,
    JournaledDigest,
    JournaledEntry,
    JournalLookup,
    PageRequest,
    PinRequest,
    VersionRef,
    VersionsRequest,
)

from .registry import check
from .samples import ANN, EVERYONE, erasing, listed, minute, question, remember, writing
from .store import Store, opened

_SECRET_WORDS: Final = ("xylocarp", "quinquefoliate", "zenzizenzic", "ульотрихий")
"""Words that nothing else in a store's files holds."""


@check(Group.WRITE)
async def what_is_forgotten_is_listed_no_more(store: Store) -> None:
    async with opened(store) as provider:
        kept = await remember(provider, "kept", "stays")
        gone = await remember(provider, "gone", "goes")
        forgotten = await provider.forget(erasing(gone))
        assert forgotten is not None
        assert (forgotten.id, forgotten.key, forgotten.scope) == (gone.id, "gone", ANN)
        listing = await listed(provider)
        assert (listing.records, listing.keys) == ((kept,), 1)
        assert (await listed(provider, ids=(gone.id,))).records == ()
        assert await provider.pin(PinRequest(ANN, gone.id, pinned=True, at=minute(1))) is None


@check()
async def an_unknown_id_is_not_forgotten(store: Store) -> None:
    async with opened(store) as provider:
        assert await provider.forget(ForgetRequest(ANN, "no-such-id", by="ann", at=minute(0))) is None


@check(Group.WRITE)
async def nothing_is_forgotten_twice(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "key", "text")
        assert await provider.forget(erasing(record)) is not None
        assert await provider.forget(erasing(record)) is None


@check(Group.WRITE)
async def forgetting_one_scope_s_answer_leaves_the_others(store: Store) -> None:
    async with opened(store) as provider:
        narrow = await remember(provider, "key", "narrow", ANN)
        wide = await remember(provider, "key", "wide", EVERYONE)
        await provider.forget(erasing(narrow))
        assert (await listed(provider, ANN, EVERYONE)).records == (wide,)


@check(Group.WRITE)
async def a_forgotten_key_begins_anew(store: Store) -> None:
    async with opened(store) as provider:
        gone = await remember(provider, "key", "old")
        await provider.pin(PinRequest(ANN, gone.id, pinned=True, at=minute(1)))
        await remember(provider, "key", "older", at=2)
        await provider.forget(erasing(gone))
        written = await provider.write(writing("key", "new", at=3))
        record = written.record
        assert (written.status, written.previous, record.version, record.pinned) == ("stored", None, 1, False)
        assert record.id != gone.id
        assert record.created_at == minute(3)


@check(Group.WRITE, Group.HISTORY)
async def a_forgotten_record_has_no_history(store: Store) -> None:
    async with opened(store) as provider:
        gone = await remember(provider, "key", "old")
        await remember(provider, "key", "newer", at=1)
        await provider.forget(erasing(gone))
        refs = (VersionRef(gone.id, 1), VersionRef(gone.id, 2))
        assert await provider.history(HistoryRequest((ANN,), gone.id)) == ()
        assert await provider.versions(VersionsRequest((ANN,), refs)) == {}
        again = await remember(provider, "key", "newest", at=2)
        assert await provider.history(HistoryRequest((ANN,), again.id)) == (again,)


@check(Group.WRITE, Group.SEARCH)
async def a_forgotten_record_is_found_no_more(store: Store) -> None:
    async with opened(store) as provider:
        gone = await remember(provider, "key", "old xylocarp")
        await remember(provider, "key", "newer xylocarp", at=1)
        kept = await remember(provider, "other", "another xylocarp", at=1)
        assert len(await provider.search(question("xylocarp"))) == 2
        await provider.forget(erasing(gone))
        assert [hit.record for hit in await provider.search(question("xylocarp"))] == [kept]
        await provider.forget(erasing(kept))
        assert await provider.search(question("xylocarp")) == ()


@check(Group.WRITE, Group.BROWSE)
async def a_forgotten_record_is_on_no_page_and_in_no_count(store: Store) -> None:
    async with opened(store) as provider:
        empty = await provider.stats((ANN,))
        gone = await remember(provider, "key", "old")
        await provider.pin(PinRequest(ANN, gone.id, pinned=True, at=minute(1)))
        await remember(provider, "key", "newer", at=2)
        await provider.forget(erasing(gone))
        assert await provider.page(PageRequest(ANN, limit=5)) == ()
        assert await provider.scopes() == ()
        stats = await provider.stats((ANN,))
    assert (stats.records, stats.pinned, stats.versions) == (0, 0, 0)
    assert (dict(stats.by_kind), dict(stats.by_status), stats.last_write) == ({}, {}, None)
    assert stats.by_scope == empty.by_scope == ()


@check(Group.WRITE, Group.JOURNAL, Group.HISTORY)
async def a_replay_has_nothing_left_of_a_forgotten_record(store: Store) -> None:
    async with opened(store) as provider:
        gone = await remember(provider, "gone", "goes")
        kept = await remember(provider, "kept", "stays")
        entries = tuple(JournaledEntry(VersionRef(record.id, 1), pinned=False) for record in (gone, kept))
        await provider.journal([JournaledDigest("d-1", "ann", minute(1), (ANN,), entries, 0, 0, recalled=False)])
        await provider.forget(erasing(gone))
        journaled = await provider.journaled(JournalLookup("ann", digest_id="d-1"))
        assert journaled is not None
        refs = tuple(entry.ref for entry in journaled.entries)
        assert await provider.versions(VersionsRequest((ANN,), refs)) == {VersionRef(kept.id, 1): kept}


@check(Group.WRITE)
async def no_file_of_the_store_holds_the_bytes_of_a_forgotten_record(store: Store) -> None:
    """Whole words count too: an index must not keep what the table let go."""
    async with opened(store) as provider:
        for number in range(300):
            await remember(provider, f"neighbour {number}", f"ordinary fact number {number}", at=number // 10)
        gone = await remember(provider, "secret", "first xylocarp", tags=("quinquefoliate",))
        await remember(provider, "secret", f"then zenzizenzic {'and padding ' * 500}", at=1, tags=("quinquefoliate",))
        await remember(provider, "secret", "Then УЛЬОТРИХИЙ", at=2, subject="quinquefoliate")
        for number in range(300, 400):
            await remember(provider, f"neighbour {number}", f"ordinary fact number {number}", at=number // 10)
        forgotten = await provider.forget(erasing(gone))
        assert forgotten is not None
        assert forgotten.erasure == "done"
        assert _words_in_files(store) == []
        assert (await listed(provider)).keys == 400
    assert _words_in_files(store) == []


@check(Group.WRITE, Group.SEARCH)
async def no_file_keeps_the_bytes_of_a_forgotten_record_that_was_searched(store: Store) -> None:
    async with opened(store) as provider:
        gone = await remember(provider, "secret", f"holds {' '.join(_SECRET_WORDS)}")
        for word in _SECRET_WORDS:
            assert len(await provider.search(question(word))) == 1
        await provider.forget(erasing(gone))
        assert _words_in_files(store) == []
    assert _words_in_files(store) == []


def _words_in_files(store: Store) -> list[str]:
    """Which of the secret words the store's files hold, in lower or upper case."""
    contents = [path.read_bytes() for path in store.files()]
    return [
        word
        for word in _SECRET_WORDS
        if any(form.encode() in content for content in contents for form in (word, word.upper()))
    ]
