"""Selective recall over MCP (spec section 8), in both eras: the client picks, or a selector does, and nothing comes
twice. Each test names the sentence that it holds."""

import json
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest
from mcp.client import Client

from mcp_memory_server.identity import Actor
from mcp_memory_server.providers.base import Group
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.recall import RECALL_CAVEAT, SelectionRequest, encode_surfaced_key, estimate_tokens
from mcp_memory_server.service import Limits, MemoryService, SelectorGuard
from tests.people import ANN, ANN_IN_SHOP, BOB
from tests.watched_provider import WatchedProvider

from .answers import called, data_of, refused, text_of
from .conftest import Connect

OVER_THREE = Limits(selective_over=3)
NOTES = {
    "deploy day": "Tuesdays, after the [[release list]] is done.",
    "release list": "Tag, changelog, wheel.",
    "lunch": "Noodles at the corner.",
    "parking": "The garage closes at nine.",
    "coffee": "Black, without sugar.",
    "train": "The 7:42 from platform 3.",
}
WHEN = "when do we deploy"


async def large_store(limits: Limits = OVER_THREE, **options: Any) -> MemoryService:
    """A service whose store is too large to show whole."""
    service = MemoryService(InMemoryProvider(), limits=limits, **options)
    for key, fact in NOTES.items():
        await service.remember(ANN, key, fact)
    return service


async def manifest(client: Client, **arguments: Any) -> dict[str, Any]:
    return await called(client, "recall_digest", mode="manifest", **arguments)


async def selective(client: Client, **arguments: Any) -> dict[str, Any]:
    return await called(client, "recall_digest", mode="selective", **arguments)


def keys_of(answer: dict[str, Any]) -> list[str]:
    return [entry["key"] for entry in answer["entries"]]


def ids_of(listed: dict[str, Any], *keys: str) -> list[str]:
    by_key = {note["key"]: note["id"] for note in listed["manifest"]}
    return [by_key[key] for key in keys]


# --- the client as the selector ---------------------------------------------------------------------


async def test_the_client_picks_in_two_calls_manifest_first_and_then_the_ids(connect: Connect) -> None:
    """ "the client itself in two calls, manifest first and then the ids it picked"; links come in their own part."""
    async with connect(await large_store()) as client:
        listing = await client.call_tool("recall_digest", {"mode": "manifest", "objective": WHEN})
        listed = data_of(listing)
        assert (listed["outcome"], listed["surfaced"], listed["entries"]) == ("manifest", [], [])
        assert {note["key"] for note in listed["manifest"]} == set(NOTES)
        assert listed["manifest"][0]["key"] == "deploy day"
        for note in listed["manifest"]:
            assert f"- {note['id']} (semantic, today) {note['key']}" in text_of(listing).splitlines()
        assert "Tuesdays" not in text_of(listing) + json.dumps(listed)
        picked = await client.call_tool("recall_digest", {"ids": ids_of(listed, "deploy day")})
    block = data_of(picked)
    assert block["outcome"] == "block"
    assert keys_of(block) == ["deploy day", "release list"]
    selected, linked = text_of(picked).split("Named in those notes, one step away:")
    assert "Tuesdays, after the [[release list]] is done." in selected
    assert "Tag, changelog, wheel." in linked
    assert text_of(picked).startswith(f"<memory>\n{RECALL_CAVEAT}\n")
    assert "(concluded by the assistant, today)" in selected


async def test_surfaced_keys_are_opaque_and_keep_notes_from_coming_twice(connect: Connect) -> None:
    """ "The caller keeps the set of keys already shown in its conversation and passes it back; they are filtered out
    *before* the selector sees the manifest." """
    async with connect(await large_store()) as client:
        listed = await manifest(client, objective=WHEN)
        block = await called(client, "recall_digest", ids=ids_of(listed, "deploy day"))
        assert set(block["surfaced"]) == {encode_surfaced_key(e["scope"], e["id"]) for e in block["entries"]}
        assert not any(entry["id"] in key for entry in block["entries"] for key in block["surfaced"])
        rest = await manifest(client, objective=WHEN, seen=block["surfaced"])
        assert {note["key"] for note in rest["manifest"]} == set(NOTES) - {"deploy day", "release list"}
        assert rest["left_out"] == {"shown_before": 2, "further": 0}
        again = await called(client, "recall_digest", ids=ids_of(listed, "deploy day"), seen=block["surfaced"])
    assert (again["outcome"], again["surfaced"], again["entries"]) == ("nothing_new", [], [])


async def test_everything_shown_is_nothing_new_and_a_success(connect: Connect) -> None:
    """ "`nothing_new` (everything selectable was shown before: inject nothing, surfaced is empty; it is a success, not
    a fallback)" """
    service = await large_store()
    async with connect(service) as client:
        everything = (await service.peek(ANN, 200)).entries
        seen = [encode_surfaced_key(entry.scope, entry.id) for entry in everything]
        for arguments in ({"mode": "manifest"}, {"mode": "selective", "objective": WHEN}, {"ids": [everything[0].id]}):
            result = await client.call_tool("recall_digest", {**arguments, "seen": seen})
            assert (data_of(result)["outcome"], data_of(result)["surfaced"]) == ("nothing_new", [])
            assert "<memory>" not in text_of(result)
            assert "Nothing new" in text_of(result)


async def test_ids_that_are_not_there_show_the_whole_block_and_lose_nothing(connect: Connect) -> None:
    """ "`validate_selected_ids`: only ids in the manifest (drops invented ones), no duplicates, at most `max`" """
    async with connect(await large_store()) as client:
        listed = await manifest(client)
        invented = await client.call_tool("recall_digest", {"ids": ["no such id", "01a"]})
        answer = data_of(invented)
        assert (answer["outcome"], answer["reason"], answer["surfaced"]) == ("degrade", "selector_invented", [])
        assert set(keys_of(answer)) == set(NOTES)
        assert "Noodles" in text_of(invented)
        assert "the ids name none of them" in text_of(invented)
        lunch = ids_of(listed, "lunch")
        some = await called(client, "recall_digest", ids=[*lunch, "no such id", *lunch])
        assert keys_of(some) == ["lunch"]
        every = [note["id"] for note in listed["manifest"]]
        assert len((await called(client, "recall_digest", ids=every))["entries"]) >= 5
        few = await client.call_tool("recall_digest", {"ids": lunch + every, "max_memories": 1})
        assert keys_of(data_of(few)) == ["lunch"]
        assert "(5 more were picked than are shown at once: ask again for the rest)" in text_of(few)


async def test_to_pick_nothing_is_an_answer_and_pinned_notes_come_along_all_the_same(connect: Connect) -> None:
    service = await large_store()
    pinned = (await service.remember(ANN, "allergy", "Peanuts.")).record
    await service.pin(ANN, pinned.id, pinned=True)
    async with connect(service) as client:
        listing = await client.call_tool("recall_digest", {"mode": "manifest"})
        assert "(semantic, pinned, today) allergy" in text_of(listing)
        block = await called(client, "recall_digest", ids=[])
        assert keys_of(block) == ["allergy"]
        assert (await called(client, "recall_digest", ids=[], seen=block["surfaced"]))["outcome"] == "nothing_new"


async def test_a_manifest_says_how_many_notes_it_leaves_out_and_lists_the_likeliest(connect: Connect) -> None:
    """ "capped in both lines and bytes, and it says how many were left out" """
    service = await large_store()
    for number in range(300):
        await service.remember(ANN, f"topic {number}", f"A fact about thing {number}.")
    async with connect(service) as client:
        result = await client.call_tool("recall_digest", {"mode": "manifest", "objective": WHEN})
    listed = data_of(result)
    count = len(listed["manifest"])
    assert listed["manifest"][0]["key"] == "deploy day"
    assert 100 < count < 200
    assert listed["left_out"] == {"shown_before": 0, "further": len(NOTES) + 300 - count}
    assert f"({listed['left_out']['further']} more are not listed)" in text_of(result)
    assert len(text_of(result).encode()) < 17_000


async def test_a_link_leads_to_a_note_however_far_down_it_ranks(connect: Connect) -> None:
    """ "`resolve_links`: notes named by `[[key]]` in the selected ones, one hop" """
    service = await large_store()
    for number in range(250):
        await service.remember(ANN, f"deploy {number}", f"When we deploy thing {number}.")
    await service.remember(ANN, "deploy day", "We deploy when the [[zebra]] sleeps.")
    await service.remember(ANN, "zebra", "Striped.")
    async with connect(service) as client:
        listed = await manifest(client, objective=WHEN)
        assert "zebra" not in {note["key"] for note in listed["manifest"]}
        block = await selective(client, objective="deploy day")
    assert {"deploy day", "zebra"} <= set(keys_of(block))


# --- a selector on the server -------------------------------------------------------------------------


async def test_the_built_in_selector_is_the_search(connect: Connect) -> None:
    """ "Built in: the provider's own search" """
    async with connect(await large_store()) as client:
        block = await selective(client, objective=WHEN)
        assert keys_of(block) == ["deploy day", "release list"]
        assert (block["outcome"], len(block["surfaced"])) == ("block", 2)
        again = await selective(client, objective=WHEN, seen=block["surfaced"])
        assert again["outcome"] == "nothing_new"
        other = await selective(client, objective="coffee?", seen=block["surfaced"])
        assert "coffee" in keys_of(other)


class Picks:
    """A selector of the deployment's own that answers what it was made with, and keeps what it was asked."""

    def __init__(self, answer: Sequence[str] | Exception) -> None:
        self.answer = answer
        self.asked: list[SelectionRequest] = []

    async def select(self, request: SelectionRequest) -> Sequence[str]:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        by_key = {note.key: name for note, name in request.manifest.named}
        return [by_key.get(key, key) for key in self.answer]


async def test_a_selector_of_the_deployment_sees_a_manifest_without_texts_and_picks(connect: Connect) -> None:
    """ "`Selector` (async seam): `(objective, manifest, recent_tools) -> ids`"; "a deployment can plug in a model" """
    selector = Picks(["lunch"])
    async with connect(await large_store(selector=SelectorGuard(selector))) as client:
        block = await selective(client, objective="where to eat")
        assert keys_of(block) == ["lunch"]
        await selective(client, objective="where to eat", seen=block["surfaced"])
    first, second = selector.asked
    assert first.objective == "where to eat"
    assert "Noodles" not in first.manifest.text
    assert "lunch" in first.manifest.text
    assert "lunch" not in second.manifest.text


@pytest.mark.parametrize(
    ("answer", "reason", "said"),
    [
        (RuntimeError("down"), "selector_failed", "the selector failed"),
        (["invented"], "selector_invented", "the ids name none of them"),
    ],
)
async def test_a_selector_that_fails_or_lies_is_told_and_the_whole_block_is_shown(
    connect: Connect, answer: Any, reason: str, said: str
) -> None:
    """ "`degrade` …: fall back to the whole block, surfaced is empty, nothing is lost" """
    async with connect(await large_store(selector=SelectorGuard(Picks(answer)))) as client:
        result = await client.call_tool("recall_digest", {"mode": "selective", "objective": WHEN})
    degraded = data_of(result)
    assert (degraded["outcome"], degraded["reason"], degraded["surfaced"]) == ("degrade", reason, [])
    assert set(keys_of(degraded)) == set(NOTES)
    assert text_of(result).startswith(f"No notes could be picked: {said}. Here is the whole block instead")


async def test_without_search_there_is_nothing_to_pick_by_and_the_whole_block_is_shown(connect: Connect) -> None:
    service = MemoryService(WatchedProvider(without=[Group.SEARCH]), limits=OVER_THREE)
    for key, fact in NOTES.items():
        await service.remember(ANN, key, fact)
    async with connect(service) as client:
        answer = await selective(client, objective=WHEN)
        assert (answer["outcome"], set(keys_of(answer))) == ("degrade", set(NOTES))
        listed = await manifest(client, objective=WHEN)
    assert {note["key"] for note in listed["manifest"]} == set(NOTES)


# --- small and empty stores ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["manifest", "selective"])
async def test_a_small_store_is_shown_whole_and_then_only_what_is_new(connect: Connect, mode: str) -> None:
    service = await large_store(Limits(selective_over=len(NOTES) + 1))
    async with connect(service) as client:
        first = await called(client, "recall_digest", mode=mode, objective=WHEN)
        assert (first["outcome"], set(keys_of(first))) == ("block", set(NOTES))
        assert (await called(client, "recall_digest", mode=mode, objective=WHEN, seen=first["surfaced"]))[
            "outcome"
        ] == "nothing_new"
        await service.remember(ANN, "new", "one")
        result = await client.call_tool("recall_digest", {"mode": mode, "objective": WHEN, "seen": first["surfaced"]})
        assert keys_of(data_of(result)) == ["new"]
        assert "absence from it proves nothing" in text_of(result)


async def test_max_memories_is_a_ceiling_on_a_small_store_too(connect: Connect) -> None:
    async with connect(await large_store(Limits(selective_over=100))) as client:
        assert keys_of(await selective(client, objective="coffee", max_memories=1)) == ["coffee"]


@pytest.mark.parametrize("mode", ["manifest", "selective"])
async def test_an_empty_store_degrades_to_the_block_that_says_so(
    connect: Connect, service: MemoryService, mode: str
) -> None:
    async with connect(service) as client:
        result = await client.call_tool("recall_digest", {"mode": mode, "objective": WHEN})
    assert (data_of(result)["outcome"], data_of(result)["reason"]) == ("degrade", "empty_scope")
    assert "Nothing is remembered here yet" in text_of(result)


# --- conversations that the server keeps --------------------------------------------------------------


async def test_the_server_keeps_what_a_conversation_was_shown(connect: Connect) -> None:
    async with connect(await large_store()) as client:
        first = await selective(client, objective=WHEN, conversation_id="talk")
        assert (keys_of(first), first["kept"]) == (["deploy day", "release list"], True)
        assert (await selective(client, objective=WHEN, conversation_id="talk"))["outcome"] == "nothing_new"
        rest = await manifest(client, conversation_id="talk")
        assert {note["key"] for note in rest["manifest"]} == set(NOTES) - {"deploy day", "release list"}
        assert (await selective(client, objective=WHEN, conversation_id="other talk"))["outcome"] == "block"


async def test_conversations_of_other_actors_never_meet(connect: Connect) -> None:
    service = await large_store()
    await service.state(ANN, "office", "Lyon", scope="tenant:acme", elevated=True)
    async with connect(service) as client:
        assert keys_of(await selective(client, objective="office", conversation_id="talk")) == ["office"]
        assert (await selective(client, objective="office", conversation_id="talk"))["outcome"] == "nothing_new"
    async with connect(service, actor=BOB.actor) as client:
        assert keys_of(await selective(client, objective="office", conversation_id="talk")) == ["office"]


async def test_a_corrected_note_is_shown_again_to_a_conversation_that_the_server_keeps(connect: Connect) -> None:
    async with connect(await large_store()) as client:
        await selective(client, objective="coffee", conversation_id="talk")
        await called(client, "remember", key="coffee", fact="With milk now.")
        again = await selective(client, objective="coffee", conversation_id="talk")
    assert [entry["text"] for entry in again["entries"]] == ["With milk now."]


async def test_a_provider_that_keeps_no_sets_says_what_to_do_instead(connect: Connect) -> None:
    service = MemoryService(WatchedProvider(without=[Group.SURFACED]))
    async with connect(service) as client:
        told = await refused(client, "recall_digest", mode="selective", objective=WHEN, conversation_id="talk")
    assert "send them as seen" in told


async def test_a_turn_asked_again_is_shown_the_same_notes(connect: Connect) -> None:
    """The answer to the first request may have been lost, and with it what the server has noted as shown."""
    async with connect(await large_store()) as client:
        first = await selective(client, objective=WHEN, conversation_id="talk", turn_id="1")
        again = await selective(client, objective=WHEN, conversation_id="talk", turn_id="1")
        replay = await called(client, "recall_digest", digest_id=first["digest_id"])
    assert first["digest_id"] == again["digest_id"]
    assert keys_of(first) == keys_of(again) == keys_of(replay)
    assert first["surfaced"] == again["surfaced"]


async def test_what_is_forgotten_comes_back_neither_by_id_nor_in_a_manifest(connect: Connect) -> None:
    async with connect(await large_store()) as client:
        listed = await manifest(client)
        lunch = ids_of(listed, "lunch")
        await called(client, "forget", key="lunch")
        assert "lunch" not in {note["key"] for note in (await manifest(client))["manifest"]}
        assert (await called(client, "recall_digest", ids=lunch))["reason"] == "selector_invented"


# --- who may see what ---------------------------------------------------------------------------------


async def test_all_scopes_that_apply_are_layered_and_the_narrowest_answer_stands(connect: Connect) -> None:
    """ "Layered recall: several scopes in order, one caveat and one fence for all" """
    service = await large_store()
    await service.state(ANN, "deploy day", "Never on Fridays", scope="tenant:acme", elevated=True)
    await service.state(ANN, "holidays", "In August", scope="tenant:acme", elevated=True)
    await service.remember(ANN_IN_SHOP, "deploy day", "Daily in the shop", where="project")
    async with connect(service, project="shop") as client:
        listing = await client.call_tool("recall_digest", {"mode": "manifest"})
        listed = data_of(listing)
        assert len([note for note in listed["manifest"] if note["key"] == "deploy day"]) == 1
        assert "tenant:acme) holidays" in text_of(listing)
        result = await client.call_tool("recall_digest", {"ids": ids_of(listed, "deploy day", "holidays")})
    text = text_of(result)
    assert text.count("<memory>") == text.count("</memory>") == text.count(RECALL_CAVEAT) == 1
    assert "- [actor:ann#shop] deploy day: Daily in the shop" in text
    assert "    ↳ [tenant:acme] person: Never on Fridays" in text
    assert "- [tenant:acme] holidays: In August" in text


async def test_nothing_comes_in_a_manifest_that_a_block_would_not_show(connect: Connect) -> None:
    """The ceiling of sensitivity, what holds now, quarantine, threads and foreign scopes count here too."""
    service = await large_store()
    await service.remember(ANN, "salary", "A secret sum", sensitivity="secret")
    await service.remember(ANN, "old office", "Porto", valid_to="2020-01-01T00:00:00Z")
    await service.remember(ANN, "guess", "Perhaps", provenance="extraction")
    await service.kinds.notes.note(ANN, "thread note", "Of another conversation", "session")
    hidden = {"salary", "old office", "guess", "thread note", "bobs"}
    await service.remember(BOB, "bobs", "His alone")
    async with connect(service) as client:
        listing = await client.call_tool("recall_digest", {"mode": "manifest"})
        assert {note["key"] for note in data_of(listing)["manifest"]} == set(NOTES)
        assert data_of(listing)["left_out"]["further"] == 0
        held = await service.provider.list(_everything())
        ids = [record.id for record in held.records if record.key in hidden]
        assert len(ids) == len(hidden)
        assert (await called(client, "recall_digest", ids=ids))["reason"] == "selector_invented"


def _everything() -> Any:
    from mcp_memory_server.providers.base import SET_ASIDE_TOO, ListRequest  # noqa: PLC0415  # for this test alone

    return ListRequest(("actor:ann", "actor:bob"), filter=SET_ASIDE_TOO)


# --- budgets --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_tokens", [100, 150, 300, 700, 5_000])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": WHEN},
        {"mode": "manifest"},
        {"mode": "selective", "objective": WHEN},
        {"ids": ["none"]},
        {"ids": []},
    ],
    ids=str,
)
async def test_max_tokens_is_a_hard_ceiling_in_every_mode_and_data_follow_the_text(
    connect: Connect, arguments: dict[str, Any], max_tokens: int
) -> None:
    service = await large_store()
    await service.state(ANN, "long", "A very long fact about deploying. " * 6)
    async with connect(service) as client:
        result = await client.call_tool("recall_digest", {**arguments, "max_tokens": max_tokens})
    answer, text = data_of(result), text_of(result)
    assert estimate_tokens(text) <= max_tokens
    assert text
    for entry in answer["entries"]:
        assert f"{entry['key']}: {entry['text'].split('… (cut')[0]}" in text
    for note in answer.get("manifest", []):
        assert note["id"] in text
    assert answer["entries"] or answer.get("manifest") or answer["outcome"] == "nothing_new"
    total = len(NOTES) + 1
    if "outcome" not in answer or answer["outcome"] in ("degrade", "manifest"):
        shown = len(answer["entries"]) + len(answer.get("manifest", ()))
        assert "query" in arguments or shown + answer["omitted"] == total


async def test_a_budget_smaller_than_the_best_hit_returns_a_marked_excerpt_as_text_and_as_data(
    connect: Connect,
) -> None:
    service = MemoryService(InMemoryProvider(), limits=Limits(max_fact_chars=5_000))
    await service.remember(ANN, "deploy day", "The beginning of it. " + "and more " * 400)
    async with connect(service) as client:
        for arguments in ({"query": WHEN}, {"mode": "selective", "objective": WHEN}):
            result = await client.call_tool("recall_digest", {**arguments, "max_tokens": 100})
            (entry,) = data_of(result)["entries"]
            assert "cut to fit" in text_of(result)
            assert "The beginning of it." in text_of(result)
            assert entry["cut"] is True
            assert entry["text"].startswith("The beginning of it.")
            assert estimate_tokens(entry["text"]) <= 100


async def test_the_smallest_budget_is_told(connect: Connect, service: MemoryService) -> None:
    async with connect(service) as client:
        assert "max_tokens must be at least 100" in await refused(client, "recall_digest", max_tokens=99)


# --- arguments ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"objective": "x", "seen": ["k"], "conversation_id": "c"}, ("objective", "seen", "conversation_id")),
        ({"mode": "digest", "objective": "x"}, ("objective belongs to the modes manifest and selective",)),
        ({"mode": "manifest", "as_of": "2026-01-01T00:00:00Z", "digest_id": "d"}, ("as_of", "digest_id")),
        ({"mode": "selective"}, ("objective is required",)),
        ({"mode": "selective", "objective": "  "}, ("objective is required",)),
        ({"mode": "selective", "ids": ["a"], "known_at": "2026-01-01T00:00:00Z"}, ("leave mode out", "known_at")),
        ({"mode": "digest", "ids": ["a"]}, ("leave mode out",)),
        ({"mode": "all", "objective": 7, "seen": 7}, ("mode must be one of", "objective", "seen")),
        ({"mode": "selective", "limit": 3}, ("limit", "objective is required")),
    ],
)
async def test_arguments_that_do_not_go_together_are_named_all_at_once(
    connect: Connect, service: MemoryService, arguments: dict[str, Any], told: Sequence[str]
) -> None:
    async with connect(service) as client:
        text = await refused(client, "recall_digest", **arguments)
    for part in told:
        assert part in text


async def test_absent_arguments_may_be_null_or_empty(connect: Connect) -> None:
    absent = {"mode": None, "objective": "", "ids": None, "seen": None, "conversation_id": "", "max_tokens": None}
    async with connect(await large_store()) as client:
        assert "outcome" not in await called(client, "recall_digest", **absent)
        assert "outcome" in await called(client, "recall_digest", **absent | {"mode": "manifest"})


async def test_a_question_stands_in_for_the_objective(connect: Connect) -> None:
    async with connect(await large_store()) as client:
        assert "coffee" in keys_of(await selective(client, query="coffee"))


async def test_every_outcome_fits_the_schema_that_the_tool_publishes(connect: Connect) -> None:
    async with connect(await large_store(), actor=Actor("ann")) as client:
        (schema,) = [t.output_schema for t in (await client.list_tools()).tools if t.name == "recall_digest"]
        listed = await manifest(client)
        block = await called(client, "recall_digest", ids=ids_of(listed, "lunch"), conversation_id="talk")
        nothing = await called(client, "recall_digest", ids=[])
        outcomes = [listed, block, nothing, await called(client, "recall_digest", ids=["no such id"])]
    for answer in outcomes:
        jsonschema.validate(answer, schema or {})
        assert "null" not in json.dumps(answer)
    assert {answer["outcome"] for answer in outcomes} == {"manifest", "block", "nothing_new", "degrade"}
