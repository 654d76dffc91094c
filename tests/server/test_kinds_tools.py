"""The toolset `kinds`, through a real client."""

from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client

from mcp_memory_server.kinds.working import SetValue
from mcp_memory_server.providers.base import Group
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.server.tools import TOOLSETS
from mcp_memory_server.service import Limits, MemoryService
from mcp_memory_server.service.kinds import PERSON
from tests.people import ANN
from tests.watched_provider import WatchedProvider

from .answers import called, data_of, not_readable, read, refused, text_of
from .conftest import Connect

RULE: dict[str, Any] = {"key": "release", "condition": "a release is due", "steps": ["Run checks", "Tag {version}"]}


async def said(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    data_of(result)
    return text_of(result)


async def block(client: Client) -> str:
    return await read(client, "memory://block")


async def test_they_are_offered_where_the_operator_switched_them_on(connect: Connect, service: MemoryService) -> None:
    names = {tool.definition.name for tool in TOOLSETS["kinds"](service)}
    for toolsets, offered in (((), set[str]()), (("kinds",), names)):
        async with connect(service, toolsets=toolsets) as client:
            assert names & {tool.name for tool in (await client.list_tools()).tools} == offered
    read_only = MemoryService(WatchedProvider(without=[Group.WRITE]))
    assert list(TOOLSETS["kinds"](read_only)) == []


async def test_a_block_is_edited_and_read_back(connect: Connect, service: MemoryService) -> None:
    async with connect(service, toolsets=("kinds",)) as client:
        first = await called(client, "edit_block", label="plan", action="set", text="one\ntwo", char_limit=40)
        assert (first["status"], first["record"]["kind"], first["record"]["version"]) == ("stored", "working", 1)
        text = await said(client, "edit_block", label="plan", action="append", text="three")
        assert text.startswith("Replaced 'plan' at actor:ann, version 2, id ")
        assert text.endswith("; 13 of 40 characters.")
        await called(client, "edit_block", label="plan", action="replace", old="two", text="", if_version=2)
        assert await read(client, "memory://working/plan") == "one\n\nthree"
        assert (
            "- [actor:ann] plan: (last edited by the assistant, 10 of 40 characters)\n    | one\n    |\n    | three\n"
            in await block(client)
        )
        await called(client, "edit_block", label="plan", action="set", text="")
        assert await read(client, "memory://working/plan") == ""


async def test_an_edit_that_cannot_be_says_why_and_changes_nothing(connect: Connect, service: MemoryService) -> None:
    async with connect(service, toolsets=("kinds",)) as client:
        await called(client, "edit_block", label="plan", action="set", text="one", char_limit=5)
        for arguments, words in (
            ({"action": "append", "text": "two"}, "has 7 characters and the block's limit is 5"),
            ({"action": "replace", "text": "two"}, "old is required"),
            ({"action": "replace", "old": "x", "text": "two"}, "old is not in the block"),
            ({"action": "append", "old": "x", "text": "two"}, "old belongs to the action replace, not to append"),
            ({"action": "append", "char_limit": 9, "text": "two"}, "char_limit belongs to the action set"),
            ({"action": "set", "text": "two", "if_version": 7}, "'plan' is at version 1, not at version 7"),
            ({"action": "set", "text": "two", "char_limit": 5_000}, "char_limit must be 1 to 2000"),
            ({"action": "drop", "text": "two"}, "action must be one of set, append, replace"),
            ({"action": "set", "text": "two", "where": "project"}, "no project is configured"),
        ):
            assert words in await refused(client, "edit_block", label="plan", **arguments)
        assert await read(client, "memory://working/plan") == "one"


async def test_the_client_is_told_when_it_changed_what_a_person_had_written(
    connect: Connect, service: MemoryService
) -> None:
    await service.kinds.blocks.edit(ANN, "plan", SetValue("one"), writer=PERSON)
    async with connect(service, toolsets=("kinds",)) as client:
        text = await said(client, "edit_block", label="plan", action="append", text="two")
        assert "stated by a person and is now your note: tell the user" in text
        assert "tell the user" not in await said(client, "edit_block", label="plan", action="append", text="three")


async def test_what_is_no_block_is_not_readable_as_one(connect: Connect, service: MemoryService) -> None:
    async with connect(service, toolsets=("kinds",)) as client:
        assert "No working block 'no' is visible" in (await not_readable(client, "memory://working/no")).error.message
        await called(client, "remember", key="office", fact="Lyon")
        await not_readable(client, "memory://working/office")


async def test_a_rule_is_recorded_and_its_outcomes_are_counted(connect: Connect, service: MemoryService) -> None:
    async with connect(service, toolsets=("kinds",)) as client:
        rule = (await called(client, "record_rule", **RULE, priority=2, success_criteria="it is out"))["record"]
        id = rule["id"]
        assert "'release' worked 1 times and failed 0." in await said(client, "report_outcome", id=id, outcome="worked")
        again = await client.call_tool("report_outcome", {"id": id, "outcome": "worked"})
        assert data_of(again)["status"] == "unchanged"
        assert text_of(again).startswith("This conversation has counted a success already")
        await called(client, "report_outcome", id=id, outcome="failed")
        assert "When a release is due (note, priority 2, worked 1 of 2 times)\n    1. Run checks\n" in await block(
            client
        )
        assert "step 1 holds '{'" in await refused(client, "record_rule", **RULE | {"steps": ["{"]})
        assert "No memory 'x'" in await refused(client, "report_outcome", id="x", outcome="worked")


async def test_an_episode_and_notes_are_recorded(connect: Connect, service: MemoryService) -> None:
    async with connect(service, toolsets=("kinds",)) as client:
        await called(client, "record_episode", key="move", summary="Moved to Lyon", started_at="2026-03-01T09:00:00Z")
        await called(client, "record_note", key="draft", fact="Version seven", audience="session")
        await called(client, "record_note", key="deploys", fact="On Fridays", audience="shared")
        shown = await block(client)
        assert "move: Moved to Lyon (note, since 2026-03-01 09:00Z)" in shown
        assert "deploys: On Fridays (note)" in shown
        assert "draft: Version seven (note)" in shown
        assert "started_at has no time zone" in await refused(
            client, "record_episode", key="k", summary="s", started_at="2026-03-01T09:00:00"
        )
    async with connect(service, toolsets=("kinds",)) as client:
        assert "Version seven" not in await block(client)


async def test_an_insight_cites_what_is_there_and_takes_votes(connect: Connect, service: MemoryService) -> None:
    async with connect(service, toolsets=("kinds",)) as client:
        fact = (await called(client, "remember", key="bedtime", fact="Goes to bed at two"))["record"]
        made = await called(client, "record_insight", key="owl", fact="Works late", cites=[fact["id"]])
        assert made["record"]["insight"] == {"cites": [fact["id"]], "salience": 2}
        id = made["record"]["id"]
        assert "salience 3" in await said(client, "vote_insight", id=id, vote="up")
        for _ in range(2):
            await called(client, "vote_insight", id=id, vote="down")
        assert "It is shown to nobody any more." in await said(client, "vote_insight", id=id, vote="down")
        assert "cites names no memory that is there for you: 'x'" in await refused(
            client, "record_insight", key="owl", fact="Works late", cites=["x"]
        )
        assert "cites names 0 memories" in await refused(client, "record_insight", key="k", fact="f", cites=[])


@pytest.mark.parametrize("tool", ["edit_block", "record_rule", "record_note", "record_episode"])
async def test_what_is_required_is_named(connect: Connect, service: MemoryService, tool: str) -> None:
    async with connect(service, toolsets=("kinds",)) as client:
        assert "is required" in await refused(client, tool)


async def test_labels_complete_as_ids_do(connect: Connect, service: MemoryService) -> None:
    async with connect(service, toolsets=("kinds",)) as client:
        for label in ("plan", "persona", "other"):
            await called(client, "edit_block", label=label, action="append", text="x")
        await called(client, "remember", key="place", fact="Lyon")
        reference = types.ResourceTemplateReference(uri="memory://working/{label}")
        completed = await client.complete(reference, {"name": "label", "value": "p"})
        assert completed.completion.values == ["persona", "plan"]


async def test_a_rule_that_has_proven_itself_says_so(connect: Connect) -> None:
    service = MemoryService(InMemoryProvider(), limits=Limits(promote_after=1))
    async with connect(service, toolsets=("kinds",)) as client:
        made = await client.call_tool("record_rule", RULE | {"induced": True})
        assert text_of(made).endswith("it waits for a person's review and is shown to nobody until then.")
        id = data_of(made)["record"]["id"]
        assert "release" not in await block(client)
        assert "shown from now on" in await said(client, "report_outcome", id=id, outcome="worked")
        assert "release" in await block(client)
