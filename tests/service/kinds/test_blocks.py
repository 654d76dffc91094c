"""Working blocks: edited by several clients at once, shown every turn, and locked by people."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from mcp_memory_server import MemoryService, open_provider
from mcp_memory_server.errors import Conflict, InvalidInput, NotFound, NotSupported, Refused
from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.kinds.working import AppendLine, ReplaceText, SetValue
from mcp_memory_server.providers.base import Group
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.records import WorkingBlock
from mcp_memory_server.service.kinds import ASSISTANT, PERSON, Writer
from tests.people import ANN, ANN_IN_SHOP, BOB
from tests.watched_provider import WatchedProvider


@pytest.fixture
def service() -> MemoryService:
    return MemoryService(InMemoryProvider())


async def shown(service: MemoryService, query: str = "") -> str:
    return service.block(await service.offer(ANN, query))


async def test_a_block_is_shown_every_turn_whatever_is_asked(service: MemoryService) -> None:
    """9.1: `working` block: a named slot shown every turn."""
    await service.kinds.blocks.edit(ANN, "plan", SetValue("write\n  test"))
    for number in range(30):
        await service.remember(ANN, f"fact {number}", f"Likes number {number}")
    for query in ("", "Which number?", "zzz"):
        block = await shown(service, query)
        assert (
            "- [actor:ann] plan: (last edited by the assistant, 12 of 1000 characters)\n    | write\n    |   test\n"
            in block
        )
    small = await service.offer(ANN, "Which number?", max_memories=1)
    assert [entry.key for entry in small.digest.entries] == ["plan"]


async def test_edits_are_versions_with_a_history(service: MemoryService) -> None:
    blocks = service.kinds.blocks
    first = await blocks.edit(ANN, "plan", AppendLine("one"))
    await blocks.edit(ANN, "plan", AppendLine("two"))
    done = await blocks.edit(ANN, " plan ", ReplaceText("one", "three"))
    assert (first.status, done.status, done.record.version) == ("stored", "replaced", 3)
    assert done.record.working == WorkingBlock(value="three\ntwo", char_limit=1_000)
    assert done.record.text == "three two"
    versions = await service.record_versions(ANN, done.record.id)
    assert [version.working and version.working.value for version in versions] == ["one", "one\ntwo", "three\ntwo"]
    again = await blocks.edit(ANN, "plan", SetValue("three\ntwo"))
    assert (again.status, again.record.version) == ("unchanged", 3)


@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
async def test_of_many_that_append_at_once_none_loses_a_line(tmp_path: Path, scheme: str) -> None:
    """Issue 5: clients that append at once lose none."""
    async with open_provider("memory://" if scheme == "memory" else f"sqlite:///{tmp_path}/memory.db") as provider:
        blocks = MemoryService(provider).kinds.blocks
        await blocks.edit(ANN, "log", SetValue("", 2_000))

        async def append(name: str) -> None:
            for number in range(20):
                await blocks.edit(ANN, "log", AppendLine(f"{name}{number}"))

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for name in "abcd":
                    tasks.start_soon(append, name)
        working = (await blocks.find(ANN, "log")).working
    assert working is not None
    lines = working.value.split("\n")
    assert sorted(lines) == sorted(f"{name}{number}" for name in "abcd" for number in range(20))
    assert [line for line in lines if line.startswith("a")] == [f"a{number}" for number in range(20)]


async def test_an_edit_of_another_version_is_a_conflict_that_names_the_current_one(service: MemoryService) -> None:
    """9.1 with `if_version`: the second of two editors is told."""
    blocks = service.kinds.blocks
    await blocks.edit(ANN, "plan", SetValue("one"), if_version=0)
    await blocks.edit(ANN, "plan", SetValue("two"), if_version=1)
    for expected in (0, 1, 3):
        with pytest.raises(Conflict) as conflict:
            await blocks.edit(ANN, "plan", AppendLine("x"), if_version=expected)
        assert (conflict.value.current_version, conflict.value.current_text) == (2, "two")
    assert (await blocks.find(ANN, "plan")).text == "two"


async def test_a_block_over_its_limit_stays_as_it_is(service: MemoryService) -> None:
    blocks = service.kinds.blocks
    await blocks.edit(ANN, "plan", SetValue("12345", 8))
    with pytest.raises(InvalidInput, match="has 9 characters and the block's limit is 8"):
        await blocks.edit(ANN, "plan", AppendLine("789"))
    assert (await blocks.find(ANN, "plan")).version == 1


async def test_only_a_person_locks_a_block_and_changes_a_locked_one(service: MemoryService) -> None:
    """9.1: `read_only`."""
    blocks = service.kinds.blocks
    await blocks.edit(ANN, "persona", SetValue("Be brief"))
    for read_only in (True, False):
        with pytest.raises(Refused, match="only a person changes it"):
            await blocks.lock(ANN, "persona", read_only=read_only, writer=ASSISTANT)
    locked = await blocks.lock(ANN, "persona", read_only=True)
    assert (locked.version, locked.origin.author) == (2, "agent")  # whose words they are does not change
    for edit in (SetValue("x"), AppendLine("x"), ReplaceText("brief", "x")):
        with pytest.raises(Refused, match="read-only"):
            await blocks.edit(ANN, "persona", edit)
    done = await blocks.edit(ANN, "persona", AppendLine("and kind"), writer=PERSON)
    assert done.record.working == WorkingBlock(value="Be brief\nand kind", char_limit=1_000, read_only=True)
    assert "(last edited by a person, 17 of 1000 characters, read-only)" in await shown(service)
    await blocks.lock(ANN, "persona", read_only=False)
    assert (await blocks.edit(ANN, "persona", SetValue("mine again"))).status == "replaced"


async def test_remember_does_not_write_over_a_block_nor_a_block_over_a_fact(service: MemoryService) -> None:
    blocks = service.kinds.blocks
    await blocks.edit(ANN, "plan", SetValue("one"))
    await service.remember(ANN, "office", "Lyon")
    with pytest.raises(InvalidInput, match="key is that of a memory of the kind working"):
        await service.remember(ANN, "plan", "a fact")
    with pytest.raises(InvalidInput, match="label is the key of a semantic memory"):
        await blocks.edit(ANN, "office", AppendLine("x"))


async def test_what_is_not_there_is_not_replaced_or_locked(service: MemoryService) -> None:
    blocks = service.kinds.blocks
    with pytest.raises(NotFound, match="No working block 'plan'"):
        await blocks.edit(ANN, "plan", ReplaceText("a", "b"))
    with pytest.raises(NotFound, match="No working block 'plan'"):
        await blocks.lock(ANN, "plan", read_only=True)
    with pytest.raises(NotFound):
        await blocks.find(ANN, "plan")


async def test_the_narrowest_own_block_is_edited_unless_a_place_is_named(service: MemoryService) -> None:
    blocks = service.kinds.blocks
    await blocks.edit(ANN_IN_SHOP, "plan", SetValue("everywhere"))
    await blocks.edit(ANN_IN_SHOP, "plan", SetValue("shop"), writer=Writer(where="project"))
    await blocks.edit(ANN_IN_SHOP, "plan", AppendLine("x"))
    await blocks.edit(ANN_IN_SHOP, "plan", AppendLine("y"), writer=Writer(where="everywhere"))
    assert [block.text for block in await blocks.all(ANN_IN_SHOP)] == ["shop x", "everywhere y"]
    assert (await blocks.find(ANN_IN_SHOP, "plan")).text == "shop x"
    assert (await blocks.find(ANN, "plan")).text == "everywhere y"
    assert list(await blocks.all(BOB)) == []


async def test_a_block_that_others_share_takes_a_person_and_their_elevation(service: MemoryService) -> None:
    blocks = service.kinds.blocks
    tenant = Writer(scope="tenant:acme")
    with pytest.raises(Refused, match="An assistant may not write"):
        await blocks.edit(ANN, "rules", SetValue("x"), writer=tenant)
    with pytest.raises(Refused, match="needs --elevated"):
        await blocks.edit(ANN, "rules", SetValue("x"), writer=replace(tenant, author="human"))
    await blocks.edit(ANN, "rules", SetValue("x"), writer=replace(tenant, author="human", elevated=True))
    assert (await blocks.find(BOB, "rules")).scope == "tenant:acme"


@pytest.mark.parametrize(("label", "said"), [("", "label is blank"), ("a:b", "label holds :"), ("a\0", "control")])
async def test_a_label_is_checked_like_a_key(service: MemoryService, label: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        await service.kinds.blocks.edit(ANN, label, AppendLine("x"))


async def test_a_store_that_cannot_be_written_to_says_so() -> None:
    service = MemoryService(WatchedProvider(without=[Group.WRITE]))
    with pytest.raises(NotSupported):
        await service.kinds.blocks.edit(ANN, "plan", AppendLine("x"))


async def test_a_block_that_others_change_all_the_time_ends_as_a_conflict() -> None:
    provider = WatchedProvider()
    provider.failing["write"] = Conflict("plan", 0, 1)
    with pytest.raises(Conflict):
        await MemoryService(provider).kinds.blocks.edit(ANN, "plan", AppendLine("x"))
    assert provider.called().count("write") == 100


async def test_names_of_other_tenants_see_no_block() -> None:
    service = MemoryService(InMemoryProvider())
    await service.kinds.blocks.edit(ANN, "plan", SetValue("x"))
    stranger = RequestContext(Actor("ann2"))
    with pytest.raises(NotFound):
        await service.kinds.blocks.find(stranger, "plan")
