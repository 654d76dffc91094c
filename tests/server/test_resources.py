"""The resources: the block, and everything that a person may want to see behind it."""

import json
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError

from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.providers.base import Change, PageCursor
from mcp_memory_server.recall import estimate_tokens
from mcp_memory_server.server.uris import is_touched, page_cursor, parse, record_uri, scope_uri
from mcp_memory_server.service import MemoryService
from mcp_memory_server.service.browse import PAGE_SIZE
from tests.block_lines import block_lines
from tests.people import ANN, ANNS_SCOPES, BOB

from .answers import called, not_readable, read, read_json, text_of
from .conftest import Connect


async def test_static_resources_are_listed_and_the_others_are_templates(
    connect: Connect, service: MemoryService
) -> None:
    async with connect(service) as client:
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        for resource in resources:
            assert await read(client, resource.uri)
    names = ("block", "digest", "stats", "pending")
    assert [resource.uri for resource in resources] == [f"memory://{name}" for name in names]
    assert [template.uri_template for template in templates] == [
        "memory://block{?query,as_of,known_at,max_tokens}",
        "memory://digest{?query,as_of,known_at,max_tokens}",
        "memory://records/{id}",
        "memory://scopes/{scope}",
        "memory://working/{label}",
    ]
    assert all(place.title and place.description and place.mime_type for place in (*resources, *templates))


async def test_what_is_read_is_cached_by_nobody_else(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        for uri in ("memory://block", "memory://digest", "memory://stats", "memory://scopes/global"):
            result = await client.read_resource(uri)
            assert (result.cache_scope, result.ttl_ms) == ("private", 0)


async def test_the_block_is_what_recall_shows(connect: Connect, service: MemoryService) -> None:
    await service.remember(ANN, "office", "Lyon")
    await service.remember(BOB, "office", "Brno")
    async with connect(service) as client:
        block = await read(client, "memory://block")
        assert block == text_of(await client.call_tool("recall_digest", {}))
    assert [(line.scope, line.text) for line in block_lines(block)] == [("actor:ann", "Lyon")]


@pytest.mark.parametrize("query", ["café & crème", "a+b=c?#%", "数据库", "  ", "x/../y"])
async def test_a_question_stands_percent_encoded_in_the_uri(
    connect: Connect, service: MemoryService, query: str
) -> None:
    await service.remember(ANN, "note", query.strip() or "something")
    async with connect(service) as client:
        uri = f"memory://block?query={quote(query, safe='')}"
        assert await read(client, uri) == text_of(await client.call_tool("recall_digest", {"query": query}))


@pytest.mark.parametrize("offset", ["+02:00", "%2B02:00", "+0200", "Z"])
async def test_the_plus_of_an_offset_may_stand_as_it_is(connect: Connect, service: MemoryService, offset: str) -> None:
    async with connect(service) as client:
        block = await read(client, f"memory://block?as_of=2026-01-01T00:00:00{offset}")
    utc = "2026-01-01T00:00:00.000Z" if offset == "Z" else "2025-12-31T22:00:00.000Z"
    assert f"This is what was true at {utc}" in block


async def test_the_digest_is_what_recall_gives_as_data(connect: Connect, service: MemoryService) -> None:
    await service.remember(ANN, "office", "Lyon")
    async with connect(service) as client:
        as_resource, as_tool = await read_json(client, "memory://digest"), await called(client, "recall_digest")
    assert as_resource.pop("digest_id") != as_tool.pop("digest_id")
    assert as_resource == as_tool


async def test_a_record_is_shown_with_its_history_newest_first(connect: Connect, service: MemoryService) -> None:
    for fact in ("Lyon", "Porto", "Brno"):
        record = (await service.remember(ANN, "office", fact)).record
    async with connect(service) as client:
        shown = await read_json(client, f"memory://records/{record.id}")
    assert shown["record"]["text"] == "Brno"
    assert [version["text"] for version in shown["history"]] == ["Porto", "Lyon"]
    assert all(version["superseded_by"] == record.id and version["valid_to"] for version in shown["history"])


async def test_a_scope_is_read_back_page_by_page(connect: Connect, service: MemoryService) -> None:
    keys = [f"topic {number:03} ünï/?&" for number in range(PAGE_SIZE + 3)]
    for key in keys:
        await service.remember(ANN, key, "a fact")
    async with connect(service) as client:
        first = await read_json(client, "memory://scopes/actor%3Aann")
        last = await read_json(client, first["next"])
    assert [record["key"] for page in (first, last) for record in page["records"]] == keys
    assert "next" not in last
    assert last["scope"] == "actor:ann"


@pytest.mark.parametrize("name", ["a b#c%d[e]", "ünï/é?x=1&y", "../../etc", "AND", "数据 库"])
async def test_any_actor_and_project_can_read_their_scopes_back(
    connect: Connect, service: MemoryService, name: str
) -> None:
    actor = Actor(name, tenant_id=name)
    await service.remember(RequestContext(actor, project=name), "k", "f", where="project")
    async with connect(service, actor=actor, project=name) as client:
        stats = await read_json(client, "memory://stats")
        pages = [await read_json(client, place["uri"]) for place in stats["scopes"]]
    assert [(page["scope"], len(page["records"])) for page in pages] == [
        (place["scope"], place["records"]) for place in stats["scopes"]
    ]
    assert pages[0]["records"][0]["key"] == "k"


async def test_the_statistics_name_every_scope_with_its_page(connect: Connect, service: MemoryService) -> None:
    await service.remember(ANN, "office", "Lyon")
    last = (await service.remember(ANN, "office", "Porto")).record
    await service.remember(BOB, "office", "Brno")
    async with connect(service) as client:
        stats = await read_json(client, "memory://stats")
    assert [(place["scope"], place["records"]) for place in stats["scopes"]] == [
        ("actor:ann", 1),
        ("tenant:acme", 0),
        ("global", 0),
    ]
    assert (stats["records"], stats["versions"], stats["pinned"]) == (1, 2, 0)
    assert stats["last_write"] == last.updated_at


async def test_unknown_foreign_and_erased_records_are_answered_alike(connect: Connect, service: MemoryService) -> None:
    bobs = (await service.remember(BOB, "office", "Brno")).record.id
    mine = (await service.remember(ANN, "office", "Lyon")).record.id
    await service.forget(ANN, id=mine)
    async with connect(service) as client:
        errors = [(await not_readable(client, record_uri(id)), id) for id in ("unknown", bobs, mine)]
    assert {(error.error.code, error.error.message.replace(id, "…")) for error, id in errors} == {
        (-32602, "No memory '…' is visible to you. Read memory://digest to see ids.")
    }


async def test_a_scope_of_others_is_answered_like_none_at_all(connect: Connect, service: MemoryService) -> None:
    await service.remember(BOB, "office", "Brno")
    async with connect(service) as client:
        errors = [(await not_readable(client, scope_uri(scope)), scope) for scope in ("actor:bob", "actor:nobody")]
    assert len({(error.error.code, error.error.message.replace(scope, "…")) for error, scope in errors}) == 1


@pytest.mark.parametrize(
    "uri",
    [
        "memory://nothing",
        "memory://records/",
        "memory://scopes/",
        "memory://block/more",
        "memory://records/%00",
        "memory://stats?query=x",
        "memory://" + "x" * 500,
        "https://example.com/",
        "memory:",
    ],
)
async def test_a_uri_that_is_no_resource_is_the_caller_s_fault(
    connect: Connect, service: MemoryService, uri: str
) -> None:
    async with connect(service) as client:
        error = await not_readable(client, uri)
    assert error.error.code == -32602
    assert "x" * 81 not in error.error.message


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("memory://scopes/actor%3Aann?cursor=bad", "'cursor', but memory://scopes/ takes after and after_id"),
        ("memory://scopes/actor%3Aann?after=office&page=2", "'page'"),
        ("memory://scopes/actor%3Aann?after_id=1", "after_id without after"),
        ("memory://block?q=tea", "memory://block takes query"),
        ("memory://records/1?version=2", "memory://records/ takes no variables"),
        ("memory://stats?query=x", "memory://stats takes no variables"),
        ("memory://block?" + "x" * 500, "memory://block takes query"),
    ],
)
async def test_a_variable_that_nobody_reads_is_refused_with_those_that_there_are(
    connect: Connect, service: MemoryService, uri: str, told: str
) -> None:
    """A client that asks for the next page in the wrong words would get the first one for ever."""
    await service.remember(ANN, "office", "Lyon")
    async with connect(service) as client:
        error = await not_readable(client, uri)
    assert error.error.code == -32602
    assert told in error.error.message
    assert "x" * 81 not in error.error.message


# --- addresses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ANNS_SCOPES, "a/b?c#d", "%2F", "ünï", "a b+c"])
def test_addresses_are_printed_and_parsed_without_loss(name: str) -> None:
    assert parse(record_uri(name)).name == name
    assert parse(scope_uri(name)).name == name
    for cursor in (PageCursor(name), PageCursor("office", name)):
        assert page_cursor(parse(scope_uri("global", after=cursor))) == cursor


@pytest.mark.parametrize(
    ("uri", "touched"),
    [
        ("memory://block", True),
        ("memory://block?query=x", True),
        ("memory://digest", True),
        ("memory://stats", True),
        ("memory://records/1", True),
        ("memory://records/2", False),
        ("memory://scopes/actor%3Aann", True),
        ("memory://scopes/actor:ann?after=x", True),
        ("memory://scopes/global", False),
        ("test://watched-resource", False),
    ],
)
def test_a_change_touches_what_shows_the_record_or_its_scope(uri: str, touched: bool) -> None:
    assert is_touched(uri, Change("actor:ann", "1")) is touched


# --- budgets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_tokens", [100, 400, 3_000])
async def test_max_tokens_is_a_ceiling_on_the_text_of_a_block(
    connect: Connect, service: MemoryService, max_tokens: int
) -> None:
    for number in range(30):
        await service.remember(ANN, f"topic {number}", f"A fact about tea number {number}.")
    async with connect(service) as client:
        for question in ("", "query=tea&"):
            text = await read(client, f"memory://block?{question}max_tokens={max_tokens}")
            assert estimate_tokens(text) <= max_tokens
            assert block_lines(text)


async def test_a_digest_holds_as_many_facts_as_its_json_may(connect: Connect, service: MemoryService) -> None:
    for number in range(10):
        await service.remember(ANN, f"topic {number}", f"A fact about tea number {number}.")
    async with connect(service) as client:
        text = await read(client, "memory://digest?max_tokens=1500")
        shown = json.loads(text)
        assert estimate_tokens(text) <= 1_500
        assert 0 < len(shown["entries"]) < 10
        assert len(shown["entries"]) + shown["omitted"] == 10
        with pytest.raises(MCPError, match="max_tokens is 100, too few for a fact as data"):
            await client.read_resource("memory://digest?max_tokens=100")


@pytest.mark.parametrize(("given", "told"), [("99", "the smallest budget is 100"), ("many", "must be a whole number")])
async def test_a_ceiling_that_cannot_be_kept_is_refused(
    connect: Connect, service: MemoryService, given: str, told: str
) -> None:
    async with connect(service) as client:
        with pytest.raises(MCPError, match=told):
            await client.read_resource(f"memory://block?max_tokens={given}")
