"""Several records of one key at one scope: what waits for review, and what holds for one thread, replace nothing."""

from mcp_memory_server.errors import Conflict
from mcp_memory_server.providers.base import Group, HistoryRequest, PageRequest, PinRequest, RestoreRequest
from mcp_memory_server.records import MemoryOrigin

from .refusals import refusal
from .registry import check
from .samples import ANN, EVERYONE, erasing, listed, minute, question, raw_record, remember, texts, writing
from .store import Store, opened

_MALLORY = MemoryOrigin(author="agent", actor_ref="mallory")
_BOTH = ("active", "quarantined")


def _in_thread(thread: str | None) -> MemoryOrigin:
    return MemoryOrigin(author="agent", thread_id=thread)


@check(Group.WRITE)
async def a_quarantined_write_leaves_the_active_fact_as_it_is(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "office", "Lyon")
        for number, text in enumerate(("Porto", "Turin"), start=1):
            written = await provider.write(writing("office", text, at=number, status="quarantined"))
            assert (written.status, written.previous, written.record.version) == ("stored", None, 1)
            assert written.record.id != active.id
        assert (await listed(provider)).records == (active,)
        assert texts((await listed(provider, statuses=("quarantined",))).records) == ["Turin", "Porto"]


@check(Group.WRITE, Group.SEARCH, Group.HISTORY)
async def a_quarantined_write_over_an_active_key_is_neither_found_nor_history(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "office", "Lyon")
        waiting = await remember(provider, "office", "Porto", at=1, status="quarantined")
        assert [hit.record for hit in await provider.search(question("office"))] == [active]
        assert await provider.search(question("porto")) == ()
        assert await provider.history(HistoryRequest((ANN,), active.id)) == (active,)
        assert await provider.history(HistoryRequest((ANN,), waiting.id)) == (waiting,)


@check(Group.WRITE)
async def an_active_write_leaves_what_waits_under_its_key(store: Store) -> None:
    async with opened(store) as provider:
        waiting = await remember(provider, "office", "Porto", status="quarantined")
        written = await provider.write(writing("office", "Porto", at=1))
        assert (written.status, written.previous, written.record.version) == ("stored", None, 1)
        await remember(provider, "office", "Lyon", at=2)
        assert (await listed(provider, statuses=("quarantined",))).records == (waiting,)
        await provider.forget(erasing((await listed(provider)).records[0]))
        assert (await listed(provider, statuses=_BOTH)).records == (waiting,)


@check(Group.WRITE)
async def what_waits_already_or_holds_already_does_not_wait_twice(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "office", "Lyon")
        waiting = await remember(provider, "office", "Porto", at=1, status="quarantined", origin=_MALLORY)
        for text, held in (("Porto", waiting), ("Lyon", active)):
            again = await provider.write(writing("office", text, at=2, status="quarantined", origin=_MALLORY))
            assert (again.status, again.record) == ("unchanged", held)
        somebody_else = await provider.write(writing("office", "Porto", at=2, status="quarantined"))
        assert somebody_else.status == "stored"
        assert len((await listed(provider, statuses=("quarantined",))).records) == 2


@check(Group.WRITE)
async def the_version_that_a_quarantined_write_names_is_the_active_fact_s(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "Lyon")
        await remember(provider, "office", "Lyon again", at=1)
        late = writing("office", "Porto", at=2, status="quarantined", if_version=1)
        conflict = await refusal(Conflict, provider.write(late))
        assert (conflict.current_version, conflict.current_text) == (2, "Lyon again")
        in_time = writing("office", "Porto", at=2, status="quarantined", if_version=2)
        assert (await provider.write(in_time)).status == "stored"
        assert (await provider.write(writing("pet", "a cat", status="quarantined", if_version=0))).status == "stored"


@check(Group.WRITE)
async def each_thread_has_its_own_answer_beside_the_one_that_holds_everywhere(store: Store) -> None:
    async with opened(store) as provider:
        everywhere = await remember(provider, "tone", "brief", origin=_in_thread("t1"))
        for thread in ("t1", "t2", None):
            origin = _in_thread(thread)
            first = await provider.write(writing("tone", f"for {thread}", at=1, kind="session", origin=origin))
            again = await provider.write(writing("tone", f"now for {thread}", at=2, kind="session", origin=origin))
            assert (first.status, again.status, again.record.version) == ("stored", "replaced", 2)
            assert again.record.id == first.record.id
        replaced = await provider.write(writing("tone", "long", at=3, origin=_in_thread("t2")))
        assert (replaced.status, replaced.previous) == ("replaced", everywhere)
        records = (await listed(provider)).records
        assert sorted(texts(records)) == ["long", "now for None", "now for t1", "now for t2"]


@check(Group.WRITE)
async def several_records_of_a_key_count_as_one_key_and_stand_newest_first(store: Store) -> None:
    async with opened(store) as provider:
        for scope in (ANN, EVERYONE):
            for number, thread in enumerate(("t1", "t2", "t3")):
                origin = _in_thread(thread)
                await remember(provider, "tone", f"{scope} {thread}", scope, number, kind="session", origin=origin)
            await remember(provider, "tone", f"{scope} waits", scope, 9, status="quarantined")
        await remember(provider, "pet", "a cat", at=1)
        await remember(provider, "car", "none", EVERYONE)
        for limit in (None, 3, 9):
            listing = await listed(provider, ANN, EVERYONE, limit=limit)
            assert (listing.keys, listing.pinned_keys) == (3, 0)
            told = [f"{scope} {thread}" for scope in (ANN, EVERYONE) for thread in ("t3", "t2", "t1")]
            assert texts(listing.records) == [*told, "a cat", "none"]
            assert (await listed(provider, ANN, EVERYONE, limit=limit, statuses=_BOTH)).keys == 3
        assert (await listed(provider, ANN, EVERYONE, limit=1)).keys == 3
        assert (await listed(provider, EVERYONE, limit=1)).keys == 2
        assert (await listed(provider, limit=1, statuses=("quarantined",))).keys == 1


@check(Group.WRITE)
async def each_record_of_a_key_is_pinned_and_forgotten_by_itself(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "office", "Lyon")
        first = await remember(provider, "office", "Porto", at=1, status="quarantined")
        second = await remember(provider, "office", "Turin", at=2, status="quarantined")
        pinned = await provider.pin(PinRequest(ANN, second.id, pinned=True, at=minute(3)))
        forgotten = await provider.forget(erasing(first))
        assert forgotten is not None
        assert (forgotten.id, forgotten.key) == (first.id, "office")
        assert (await listed(provider, statuses=_BOTH)).records == (pinned, active)
        assert (await listed(provider)).pinned_keys == 0


@check(Group.WRITE, Group.BROWSE)
async def every_record_of_a_key_is_counted(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "Lyon")
        await remember(provider, "office", "Brno", at=1)
        waiting = await remember(provider, "office", "Porto", at=2, status="quarantined")
        await remember(provider, "office", "Turin", at=3, kind="session", origin=_in_thread("t1"))
        stats = await provider.stats((ANN,))
        assert (stats.records, stats.versions, stats.by_scope[0].records) == (3, 4, 3)
        assert dict(stats.by_status) == {"active": 2, "quarantined": 1}
        await provider.forget(erasing(waiting))
        assert len(await provider.page(PageRequest(ANN, limit=9))) == 2


@check(Group.WRITE, Group.RESTORE)
async def what_is_taken_in_replaces_only_what_stands_in_its_lane(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "office", "Lyon")
        waiting = await remember(provider, "office", "Porto", at=1, status="quarantined")
        for_thread = await remember(provider, "office", "Turin", at=2, kind="session", origin=_in_thread("t1"))
        more = raw_record("id-1", "office", "Brno", at=3, status="quarantined")
        thread_s = raw_record("id-2", "office", "Graz", at=4, kind="session", origin=_in_thread("t1"))
        assert await provider.restore(RestoreRequest(((more,), (thread_s,)), at=minute(30))) == 2
        assert (await listed(provider, statuses=_BOTH)).records == (thread_s, more, waiting, active)
        assert (await listed(provider, ids=(for_thread.id,))).records == ()
        released = more.model_copy(update={"status": "active"})
        assert await provider.restore(RestoreRequest(((released,),), at=minute(30))) == 1
        assert (await listed(provider, statuses=_BOTH)).records == (thread_s, released, waiting)
