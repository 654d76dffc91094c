"""`write` and `pin`: stored, replaced, unchanged, or a conflict."""

from typing import Any

from mcp_memory_server.errors import Conflict
from mcp_memory_server.providers.base import Group, PinRequest

from .refusals import refusal
from .registry import check
from .samples import ANN, EVERYONE, listed, minute, remember, texts, writing
from .store import Store, opened


@check(Group.WRITE)
async def a_new_key_is_stored_as_version_one(store: Store) -> None:
    async with opened(store) as provider:
        written = await provider.write(writing("editor", "Uses Vim", at=5))
    record = written.record
    assert (written.status, written.previous) == ("stored", None)
    assert record.id
    assert (record.version, record.pinned) == (1, False)
    assert (record.created_at, record.updated_at) == (minute(5), minute(5))
    assert (record.supersedes, record.superseded_by) == (None, None)


@check(Group.WRITE)
async def ids_are_unique_and_rise_with_time(store: Store) -> None:
    async with opened(store) as provider:
        ids = [(await remember(provider, f"key {number}", "text")).id for number in range(50)]
    assert ids == sorted(set(ids))


@check(Group.WRITE)
async def the_same_text_tags_and_validity_again_write_nothing(store: Store) -> None:
    async with opened(store) as provider:
        first = await remember(provider, "editor", "Uses Vim", tags=("tools",), valid_from=minute(1))
        again = await provider.write(
            writing("editor", "Uses Vim", at=5, tags=("tools",), valid_from=minute(1), importance=0.9)
        )
        assert (again.status, again.record, again.previous) == ("unchanged", first, None)
        assert (await listed(provider)).records == (first,)


@check(Group.WRITE)
async def another_text_replaces_the_fact_and_keeps_what_it_is_known_by(store: Store) -> None:
    async with opened(store) as provider:
        first = await remember(provider, "editor", "Uses Vim", at=1)
        written = await provider.write(writing("editor", "Uses Emacs", at=5))
        assert (written.status, written.previous) == ("replaced", first)
        record = written.record
        assert (record.id, record.created_at, record.updated_at) == (first.id, minute(1), minute(5))
        assert (record.version, record.text) == (2, "Uses Emacs")
        assert (await listed(provider)).records == (record,)


@check(Group.WRITE)
async def other_tags_or_another_validity_replace_the_fact_too(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "editor", "Uses Vim")
        others: list[dict[str, Any]] = [{"tags": ("a",)}, {"valid_from": minute(1)}, {"valid_to": minute(2)}, {}]
        for version, fields in enumerate(others, start=2):
            written = await provider.write(writing("editor", "Uses Vim", at=version, **fields))
            assert (written.status, written.record.version) == ("replaced", version)
            assert written.record.tags == fields.get("tags", ())


@check(Group.WRITE)
async def a_pin_survives_being_replaced(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "editor", "Uses Vim")
        await provider.pin(PinRequest(ANN, record.id, pinned=True, at=minute(1)))
        replaced = await remember(provider, "editor", "Uses Emacs", at=2)
        listing = await listed(provider)
    assert replaced.pinned
    assert (listing.records, listing.pinned_keys) == ((replaced,), 1)


@check(Group.WRITE)
async def one_key_at_two_scopes_is_two_records(store: Store) -> None:
    async with opened(store) as provider:
        wide = await remember(provider, "editor", "Vim", EVERYONE)
        narrow = await remember(provider, "editor", "Emacs", ANN)
        await remember(provider, "editor", "Nano", ANN, at=1)
        assert narrow.id != wide.id
        assert texts((await listed(provider, ANN, EVERYONE)).records) == ["Nano", "Vim"]


@check(Group.WRITE)
async def keys_differ_by_case_accent_and_normal_form(store: Store) -> None:
    keys = ("editor", "Editor", "éditeur", "editeur", "e\u0301diteur", "STRASSE", "straße", "editor ")
    async with opened(store) as provider:
        for key in keys:
            await remember(provider, key, f"held under {key!r}")
        for key in keys:
            assert texts((await listed(provider, keys=(key,))).records) == [f"held under {key!r}"]


@check(Group.WRITE)
async def a_write_that_names_the_current_version_replaces_it(store: Store) -> None:
    async with opened(store) as provider:
        assert (await provider.write(writing("editor", "Vim", if_version=0))).status == "stored"
        assert (await provider.write(writing("editor", "Emacs", if_version=1))).status == "replaced"
        assert (await provider.write(writing("editor", "Emacs", if_version=2))).status == "unchanged"


@check(Group.WRITE)
async def a_write_that_names_another_version_is_a_conflict_and_writes_nothing(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "editor", "Vim")
        record = await remember(provider, "editor", "Emacs", at=1)
        for text, expected in (("Nano", 0), ("Nano", 1), ("Nano", 3), ("Emacs", 1)):
            conflict = await refusal(Conflict, provider.write(writing("editor", text, at=2, if_version=expected)))
            assert (conflict.expected, conflict.current_version, conflict.current_text) == (expected, 2, "Emacs")
            assert "Emacs" not in str(conflict)
        assert (await listed(provider)).records == (record,)


@check(Group.WRITE)
async def a_write_over_a_version_of_nothing_is_a_conflict(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "editor", "Vim", EVERYONE)
        conflict = await refusal(Conflict, provider.write(writing("editor", "Emacs", if_version=1)))
        assert (conflict.current_version, conflict.current_text) == (0, None)
        assert (await listed(provider, ANN)).records == ()


@check(Group.WRITE)
async def a_pin_is_set_and_cleared_without_a_new_version(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "editor", "Vim", at=1)
        for pinned in (True, True, False, False):
            answer = await provider.pin(PinRequest(ANN, record.id, pinned=pinned, at=minute(9)))
            assert answer == record.model_copy(update={"pinned": pinned})
            assert (await listed(provider)).records == (answer,)


@check(Group.WRITE)
async def nothing_is_pinned_under_an_unknown_id(store: Store) -> None:
    async with opened(store) as provider:
        assert await provider.pin(PinRequest(ANN, "no-such-id", pinned=True, at=minute(0))) is None
