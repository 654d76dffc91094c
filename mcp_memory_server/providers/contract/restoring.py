"""`restore`: records as they are, all of them or none."""

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import (
    Group,
    HistoryRequest,
    ListRequest,
    RestoreRequest,
    VersionRef,
    VersionsRequest,
)
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

from .refusals import refusal
from .registry import check
from .samples import ANN, EVERYONE, listed, minute, question, raw_record, remember, texts
from .store import EveryGroup, Store, opened


def _restoring(*records: tuple[MemoryRecord, ...]) -> RestoreRequest:
    return RestoreRequest(records, at=minute(30))


@check(Group.WRITE, Group.RESTORE)
async def every_field_is_taken_in_as_it_is(store: Store) -> None:
    record = raw_record(
        "an id of another system",
        "office",
        "Lyon",
        at=5,
        version=7,
        pinned=True,
        created_at=minute(1),
        kind="episodic",
        provenance="imported",
        status="quarantined",
        owner="agent",
        sensitivity="public",
        tags=("a", "b"),
        importance=0.0,
        confidence=0.5,
        valid_from=minute(0),
        valid_to=minute(9),
        supersedes="an older id",
        superseded_by="a newer id",
        subject="ann",
        predicate="works in",
        object="Lyon",
        extraction="allow",
        origin=MemoryOrigin(author="human", thread_id="th", run_id="rn", actor_ref="ref"),
    )
    async with opened(store) as provider:
        assert await provider.restore(_restoring((record,))) == 1
        assert (await provider.list(ListRequest((ANN,), statuses=("quarantined",)))).records == (record,)


@check(Group.WRITE, Group.RESTORE, Group.HISTORY)
async def history_comes_along(store: Store) -> None:
    versions = tuple(raw_record("id-1", "office", f"answer {n}", at=n, version=n + 2) for n in range(3))
    async with opened(store) as provider:
        await provider.restore(_restoring(versions))
        history = await provider.history(HistoryRequest((ANN,), "id-1"))
        assert texts(history) == ["answer 0", "answer 1", "answer 2"]
        assert [version.valid_to for version in history] == [minute(1), minute(2), None]
        refs = tuple(VersionRef("id-1", number) for number in range(6))
        held = await provider.versions(VersionsRequest((ANN,), refs))
        assert held == {VersionRef("id-1", version.version): version for version in versions}


@check(Group.WRITE, Group.RESTORE, Group.HISTORY)
async def a_history_that_was_read_out_can_be_taken_in_again(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "office", "Lyon")
        await remember(provider, "office", "Porto", at=1)
        await remember(provider, "office", "Turin", at=2)
        history = await provider.history(HistoryRequest((ANN,), record.id))
        await provider.restore(_restoring(history))
        assert await provider.history(HistoryRequest((ANN,), record.id)) == history
        assert await provider.restore(_restoring(history)) == 0


@check(Group.WRITE, Group.RESTORE)
async def what_is_held_already_is_not_counted(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "office", "Lyon")
        new = raw_record("id-1", "editor", "Vim")
        assert await provider.restore(_restoring((record,))) == 0
        assert await provider.restore(_restoring((record,), (new,))) == 1
        assert await provider.restore(_restoring((new.model_copy(update={"pinned": True}),), (record,))) == 1
        assert await provider.restore(_restoring()) == 0


@check(Group.WRITE, Group.RESTORE, Group.HISTORY)
async def a_record_of_the_same_key_is_replaced_with_its_history(store: Store) -> None:
    async with opened(store) as provider:
        beaten = await remember(provider, "office", "Lyon")
        await remember(provider, "office", "Porto", at=1)
        taken = raw_record("id-1", "office", "Turin", version=5)
        assert await provider.restore(_restoring((taken,))) == 1
        assert (await listed(provider)).records == (taken,)
        assert await provider.history(HistoryRequest((ANN,), beaten.id)) == ()
        assert await provider.history(HistoryRequest((ANN,), "id-1")) == (taken,)


@check(Group.WRITE, Group.RESTORE, Group.HISTORY)
async def a_record_of_the_same_id_is_replaced_wherever_it_was(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "bystander", EVERYONE)
        held = await remember(provider, "office", "Lyon")
        await remember(provider, "office", "Porto", at=1)
        taken = raw_record(held.id, "city", "Turin", EVERYONE)
        assert await provider.restore(_restoring((taken,))) == 1
        assert texts((await listed(provider, ANN, EVERYONE)).records) == ["Turin", "bystander"]
        assert await provider.history(HistoryRequest((ANN, EVERYONE), held.id)) == (taken,)


@check(Group.WRITE, Group.RESTORE)
async def an_id_and_a_key_that_are_held_by_two_records_replace_both(store: Store) -> None:
    async with opened(store) as provider:
        first = await remember(provider, "office", "Lyon")
        await remember(provider, "city", "Porto")
        taken = raw_record(first.id, "city", "Turin")
        await provider.restore(_restoring((taken,)))
        assert (await listed(provider)).records == (taken,)


@check(Group.WRITE, Group.RESTORE, Group.HISTORY)
async def a_version_is_as_high_as_any_that_json_can_say(store: Store) -> None:
    highest = 2**53 - 1
    versions = tuple(raw_record("id-1", "office", f"answer {n}", at=n, version=highest - 2 + n) for n in range(2))
    async with opened(store) as provider:
        assert await provider.restore(_restoring(versions)) == 1
        replaced = await remember(provider, "office", "Porto", at=2)
        assert replaced.version == highest
        history = await provider.history(HistoryRequest((ANN,), "id-1"))
        assert [version.version for version in history] == [highest - 2, highest - 1, highest]


@check(Group.WRITE, Group.RESTORE)
async def writing_goes_on_from_the_restored_version(store: Store) -> None:
    async with opened(store) as provider:
        taken = raw_record("id-1", "office", "Turin", version=5, pinned=True)
        await provider.restore(_restoring((taken,)))
        record = await remember(provider, "office", "Lyon", at=40, if_version=5)
    assert (record.id, record.version, record.pinned, record.created_at) == ("id-1", 6, True, minute(0))


async def _assert_refused_whole(provider: EveryGroup, *records: tuple[MemoryRecord, ...]) -> None:
    before = await listed(provider, ANN, EVERYONE)
    await refusal(InvalidInput, provider.restore(_restoring(*records)))
    assert await listed(provider, ANN, EVERYONE) == before


@check(Group.WRITE, Group.RESTORE)
async def one_wrong_record_and_nothing_is_taken_in(store: Store) -> None:
    good = raw_record("id-1", "office", "Turin")
    second = raw_record("id-2", "city", "Turin", version=2)
    async with opened(store) as provider:
        await remember(provider, "office", "Lyon")
        await _assert_refused_whole(provider, (good,), ())
        await _assert_refused_whole(provider, (good,), (second, second))
        await _assert_refused_whole(provider, (good,), (second, second.model_copy(update={"version": 1})))
        for field, value in (("id", "id-3"), ("scope", EVERYONE), ("key", "town")):
            other = second.model_copy(update={field: value, "version": 3})
            await _assert_refused_whole(provider, (good,), (second, other))


@check(Group.WRITE, Group.RESTORE)
async def thousands_of_records_are_taken_in_at_once(store: Store) -> None:
    records = tuple((raw_record(f"id-{n}", f"key {n:04}", f"text {n}"),) for n in range(3_000))
    async with opened(store) as provider:
        assert await provider.restore(_restoring(*records)) == 3_000
        listing = await listed(provider, limit=2)
        assert (listing.keys, texts(listing.records)) == (3_000, ["text 0", "text 1"])


@check(Group.WRITE, Group.RESTORE, Group.SEARCH)
async def what_was_restored_is_found_and_what_it_replaced_is_not(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "xylocarp")
        await provider.restore(_restoring((raw_record("id-1", "office", "quinquefoliate"),)))
        assert await provider.search(question("xylocarp")) == ()
        assert [hit.record.id for hit in await provider.search(question("quinquefoliate"))] == ["id-1"]
