"""The tools, called by a client of either era."""

import json
from typing import Any

import jsonschema
import pytest

from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.providers.base import Group
from mcp_memory_server.service import Limits, MemoryService
from tests.block_lines import block_lines
from tests.people import ANN, ANN_IN_SHOP, ANNS_SCOPES, BOB
from tests.watched_provider import WatchedProvider

from .answers import called, data_of, refused, text_of
from .conftest import Connect

# --- remember ---------------------------------------------------------------------------------------


async def test_remember_answers_with_the_record_and_what_it_replaced(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        stored = await called(client, "remember", key="office", fact="Lyon", tags=["work"])
        replaced = await called(client, "remember", key="office", fact="Porto", if_version=1)
        unchanged = await called(client, "remember", key="office", fact="Porto")
    assert [answer["status"] for answer in (stored, replaced, unchanged)] == ["stored", "replaced", "unchanged"]
    assert stored["record"]["origin"]["author"] == "agent"
    assert (stored["record"]["scope"], stored["record"]["tags"]) == ("actor:ann", ["work"])
    assert replaced["previous"] == stored["record"]
    assert unchanged["record"] == replaced["record"]
    assert "previous" not in stored
    assert "previous" not in unchanged


async def test_remember_tells_of_overridden_values_and_similar_keys(connect: Connect, service: MemoryService) -> None:
    await service.state(ANN, "time-zone", "UTC", scope="tenant:acme", elevated=True)
    await service.remember(ANN, "timezone", "CET")
    async with connect(service) as client:
        result = await client.call_tool("remember", {"key": "time-zone", "fact": "WET"})
    answer = data_of(result)
    assert answer["overrides"] == [{"scope": "tenant:acme", "text": "UTC", "author": "human"}]
    assert answer["similar_keys"] == ["timezone"]
    assert "overrides a wider value at tenant:acme" in text_of(result)
    assert "same question: 'timezone'" in text_of(result)


async def test_a_conflict_shows_the_current_version_and_text(connect: Connect, service: MemoryService) -> None:
    await service.remember(ANN, "office", "Lyon")
    await service.remember(ANN, "office", "Porto")
    async with connect(service) as client:
        result = await client.call_tool("remember", {"key": "office", "fact": "Brno", "if_version": 1})
    assert result.is_error
    assert "version 2" in text_of(result)
    assert "Porto" in text_of(result)
    assert (result.meta or {})["mcp-memory/error"] == "conflict"


async def test_with_a_project_remember_gains_where(connect: Connect, service: MemoryService) -> None:
    async with connect(service, project="shop") as client:
        here = await called(client, "remember", key="k", fact="f", where="project")
        everywhere = await called(client, "remember", key="k", fact="g")
        assert "must be one of everywhere, project" in await refused(client, "remember", key="k", fact="h", where="x")
    assert (here["record"]["scope"], everywhere["record"]["scope"]) == ("actor:ann#shop", "actor:ann")
    async with connect(service) as client:
        assert "'where' is no argument" in await refused(client, "remember", key="k", fact="f", where="project")


async def test_a_scope_is_no_argument_of_any_tool(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        for tool in (await client.list_tools()).tools:
            assert "'scope' is no argument" in await refused(client, tool.name, scope="global")


async def test_a_store_that_cannot_be_written_offers_no_remember(connect: Connect) -> None:
    async with connect(MemoryService(WatchedProvider(without=[Group.WRITE]))) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["recall_digest", "forget", "check_tool_schema"]
        assert "There is no tool 'remember'" in await refused(client, "remember", key="k", fact="f")
        assert "call `remember`" not in text_of(await client.call_tool("recall_digest", {}))


# --- recall_digest ----------------------------------------------------------------------------------


async def test_recall_shows_the_block_as_text_and_the_digest_as_data(connect: Connect, service: MemoryService) -> None:
    await service.state(ANN, "tone", "formal", scope="tenant:acme", elevated=True)
    await service.remember(ANN, "tone", "easy-going")
    async with connect(service) as client:
        result = await client.call_tool("recall_digest", {})
    digest = data_of(result)
    assert [str(line) for line in block_lines(text_of(result))] == ["actor:ann tone", "> tenant:acme human"]
    assert digest["entries"][0]["overrides"] == [{"scope": "tenant:acme", "text": "formal", "author": "human"}]
    assert {name: digest[name] for name in digest if name not in ("entries", "digest_id")} == {
        "scopes": list(ANNS_SCOPES),
        "omitted": 0,
        "pinned_omitted": 0,
        "recalled": False,
        "journaled": True,
    }
    assert digest["digest_id"] not in text_of(result)


@pytest.mark.parametrize("arguments", [{"query": "Lyon"}, {}])
async def test_what_a_caller_makes_of_an_answer_stands_in_no_later_one(
    connect: Connect, service: MemoryService, arguments: dict[str, Any]
) -> None:
    await service.remember(ANN, "office", "Lyon", tags=["work"])
    async with connect(service) as client:
        (entry,) = (await called(client, "recall_digest", **arguments))["entries"]
        before = json.dumps(entry)
        entry["text"] = entry["origin"]["author"] = "changed"
        entry["tags"].append("changed")
        (again,) = (await called(client, "recall_digest", **arguments))["entries"]
    assert json.dumps(again) == before


async def test_nothing_held_is_an_empty_digest_and_says_so(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        result = await client.call_tool("recall_digest", {})
    assert data_of(result)["entries"] == []
    assert "Nothing is remembered here yet" in text_of(result)


async def test_a_turn_asked_again_is_answered_the_same_and_says_what_was_erased(
    connect: Connect, service: MemoryService
) -> None:
    async with connect(service) as client:
        await called(client, "remember", key="office", fact="Lyon")
        await called(client, "remember", key="editor", fact="Helix")
        first = await called(client, "recall_digest", turn_id="1")
        await called(client, "remember", key="office", fact="Porto")
        assert await called(client, "recall_digest", query="Helix", turn_id="1") == first
        await called(client, "forget", key="editor")
        again = await called(client, "recall_digest", digest_id=first["digest_id"])
    assert ([entry["text"] for entry in again["entries"]], again["erased"]) == (["Lyon"], 1)


async def test_the_number_of_memories_is_bounded_whatever_the_setting(connect: Connect) -> None:
    service = MemoryService(WatchedProvider(), limits=Limits(max_memories=3))
    for number in range(5):
        await service.remember(ANN, f"topic {number}", "a fact")
    async with connect(service) as client:
        assert len((await called(client, "recall_digest"))["entries"]) == 3
        assert len((await called(client, "recall_digest", max_memories=200))["entries"]) == 5
        for wrong in (0, 201, -1):
            assert "must be 1 to 200" in await refused(client, "recall_digest", max_memories=wrong)


# --- forget -----------------------------------------------------------------------------------------


async def test_forget_takes_an_id_or_a_key(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        for named in ("id", "key"):
            record = (await called(client, "remember", key="office", fact="Lyon"))["record"]
            gone = await called(client, "forget", **{named: record[named]})
            assert gone == {"forgotten": True, "id": record["id"], "key": "office", "erasure": "done"}
            assert (await called(client, "recall_digest"))["entries"] == []
        for wrong in ({}, {"id": "1", "key": "office"}):
            assert "exactly one" in await refused(client, "forget", **wrong)


async def test_forget_by_key_says_where_the_key_is_still_held(connect: Connect, service: MemoryService) -> None:
    await service.remember(ANN_IN_SHOP, "office", "Lyon")
    await service.remember(ANN_IN_SHOP, "office", "Porto", where="project")
    async with connect(service, project="shop") as client:
        result = await client.call_tool("forget", {"key": "office"})
    assert data_of(result)["still_at"] == ["actor:ann"]
    assert "still held at actor:ann" in text_of(result)


async def test_unknown_foreign_and_forgotten_ids_are_answered_alike(connect: Connect, service: MemoryService) -> None:
    bobs = (await service.remember(BOB, "office", "Brno")).record.id
    async with connect(service) as client:
        mine = (await called(client, "remember", key="office", fact="Lyon"))["record"]["id"]
        await called(client, "forget", id=mine)
        ids = ("no such id", bobs, mine)
        assert len({(await refused(client, "forget", id=id)).replace(id, "…") for id in ids}) == 1


async def test_a_wider_record_is_refused_with_who_may_erase_it(connect: Connect, service: MemoryService) -> None:
    wider = (await service.state(ANN, "tone", "formal", scope="tenant:acme", elevated=True)).record
    async with connect(service) as client:
        assert "An administrator may" in await refused(client, "forget", id=wider.id)


# --- all of them ------------------------------------------------------------------------------------


async def test_every_structured_result_fits_the_schema_that_its_tool_publishes(
    connect: Connect, service: MemoryService
) -> None:
    await service.state(ANN, "tone", "formal", scope="tenant:acme", elevated=True)
    await service.remember(ANN_IN_SHOP, "office", "Lyon", where="project")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("remember", {"key": "tone", "fact": "easy-going", "tags": ["style"], "valid_from": "2026-01-01T00:00:00Z"}),
        ("remember", {"key": "tone", "fact": "brief"}),
        ("remember", {"key": "office", "fact": "Porto"}),
        ("recall_digest", {"turn_id": "1"}),
        ("recall_digest", {"query": "tone"}),
        ("forget", {"key": "office"}),
        ("recall_digest", {"turn_id": "1"}),
    ]
    async with connect(service, project="shop") as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for tool, given in calls:
            answer = await called(client, tool, **given)
            jsonschema.validate(answer, schemas[tool] or {})
            assert "null" not in json.dumps(answer)


async def test_an_unknown_tool_is_an_error_that_names_the_known_ones(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        assert "There are: remember, recall_digest, forget, check_tool_schema." in await refused(client, "no_such_tool")


@pytest.mark.parametrize(
    ("named", "thread"),
    [("chat 7\n", "chat 7"), (None, "connection-"), (7, "connection-"), ("", "connection-"), ("x" * 300, "x" * 200)],
)
async def test_a_fact_knows_the_thread_that_the_host_names_or_else_the_connection(
    connect: Connect, service: MemoryService, named: Any, thread: str
) -> None:
    meta: Any = {"mcp-memory/thread": named}
    async with connect(service) as client:
        for key in ("a", "b"):
            await client.call_tool("remember", {"key": key, "fact": "f"}, meta=meta)
    one, other = (await service.offer(ANN)).digest.entries
    assert one.origin.thread_id == other.origin.thread_id
    assert str(one.origin.thread_id).startswith(thread)


async def test_callers_that_differ_are_told_apart_by_the_host(connect: Connect, service: MemoryService) -> None:
    def identify(_: object) -> RequestContext:
        return RequestContext(Actor("bob"))

    await service.remember(ANN, "office", "Lyon")
    async with connect(service, identify=identify) as client:
        digest = await called(client, "recall_digest")
    assert (digest["scopes"], digest["entries"]) == (["actor:bob", "global"], [])
