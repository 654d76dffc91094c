"""`history` and `versions`: what was replaced is kept, closed for people and as it was for a replay."""

from mcp_memory_server.providers.base import Group, HistoryRequest, PinRequest, VersionRef, VersionsRequest

from .registry import check
from .samples import ANN, EVERYONE, minute, remember, texts
from .store import Store, opened


@check(Group.WRITE, Group.HISTORY)
async def history_has_every_version_oldest_first(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "editor", "answer 0")
        for number in range(1, 5):
            record = await remember(provider, "editor", f"answer {number}", at=number)
        await remember(provider, "editor", "answer 4", at=7)
        history = await provider.history(HistoryRequest((EVERYONE, ANN), record.id))
    assert [version.version for version in history] == [1, 2, 3, 4, 5]
    assert texts(history) == [f"answer {number}" for number in range(5)]
    assert history[-1] == record


@check(Group.WRITE, Group.HISTORY)
async def a_replaced_version_is_closed_when_it_was_replaced(store: Store) -> None:
    async with opened(store) as provider:
        first = await remember(provider, "editor", "Vim", at=1, valid_from=minute(0), tags=("tools",))
        second = await remember(provider, "editor", "Emacs", at=5)
        history = await provider.history(HistoryRequest((ANN,), first.id))
    assert history == (first.model_copy(update={"superseded_by": first.id, "valid_to": minute(5)}), second)


@check(Group.WRITE, Group.HISTORY)
async def a_fact_that_had_ended_before_it_was_replaced_keeps_its_end(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "office", "Lyon", at=1, valid_to=minute(3))
        await remember(provider, "office", "Porto", at=5, valid_to=minute(9))
        await remember(provider, "office", "Turin", at=7)
        history = await provider.history(HistoryRequest((ANN,), record.id))
    assert [version.valid_to for version in history] == [minute(3), minute(7), None]


@check(Group.WRITE, Group.HISTORY)
async def a_pin_is_no_version(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "editor", "Vim")
        pinned = await provider.pin(PinRequest(ANN, record.id, pinned=True, at=minute(1)))
        assert await provider.history(HistoryRequest((ANN,), record.id)) == (pinned,)


@check(Group.HISTORY)
async def an_unknown_id_has_no_history(store: Store) -> None:
    async with opened(store) as provider:
        assert await provider.history(HistoryRequest((ANN,), "no-such-id")) == ()
        assert await provider.versions(VersionsRequest((ANN,), (VersionRef("no-such-id", 1),))) == {}
        assert await provider.versions(VersionsRequest((ANN,), ())) == {}


@check(Group.WRITE, Group.HISTORY)
async def versions_are_handed_over_as_they_were_when_current(store: Store) -> None:
    async with opened(store) as provider:
        first = await remember(provider, "editor", "Vim", at=1)
        second = await remember(provider, "editor", "Emacs", at=2)
        other = await remember(provider, "office", "Lyon", EVERYONE)
        refs = tuple(VersionRef(id, version) for id in (first.id, other.id) for version in (1, 2, 3))
        versions = await provider.versions(VersionsRequest((ANN, EVERYONE), (*refs, *refs)))
    assert versions == {refs[0]: first, refs[1]: second, refs[3]: other}


@check(Group.WRITE, Group.HISTORY)
async def thousands_of_versions_can_be_asked_for(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "editor", "Vim")
        refs = tuple(VersionRef(record.id, version) for version in range(20_000))
        assert await provider.versions(VersionsRequest((ANN,), refs)) == {VersionRef(record.id, 1): record}
