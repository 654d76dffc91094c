"""`settle`: what waits becomes the fact of its key, or goes for good."""

from typing import Any

from mcp_memory_server.errors import Conflict, InvalidInput
from mcp_memory_server.providers.base import Group, HistoryRequest, PinRequest, RestoreRequest, SettleRequest
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

from .refusals import refusal
from .registry import check
from .samples import ANN, EVERYONE, HALF_PAIR, listed, minute, question, raw_record, remember, texts
from .store import EveryGroup, Store, opened

_BOTH = ("active", "quarantined")
_BY_BOB = MemoryOrigin(author="human", actor_ref="bob")
_SECRET_WORDS = ("xylocarp", "quinquefoliate")


def _approving(record: MemoryRecord, at: int = 30, **fields: Any) -> SettleRequest:
    return SettleRequest(record.scope, record.id, "approve", minute(at), "bob", **fields)


def _rejecting(record: MemoryRecord, at: int = 30) -> SettleRequest:
    return SettleRequest(record.scope, record.id, "reject", minute(at), "bob")


async def _waiting(provider: EveryGroup, text: str = "Porto", at: int = 1, **fields: Any) -> MemoryRecord:
    held = {"status": "quarantined", "held_because": "a test", "provenance": "extraction", **fields}
    return await remember(provider, "office", text, at=at, **held)


@check(Group.WRITE, Group.REVIEW)
async def what_is_approved_is_the_active_fact_of_its_key(store: Store) -> None:
    async with opened(store) as provider:
        waiting = await _waiting(provider, tags=("work",), confidence=0.5)
        pinned = await provider.pin(PinRequest(ANN, waiting.id, pinned=True, at=minute(2)))
        settled = await provider.settle(_approving(waiting))
        assert settled is not None
        assert pinned is not None
        wanted = pinned.model_copy(update={"status": "active", "held_because": None, "updated_at": minute(30)})
        assert (settled.record, settled.previous, settled.erasure) == (wanted, None, "done")
        assert (await listed(provider, statuses=_BOTH)).records == (wanted,)
        assert (await listed(provider)).records == (wanted,)


@check(Group.WRITE, Group.REVIEW, Group.HISTORY)
async def what_is_approved_over_an_active_fact_replaces_it_as_a_write_would(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "office", "Lyon")
        await provider.pin(PinRequest(ANN, active.id, pinned=True, at=minute(1)))
        waiting = await _waiting(provider)
        settled = await provider.settle(_approving(waiting))
        assert settled is not None
        assert settled.record is not None
        record = settled.record
        assert (record.id, record.version, record.pinned, record.text) == (active.id, 2, True, "Porto")
        assert (record.created_at, record.updated_at, record.status) == (minute(0), minute(30), "active")
        assert settled.previous == active.model_copy(update={"pinned": True})
        assert (await listed(provider, statuses=_BOTH)).records == (record,)
        history = await provider.history(HistoryRequest((ANN,), active.id))
        assert [(version.text, version.valid_to) for version in history] == [("Lyon", minute(30)), ("Porto", None)]
        assert await provider.history(HistoryRequest((ANN,), waiting.id)) == ()


@check(Group.WRITE, Group.REVIEW)
async def approving_what_holds_already_leaves_it_as_it_is(store: Store) -> None:
    async with opened(store) as provider:
        waiting = await _waiting(provider)
        active = await remember(provider, "office", "Porto", at=2)
        settled = await provider.settle(_approving(waiting))
        assert settled is not None
        assert (settled.record, settled.previous) == (active, None)
        assert (await listed(provider, statuses=_BOTH)).records == (active,)


@check(Group.WRITE, Group.REVIEW)
async def an_approval_can_say_whose_word_it_is_and_put_it_otherwise(store: Store) -> None:
    async with opened(store) as provider:
        waiting = await _waiting(provider)
        words = _approving(waiting, text="Porto, from May", origin=_BY_BOB, provenance="user")
        settled = await provider.settle(words)
        assert settled is not None
        assert settled.record is not None
        record = settled.record
        assert (record.id, record.text, record.origin, record.provenance) == (
            waiting.id, "Porto, from May", _BY_BOB, "user",
        )  # fmt: skip
        assert (await listed(provider)).records == (record,)


@check(Group.WRITE, Group.REVIEW, Group.SEARCH)
async def only_what_was_approved_is_found(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "Lyon")
        first, second, third = [
            await _waiting(provider, text, at) for at, text in enumerate(("Porto", "Turin", "Graz"))
        ]
        assert await provider.search(question("porto turin graz")) == ()
        await provider.settle(_approving(first))
        await provider.settle(_rejecting(second))
        assert texts(tuple(hit.record for hit in await provider.search(question("porto turin graz")))) == ["Porto"]
        assert await provider.search(question("lyon")) == ()
        await provider.settle(_approving(third, text="Basel"))
        assert texts(tuple(hit.record for hit in await provider.search(question("porto graz basel")))) == ["Basel"]


@check(Group.WRITE, Group.REVIEW, Group.BROWSE)
async def what_is_rejected_is_gone_and_the_active_fact_stands(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "office", "Lyon")
        waiting = await _waiting(provider)
        settled = await provider.settle(_rejecting(waiting))
        assert settled is not None
        assert (settled.record, settled.previous, settled.erasure) == (None, None, "done")
        assert (await listed(provider, statuses=_BOTH)).records == (active,)
        assert (await provider.stats((ANN,))).records == 1
        assert await provider.settle(_rejecting(waiting)) is None


@check(Group.WRITE, Group.REVIEW)
async def only_what_waits_at_the_scope_named_is_settled(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "pet", "a cat")
        waiting = await _waiting(provider)
        for scope, id in ((ANN, active.id), (EVERYONE, waiting.id), (ANN, "no-such-id"), (ANN, HALF_PAIR)):
            for decision in ("approve", "reject"):
                assert await provider.settle(SettleRequest(scope, id, decision, minute(3), "bob")) is None
        assert (await listed(provider, statuses=_BOTH)).records == (waiting, active)


@check(Group.WRITE, Group.REVIEW)
async def an_approval_over_another_version_is_a_conflict_and_settles_nothing(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "office", "Lyon")
        waiting = await _waiting(provider)
        for version in (0, 2):
            conflict = await refusal(Conflict, provider.settle(_approving(waiting, if_version=version)))
            assert (conflict.current_version, conflict.current_text) == (1, "Lyon")
        await refusal(InvalidInput, provider.settle(_approving(waiting, text=HALF_PAIR)))
        assert (await listed(provider, statuses=_BOTH)).records == (waiting, active)
        assert await provider.settle(_approving(waiting, if_version=1)) is not None


@check(Group.WRITE, Group.REVIEW, Group.RESTORE, Group.HISTORY)
async def an_imported_fact_keeps_its_times_and_history_when_nothing_stood_in_its_place(store: Store) -> None:
    held = {"status": "quarantined", "provenance": "imported", "held_because": "a foreign file"}
    versions = tuple(raw_record("id-1", "office", f"answer {n}", at=n, version=n, **held) for n in (1, 2))
    async with opened(store) as provider:
        await provider.restore(RestoreRequest((versions,), at=minute(20)))
        settled = await provider.settle(_approving(versions[-1]))
        assert settled is not None
        assert settled.record == versions[-1].model_copy(update={"status": "active", "held_because": None})
        history = await provider.history(HistoryRequest((ANN,), "id-1"))
        assert texts(history) == ["answer 1", "answer 2"]


@check(Group.WRITE, Group.REVIEW)
async def what_was_approved_for_a_thread_stands_beside_the_fact_for_everywhere(store: Store) -> None:
    in_thread = MemoryOrigin(author="agent", thread_id="t1")
    async with opened(store) as provider:
        everywhere = await remember(provider, "office", "Lyon")
        await remember(provider, "office", "Graz", kind="session", origin=in_thread)
        waiting = await _waiting(provider, kind="session", origin=in_thread)
        settled = await provider.settle(_approving(waiting))
        assert settled is not None
        assert settled.record is not None
        assert settled.record.version == 2
        assert (await listed(provider, statuses=_BOTH)).records == (settled.record, everywhere)


@check(Group.WRITE, Group.REVIEW, Group.CHANGES)
async def settling_is_reported_for_every_record_that_changed(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "office", "Lyon")
        waiting = await _waiting(provider)
        rejected = await _waiting(provider, "Turin")
        cursor = (await provider.changes(None)).cursor
        await provider.settle(_approving(waiting))
        await provider.settle(_rejecting(rejected))
        changed = {change.id for change in (await provider.changes(cursor)).changes}
        assert changed == {active.id, waiting.id, rejected.id}


@check(Group.WRITE, Group.REVIEW)
async def no_file_holds_the_bytes_of_what_was_rejected_or_edited_away(store: Store) -> None:
    async with opened(store) as provider:
        for number in range(200):
            await remember(provider, f"neighbour {number}", f"ordinary fact number {number}", at=number // 10)
        await remember(provider, "office", "Lyon")
        rejected = await _waiting(provider, f"xylocarp {'and padding ' * 300}")
        edited = await _waiting(provider, "quinquefoliate")
        for request in (_rejecting(rejected), _approving(edited, text="Porto")):
            settled = await provider.settle(request)
            assert settled is not None
            assert settled.erasure == "done"
        held = [path.read_bytes() for path in store.files()]
        assert not [word for word in _SECRET_WORDS if any(word.encode() in content for content in held)]
