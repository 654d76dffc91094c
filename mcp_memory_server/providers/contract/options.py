"""Write options: what a provider declares in `honours`, and what it does."""

from mcp_memory_server.errors import InvalidInput, OptionNotHonoured
from mcp_memory_server.providers.base import (
    ForgetRequest,
    Group,
    HistoryRequest,
    ListRequest,
    MemoryProvider,
    PageRequest,
    PinRequest,
    RestoreRequest,
    VersionRef,
    VersionsRequest,
    WriteOption,
)
from mcp_memory_server.providers.options import WriteOptions, bind_write_options, put
from mcp_memory_server.records import MemoryRecord

from .refusals import refusal
from .registry import check
from .samples import ANN, BOB, listed, minute, question, raw_record, remember, texts, writing
from .store import EveryGroup, Store, bound, opened

_ACME = {"tenant": "acme"}
_ZENITH = {"tenant": "zenith"}
_ASKING = {
    WriteOption.EXTRACTION: WriteOptions(extraction="skip"),
    WriteOption.NAMESPACE_SCOPE: WriteOptions(namespace_scope=_ACME),
}


async def _restored(provider: EveryGroup, *records: MemoryRecord) -> int:
    return await provider.restore(RestoreRequest(tuple((record,) for record in records), at=minute(30)))


def _honours(provider: MemoryProvider, option: WriteOption) -> bool:
    return option in provider.capabilities.honours


async def _holds_itself_to_refusing(provider: EveryGroup, option: WriteOption) -> None:
    error = await refusal(OptionNotHonoured, put(provider, writing("key", "text"), _ASKING[option]))
    assert (error.provider, error.option) == (provider.capabilities.provider, option)
    assert "acme" not in str(error)
    assert "skip" not in str(error)
    assert (await listed(provider)).records == ()


@check(Group.WRITE)
async def an_option_that_is_not_honoured_is_refused_before_anything_is_written(store: Store) -> None:
    """Whatever the provider declares, asking for more leaves it as it was."""
    async with opened(store) as provider:
        for option in WriteOption:
            if not _honours(provider, option):
                await _holds_itself_to_refusing(provider, option)
        if not _honours(provider, WriteOption.EXTRACTION):  # asked of the provider itself, not through `put`
            await refusal(OptionNotHonoured, provider.write(writing("key", "text", extraction="skip")))
            assert (await listed(provider)).records == ()


@check(Group.WRITE)
async def a_record_keeps_what_was_asked_about_extraction(store: Store) -> None:
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.EXTRACTION):
            return await _holds_itself_to_refusing(provider, WriteOption.EXTRACTION)
        for extraction in ("skip", "allow", None):
            written = await put(provider, writing(f"key {extraction}", "text"), WriteOptions(extraction=extraction))
            assert written.record.extraction == extraction
            assert (await listed(provider, keys=(f"key {extraction}",))).records == (written.record,)


@check(Group.WRITE)
async def asking_for_extraction_is_not_lost_on_a_text_that_is_held_already(store: Store) -> None:
    """The same text again is `unchanged` only when it asks for nothing that the record is not."""
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.EXTRACTION):
            return await _holds_itself_to_refusing(provider, WriteOption.EXTRACTION)
        await remember(provider, "key", "text")
        asked = await provider.write(writing("key", "text", at=1, extraction="skip"))
        assert (asked.status, asked.record.extraction) == ("replaced", "skip")
        again = await provider.write(writing("key", "text", at=2))
        assert (again.status, again.record) == ("unchanged", asked.record)


@check(Group.WRITE)
async def what_is_written_in_a_namespace_is_found_there_alone(store: Store) -> None:
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.NAMESPACE_SCOPE):
            return await _holds_itself_to_refusing(provider, WriteOption.NAMESPACE_SCOPE)
        acme, zenith = bound(provider, namespace=_ACME), bound(provider, namespace=_ZENITH)
        everywhere = await remember(provider, "office", "nowhere")
        here = await remember(acme, "office", "Lyon")
        there = await remember(zenith, "office", "Porto")
        assert len({record.id for record in (everywhere, here, there)}) == 3
        for within, record in ((provider, everywhere), (acme, here), (zenith, there)):
            listing = await within.list(ListRequest((ANN, BOB)))
            assert (listing.records, listing.keys) == ((record,), 1)
            assert (record.scope, record.version) == (ANN, 1)
            assert (await within.list(ListRequest((ANN,), ids=(record.id,)))).records == (record,)
        assert (await acme.list(ListRequest((ANN,), ids=(there.id, everywhere.id)))).records == ()


@check(Group.WRITE, Group.SEARCH)
async def a_search_in_a_namespace_finds_nothing_of_another(store: Store) -> None:
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.NAMESPACE_SCOPE):
            return await _holds_itself_to_refusing(provider, WriteOption.NAMESPACE_SCOPE)
        acme, zenith = bound(provider, namespace=_ACME), bound(provider, namespace=_ZENITH)
        held = await remember(acme, "office", "the xylocarp stands in Lyon")
        await remember(zenith, "garden", "the xylocarp stands in Porto")
        assert [hit.record for hit in await acme.search(question("xylocarp"))] == [held]
        assert await provider.search(question("xylocarp")) == ()


@check(Group.WRITE, Group.HISTORY)
async def versions_in_a_namespace_are_not_shown_in_another(store: Store) -> None:
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.NAMESPACE_SCOPE):
            return await _holds_itself_to_refusing(provider, WriteOption.NAMESPACE_SCOPE)
        acme, zenith = bound(provider, namespace=_ACME), bound(provider, namespace=_ZENITH)
        await remember(acme, "office", "Lyon")
        record = await remember(acme, "office", "Porto", at=1)
        refs = (VersionRef(record.id, 1), VersionRef(record.id, 2))
        assert texts(await acme.history(HistoryRequest((ANN,), record.id))) == ["Lyon", "Porto"]
        assert len(await acme.versions(VersionsRequest((ANN,), refs))) == 2
        for outside in (zenith, provider):
            assert await outside.history(HistoryRequest((ANN,), record.id)) == ()
            assert await outside.versions(VersionsRequest((ANN,), refs)) == {}


@check(Group.WRITE, Group.BROWSE)
async def pages_scopes_and_counts_in_a_namespace_are_its_own(store: Store) -> None:
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.NAMESPACE_SCOPE):
            return await _holds_itself_to_refusing(provider, WriteOption.NAMESPACE_SCOPE)
        acme, zenith = bound(provider, namespace=_ACME), bound(provider, namespace=_ZENITH)
        record = await remember(acme, "office", "Lyon")
        await remember(zenith, "office", "Porto", BOB)
        assert await acme.page(PageRequest(ANN, limit=5)) == (record,)
        assert await zenith.page(PageRequest(ANN, limit=5)) == ()
        assert (await acme.scopes(), await zenith.scopes()) == ((ANN,), (BOB,))
        stats = await acme.stats((ANN, BOB))
        assert (stats.records, [(count.scope, count.records) for count in stats.by_scope]) == (1, [(ANN, 1)])


@check(Group.WRITE, Group.CHANGES)
async def changes_in_a_namespace_are_told_there_alone(store: Store) -> None:
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.NAMESPACE_SCOPE):
            return await _holds_itself_to_refusing(provider, WriteOption.NAMESPACE_SCOPE)
        acme, zenith = bound(provider, namespace=_ACME), bound(provider, namespace=_ZENITH)
        cursor = (await acme.changes(None)).cursor
        record = await remember(acme, "office", "Lyon")
        changes = (await acme.changes(cursor)).changes
        assert {(change.scope, change.id) for change in changes} == {(ANN, record.id)}
        assert (await zenith.changes(cursor)).changes == ()


@check(Group.WRITE)
async def nothing_is_forgotten_or_pinned_from_another_namespace(store: Store) -> None:
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.NAMESPACE_SCOPE):
            return await _holds_itself_to_refusing(provider, WriteOption.NAMESPACE_SCOPE)
        acme, zenith = bound(provider, namespace=_ACME), bound(provider, namespace=_ZENITH)
        record = await remember(acme, "office", "Lyon")
        for outside in (zenith, provider):
            assert await outside.forget(ForgetRequest(ANN, record.id, by="ann", at=minute(1))) is None
            assert await outside.pin(PinRequest(ANN, record.id, pinned=True, at=minute(1))) is None
        assert (await listed(acme)).records == (record,)
        forgotten = await acme.forget(ForgetRequest(ANN, record.id, by="ann", at=minute(2)))
        assert forgotten is not None
        assert forgotten.scope == ANN


@check(Group.WRITE, Group.RESTORE, Group.BROWSE)
async def taking_in_an_id_does_not_take_it_out_of_another_namespace(store: Store) -> None:
    """Two tenants may take in the same export; the second one is refused, whole."""
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.NAMESPACE_SCOPE):
            return await _holds_itself_to_refusing(provider, WriteOption.NAMESPACE_SCOPE)
        acme, zenith = bound(provider, namespace=_ACME), bound(provider, namespace=_ZENITH)
        held, other = raw_record("id-1", "office", "Lyon"), raw_record("id-2", "tz", "UTC")
        assert await _restored(acme, held) == 1
        await refusal(InvalidInput, _restored(zenith, other, held))
        assert (await listed(acme)).records == (held,)
        assert (await listed(zenith)).records == ()
        assert await _restored(acme, raw_record("id-1", "office", "moved", BOB)) == 1
        assert (await listed(acme, ANN, BOB)).keys == 1


@check(Group.WRITE)
async def a_bound_option_goes_with_every_write_and_gives_way_to_one_that_is_asked_for(store: Store) -> None:
    async with opened(store) as provider:
        if not _honours(provider, WriteOption.EXTRACTION):
            await _holds_itself_to_refusing(provider, WriteOption.EXTRACTION)
            await refusal(OptionNotHonoured, _binding(provider))
            return
        skipping = bound(provider, extraction="skip")
        assert (await remember(skipping, "one", "text")).extraction == "skip"
        assert (await remember(skipping, "two", "text", extraction="allow")).extraction == "allow"


async def _binding(provider: MemoryProvider) -> MemoryProvider:
    return bind_write_options(provider, extraction="skip")
