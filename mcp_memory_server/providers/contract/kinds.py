"""Kinds: what each adds is kept whole and erased whole, working blocks come along, and `revise` counts."""

from typing import Any, Final

from mcp_memory_server.errors import Conflict, InvalidInput
from mcp_memory_server.providers.base import (
    Group,
    HistoryRequest,
    PinRequest,
    ReviseRequest,
    SettleRequest,
    VersionRef,
    VersionsRequest,
)
from mcp_memory_server.records import Episode, Insight, MemoryOrigin, Rule, WorkingBlock

from .refusals import refusal
from .registry import check
from .samples import ANN, EVERYONE, HALF_PAIR, erasing, listed, minute, question, remember, texts, writing
from .store import Store, opened

_BOTH: Final = ("active", "quarantined")
_BLOCK: Final = WorkingBlock(value="one\n  two\n\nthree", char_limit=99, read_only=True)
_RULE: Final = Rule(
    condition="a release is due",
    steps=("Run checks", "Tag {version}"),
    priority=-3,
    success_criteria="it is out",
    success_count=2,
    failure_count=1,
    succeeded_in=("thread a", "thread b"),
)
_PARTS: Final[tuple[dict[str, Any], ...]] = (
    {"kind": "working", "working": _BLOCK},
    {"kind": "procedural", "rule": _RULE},
    {"kind": "episodic", "episode": Episode(started_at=minute(0), ended_at=minute(9))},
    {"kind": "insight", "insight": Insight(cites=("a", "b"), salience=-1), "derived_from": ("a", "b")},
    {"kind": "session", "origin": MemoryOrigin(author="agent", thread_id="here")},
    {"kind": "shared", "owner": "shared"},
)


@check(Group.WRITE)
async def what_a_kind_adds_comes_back_as_it_was_given(store: Store) -> None:
    async with opened(store) as provider:
        for number, parts in enumerate(_PARTS):
            record = await remember(provider, f"key {number}", "text", **parts)
            assert {name: getattr(record, name) for name in parts} == parts
            assert (await listed(provider, ids=(record.id,))).records == (record,)


@check(Group.WRITE, Group.HISTORY)
async def another_part_of_a_kind_is_another_statement(store: Store) -> None:
    async with opened(store) as provider:
        first = await remember(provider, "plan", "text", kind="working", working=_BLOCK)
        assert (await provider.write(writing("plan", "text", at=1, kind="working", working=_BLOCK))).record == first
        other = _BLOCK.model_copy(update={"read_only": False})
        written = await provider.write(writing("plan", "text", at=2, kind="working", working=other))
        assert (written.status, written.record.version, written.previous) == ("replaced", 2, first)
        ref = VersionRef(first.id, 1)
        assert await provider.versions(VersionsRequest((ANN,), (ref,))) == {ref: first}


@check(Group.WRITE)
async def a_kind_does_not_replace_another(store: Store) -> None:
    """A slip of the key must not turn a block into a fact; a note of one thread stands apart anyway."""
    async with opened(store) as provider:
        block = await remember(provider, "plan", "text", kind="working", working=_BLOCK)
        for status in _BOTH:
            refused = await refusal(InvalidInput, provider.write(writing("plan", "a fact", at=1, status=status)))
            assert "of the kind working, which one of the kind semantic does not replace" in str(refused)
        note = await remember(provider, "plan", "a note", at=1, kind="session")
        held = (await listed(provider, statuses=_BOTH)).records
        assert {record.id for record in held} == {block.id, note.id}


@check(Group.WRITE, Group.REVIEW)
async def a_kind_is_not_approved_over_another(store: Store) -> None:
    async with opened(store) as provider:
        waiting = await remember(provider, "plan", "text", status="quarantined", kind="procedural", rule=_RULE)
        fact = await remember(provider, "plan", "a fact", at=1)
        approval = SettleRequest(ANN, waiting.id, "approve", minute(2), "bob")
        await refusal(InvalidInput, provider.settle(approval))
        assert {record.id for record in (await listed(provider, statuses=_BOTH)).records} == {waiting.id, fact.id}


@check(Group.WRITE, Group.REVIEW)
async def the_text_of_a_rule_or_a_block_is_not_edited_apart_from_its_parts(store: Store) -> None:
    async with opened(store) as provider:
        waiting = await remember(provider, "plan", "text", status="quarantined", kind="procedural", rule=_RULE)
        edit = SettleRequest(ANN, waiting.id, "approve", minute(2), "bob", text="another")
        assert "follows from its parts" in str(await refusal(InvalidInput, provider.settle(edit)))
        assert (await listed(provider, statuses=_BOTH)).records == (waiting,)


@check(Group.WRITE, Group.REVIEW)
async def an_edit_that_waited_while_its_block_was_changed_is_not_approved_over_it(store: Store) -> None:
    """Approving it would undo what was added meanwhile; as long as the block is as it was, it can be."""
    async with opened(store) as provider:
        await remember(provider, "plan", "text", kind="working", working=_BLOCK)
        edit = WorkingBlock(value="edit", char_limit=99)
        waiting = await remember(provider, "plan", "edit", at=1, status="quarantined", kind="working", working=edit)
        changed = await remember(provider, "plan", "later", at=2, kind="working", working=_BLOCK)
        refused = await refusal(
            InvalidInput, provider.settle(SettleRequest(ANN, waiting.id, "approve", minute(3), "b"))
        )
        assert "was changed since" in str(refused)
        assert (await listed(provider)).records == (changed,)
        again = await remember(provider, "plan", "again", at=4, status="quarantined", kind="working", working=edit)
        settled = await provider.settle(SettleRequest(ANN, again.id, "approve", minute(5), "bob"))
        assert settled is not None
        assert settled.record is not None
        assert (settled.record.id, settled.record.working) == (changed.id, edit)


# --- working blocks ----------------------------------------------------------------------------------


@check(Group.WRITE)
async def a_working_block_is_listed_like_a_pin_without_being_one(store: Store) -> None:
    async with opened(store) as provider:
        block = await remember(provider, "plan", "text", EVERYONE, kind="working", working=_BLOCK)
        for number in range(5):
            await remember(provider, f"fact {number}", "text", ANN, at=number)
        listing = await listed(provider, ANN, EVERYONE, limit=1)
        assert (listing.records, listing.keys, listing.pinned_keys) == ((block,), 6, 1)
        assert not block.pinned
        for pinned in (True, False):
            await provider.pin(PinRequest(EVERYONE, block.id, pinned=pinned, at=minute(9)))
            (held,) = (await listed(provider, ANN, EVERYONE, limit=1)).records
            assert held == block.model_copy(update={"pinned": pinned})


@check(Group.WRITE, Group.SEARCH)
async def a_working_block_comes_along_in_every_search_that_its_scope_is_part_of(store: Store) -> None:
    async with opened(store) as provider:
        block = await remember(provider, "plan", "ship it", kind="working", working=_BLOCK)
        wider = await remember(provider, "plan", "rest", EVERYONE, kind="working", working=_BLOCK)
        fact = await remember(provider, "office", "Lyon", at=1)
        hits = await provider.search(question("Lyon", ANN, EVERYONE, limit=1))
        assert [hit.record for hit in hits] == [fact, block, wider]
        assert [hit.record for hit in await provider.search(question("nothing like it"))] == [block]
        await provider.forget(erasing(block))
        assert await provider.search(question("nothing like it")) == ()


@check(Group.WRITE, Group.BROWSE)
async def a_working_block_is_not_counted_as_pinned(store: Store) -> None:
    async with opened(store) as provider:
        block = await remember(provider, "plan", "text", kind="working", working=_BLOCK)
        assert (await provider.stats((ANN,))).pinned == 0
        await provider.pin(PinRequest(ANN, block.id, pinned=True, at=minute(1)))
        stats = await provider.stats((ANN,))
    assert (stats.pinned, dict(stats.by_kind)) == (1, {"working": 1})


# --- revise ------------------------------------------------------------------------------------------


@check(Group.WRITE, Group.HISTORY)
async def a_revision_is_the_next_version_of_the_same_statement(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "release", "text", at=1, kind="procedural", rule=_RULE)
        await provider.pin(PinRequest(ANN, record.id, pinned=True, at=minute(2)))
        rule = _RULE.model_copy(update={"success_count": 3})
        asked = record.model_copy(update={"rule": rule, "importance": 0.9, "text": "other", "status": "quarantined"})
        written = await provider.revise(ReviseRequest(asked, minute(5)))
        assert written is not None
        changed = {"rule": rule, "importance": 0.9, "version": 2, "updated_at": minute(5), "pinned": True}
        wanted = record.model_copy(update=changed)
        assert (written.status, written.record) == ("replaced", wanted)
        assert (await listed(provider)).records == (wanted,)
        assert [held.version for held in await provider.history(HistoryRequest((ANN,), record.id))] == [1, 2]


@check(Group.WRITE)
async def a_revision_of_another_version_is_a_conflict_and_changes_nothing(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "owl", "text", kind="insight", insight=Insight(cites=("a",)))
        voted = record.model_copy(update={"insight": Insight(cites=("a",), salience=3)})
        assert await provider.revise(ReviseRequest(voted, minute(1))) is not None
        conflict = await refusal(Conflict, provider.revise(ReviseRequest(voted, minute(2))))
        assert (conflict.expected, conflict.current_version, conflict.current_text) == (1, 2, "text")
        (held,) = (await listed(provider)).records
        assert (held.version, held.insight) == (2, voted.insight)


@check(Group.WRITE)
async def a_revision_that_changes_nothing_is_unchanged(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "release", "text", kind="procedural", rule=_RULE)
        written = await provider.revise(ReviseRequest(record, minute(5)))
        assert written is not None
        assert (written.status, written.record) == ("unchanged", record)


@check(Group.WRITE)
async def what_waits_is_revised_where_it_waits(store: Store) -> None:
    async with opened(store) as provider:
        active = await remember(provider, "release", "active", kind="procedural", rule=_RULE)
        waiting = await remember(provider, "release", "text", kind="procedural", rule=_RULE, status="quarantined")
        rule = _RULE.model_copy(update={"failure_count": 2})
        written = await provider.revise(ReviseRequest(waiting.model_copy(update={"rule": rule}), minute(5)))
        assert written is not None
        assert (written.record.id, written.record.status, written.record.rule) == (waiting.id, "quarantined", rule)
        assert (await listed(provider)).records == (active,)
        held = (await listed(provider, statuses=_BOTH)).records
        assert sorted(held, key=lambda record: record.id) == [active, written.record]


@check(Group.WRITE)
async def nothing_is_revised_under_an_unknown_id_or_at_another_scope(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "release", "text", kind="procedural", rule=_RULE)
        for name, value in (("id", "no-such-id"), ("scope", EVERYONE), ("id", HALF_PAIR), ("scope", HALF_PAIR)):
            elsewhere = record.model_copy(update={name: value, "importance": 0.1})
            assert await provider.revise(ReviseRequest(elsewhere, minute(1))) is None
        assert (await listed(provider, ANN, EVERYONE)).records == (record,)


@check(Group.WRITE)
async def a_revision_that_no_store_can_hold_is_refused(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "release", "text", kind="procedural", rule=_RULE)
        wrong = record.model_copy(update={"held_because": HALF_PAIR})
        await refusal(InvalidInput, provider.revise(ReviseRequest(wrong, minute(1))))
        assert (await listed(provider)).records == (record,)


@check(Group.WRITE, Group.SEARCH)
async def what_was_revised_is_found_as_before(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "release", "Tag the version", kind="procedural", rule=_RULE)
        rule = _RULE.model_copy(update={"success_count": 9})
        claimed = record.model_copy(update={"rule": rule, "text": "something else"})
        await provider.revise(ReviseRequest(claimed, minute(5)))
        (hit,) = await provider.search(question("How do I tag a version?"))
        assert (hit.record.version, hit.record.rule) == (2, rule)


# --- forgetting --------------------------------------------------------------------------------------

_SECRETS: Final = ("xylocarp", "quinquefoliate", "zenzizenzic", "ульотрихий")


@check(Group.WRITE)
async def no_file_holds_the_bytes_of_what_a_forgotten_kind_added(store: Store) -> None:
    """Steps, conditions, lines, tags and keys go with the text: of each version, and also where values are long."""
    line, step, condition, tag = _SECRETS
    padding = "and padding\n" * 160
    async with opened(store) as provider:
        for number in range(200):
            await remember(provider, f"neighbour {number}", f"ordinary fact number {number}", at=number // 10)
        block = WorkingBlock(value=f'"{line}"\n{padding}{line}', char_limit=9_999)
        rule = Rule(condition=f"when {condition}", steps=(f"{step} {{version}}",), success_criteria=condition)
        gone = [
            await remember(provider, f"plan {tag}", "text", kind="working", working=block, tags=(tag,)),
            await remember(provider, "release", "text", kind="procedural", rule=rule, tags=(tag,)),
        ]
        emptied = WorkingBlock(value="", char_limit=9_999)
        await remember(provider, f"plan {tag}", "(empty)", at=1, kind="working", working=emptied)
        for record in gone:
            forgotten = await provider.forget(erasing(record))
            assert forgotten is not None
            assert forgotten.erasure == "done"
        contents = [path.read_bytes() for path in store.files()]
        assert [word for word in _SECRETS if any(word.encode() in content for content in contents)] == []
        assert len(texts((await listed(provider)).records)) == 200
