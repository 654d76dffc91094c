"""What a store tells its operator, and what it does with what maintenance set aside."""

from typing import Any

from mcp_memory_server.providers.base import Filter, Group, HistoryRequest, PageRequest, ReviseRequest, SearchRequest
from mcp_memory_server.records import MemoryRecord

from .registry import check
from .samples import ANN, listed, minute, remember, texts, writing
from .store import Store, opened


@check(Group.WRITE, Group.MAINTAIN)
async def a_sound_store_has_no_fault_and_looking_changes_nothing(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "office", "Lyon")
        before = await provider.changes(None)
        condition = await provider.examine()
        assert condition.faults == ()
        assert await provider.changes(None) == before
        assert await provider.page(PageRequest(ANN, limit=9)) == (record,)


@check(Group.WRITE, Group.MAINTAIN)
async def the_condition_of_a_store_holds_no_text(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "somewhere-in-Lyon")
        assert "somewhere-in-Lyon" not in repr(await provider.examine())


@check(Group.BROWSE, Group.MAINTAIN)
async def the_last_maintenance_is_remembered(store: Store) -> None:
    async with opened(store) as provider:
        for number in (3, 5):
            await provider.record_maintenance(minute(number))
            assert (await provider.stats((ANN,))).last_maintenance == minute(number)


def _set_aside(record: MemoryRecord, at: int) -> ReviseRequest:
    aside = {"archived_at": minute(at), "archived_because": "a test"}
    return ReviseRequest(record.model_copy(update=aside), minute(at))


@check(Group.WRITE, Group.SEARCH, Group.BROWSE)
async def an_archived_record_is_left_out_of_reads_and_held_all_the_same(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "office", "Lyon")
        written = await provider.revise(_set_aside(record, 5))
        assert written is not None
        archived = written.record
        assert (archived.id, archived.version, archived.archived_because) == (record.id, 2, "a test")
        assert (await listed(provider)).records == ()
        assert await provider.search(SearchRequest((ANN,), "Lyon", 9, minute(9))) == ()
        everything = Filter(include_archived=True)
        assert (await listed(provider, filter=everything)).records == (archived,)
        (hit,) = await provider.search(SearchRequest((ANN,), "Lyon", 9, minute(9), filter=everything))
        assert hit.record == archived
        assert await provider.page(PageRequest(ANN, limit=9)) == (archived,)


@check(Group.WRITE, Group.SEARCH)
async def an_archived_record_answers_about_the_time_before(store: Store) -> None:
    """Set aside from `archived_at` on, and not earlier: with and without a time at which it says that it begins."""
    async with opened(store) as provider:
        times: dict[str, dict[str, Any]] = {
            "office": {},
            "home": {"valid_from": minute(0)},
            "trip": {"valid_to": minute(8)},
        }
        for key, fields in times.items():
            record = await remember(provider, key, f"{key} in Lyon", **fields)
            await provider.revise(_set_aside(record, 9))
        for at, expected in ((7, ["home", "office", "trip"]), (10, list[str]())):
            for then in (Filter(as_of=minute(at)), Filter(known_at=minute(at))):
                assert sorted(record.key for record in (await listed(provider, filter=then)).records) == expected
                hits = await provider.search(SearchRequest((ANN,), "Lyon", 9, minute(59), filter=then))
                assert sorted(hit.record.key for hit in hits) == expected


@check(Group.WRITE, Group.HISTORY)
async def stating_an_archived_fact_again_brings_it_back(store: Store) -> None:
    """Else the same words would be `unchanged`, and nobody would ever see them."""
    async with opened(store) as provider:
        record = await remember(provider, "office", "Lyon")
        await provider.revise(_set_aside(record, 5))
        written = await provider.write(writing("office", "Lyon", at=6))
        assert (written.status, written.record.id, written.record.version) == ("replaced", record.id, 3)
        assert (written.record.archived_at, written.record.archived_because) == (None, None)
        assert texts((await listed(provider)).records) == ["Lyon"]
        versions = await provider.history(HistoryRequest((ANN,), record.id))
        assert [version.archived_at for version in versions] == [None, minute(5), None]
