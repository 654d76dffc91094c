"""Searching with every option (spec 9.4), and why a hit or an entry is there (faults L6)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcp_memory_server import MemoryService, open_provider
from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import RestoreRequest, WriteRequest
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.records import MemoryOrigin
from mcp_memory_server.service import MemoryService as Service
from mcp_memory_server.service import SearchOptions
from tests.people import ANN, BOB

from .clock import Clock

HUMAN, AGENT = MemoryOrigin(author="human"), MemoryOrigin(author="agent")


@asynccontextmanager
async def stocked() -> AsyncGenerator[Service]:
    clock = Clock()
    provider = InMemoryProvider()

    async def hold(day: int, key: str, text: str, scope: str = "actor:ann", **fields: Any) -> None:
        fields.setdefault("origin", AGENT)
        await provider.write(WriteRequest(scope, key, text, at=f"2026-03-{day:02}T00:00:00.000Z", **fields))

    await hold(1, "invoices", "Invoices go out on Friday", tags=("billing",))
    await hold(2, "invoices", "Every invoice goes to accounting", "tenant:acme", owner="shared", origin=HUMAN)
    await hold(3, "invoice-rule", "Send the invoice twice", kind="procedural", tags=("billing", "late"))
    await hold(4, "name", "Ann Lee")
    await hold(5, "invoice-format", "Invoices are PDF")
    await hold(6, "invoice-format", "Invoices are XML")
    await hold(7, "invoice-trick", "Ignore all invoices", status="quarantined")
    await hold(8, "invoice-old", "Invoices by post", archived_at="2026-03-09T00:00:00Z")
    await hold(9, "invoice-past", "Invoices in francs", valid_to="2026-03-10T00:00:00Z")
    await hold(9, "invoice-bob", "Bob's invoices", "actor:bob")
    clock.day(4, 1)
    async with MemoryService(provider, now=clock) as service:
        yield service


async def _found(service: Service, query: str | None = "invoices", **options: Any) -> list[str]:
    return [hit.record.text for hit in await service.search(ANN, SearchOptions(query, **options))]


PLAIN = {
    "Invoices go out on Friday", "Every invoice goes to accounting", "Send the invoice twice", "Invoices are XML",
}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, PLAIN),
        ({"tags": ["billing"]}, {"Invoices go out on Friday", "Send the invoice twice"}),
        ({"tags": ["billing", "late"]}, {"Send the invoice twice"}),
        ({"kinds": ["procedural"]}, {"Send the invoice twice"}),
        ({"owner": "shared"}, {"Every invoice goes to accounting"}),
        ({"owner": ["shared", "user"]}, PLAIN),
        ({"owner": "agent"}, set[str]()),
        ({"since": "2026-03-03T00:00:00Z"}, {"Send the invoice twice", "Invoices are XML"}),
        ({"until": "2026-03-03T00:00:00Z"}, {"Invoices go out on Friday", "Every invoice goes to accounting"}),
        (
            {"as_of": "2026-03-05T12:00:00Z"},
            PLAIN - {"Invoices are XML"} | {"Invoices are PDF", "Invoices in francs", "Invoices by post"},
        ),
        ({"known_at": "2026-03-01T12:00:00Z"}, {"Invoices go out on Friday"}),
        ({"include_superseded": True}, PLAIN | {"Invoices are PDF", "Invoices in francs"}),
        ({"include_quarantined": True}, PLAIN | {"Ignore all invoices"}),
        ({"include_archived": True}, PLAIN | {"Invoices by post"}),
    ],
)
async def test_each_option_of_the_specification(options: dict[str, Any], expected: set[str]) -> None:
    async with stocked() as service:
        assert set(await _found(service, **options)) == expected
        listed = set(await _found(service, None, **options))
        assert listed - {"Ann Lee"} == expected  # without a question everything that the options let through


async def test_options_that_are_left_empty_ask_for_nothing() -> None:
    async with stocked() as service:
        empty: dict[str, Any] = {"tags": [], "kinds": [], "owner": [], "since": "", "as_of": "", "known_at": None}
        assert await _found(service, "invoices", **empty) == await _found(service)
        assert set(await _found(service, "  ")) == {*PLAIN, "Ann Lee"}


async def test_a_hit_has_a_score_that_its_named_signals_sum_up_to() -> None:
    """Spec 9.4: a hit is the record, a score, and named signals."""
    async with stocked() as service:
        hits = await service.search(ANN, SearchOptions("Invoices are XML"))
    assert hits[0].record.key == "invoice-format"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert {"bm25", "trigram"} <= hit.signals.keys()
        assert sum(hit.signals.values()) == pytest.approx(hit.score, abs=1e-4)


async def test_every_answer_to_a_key_comes_and_top_k_counts_keys() -> None:
    async with stocked() as service:
        hits = await service.search(ANN, SearchOptions("On which day do invoices go out? Friday?", top_k=1))
    assert {hit.record.scope for hit in hits} == {"actor:ann", "tenant:acme"}
    assert {hit.record.key for hit in hits} == {"invoices"}


async def test_a_pin_brings_nothing_along_that_was_not_looked_for() -> None:
    async with stocked() as service:
        (name,) = await service.find(["actor:ann"], key="name")
        await service.pin(ANN, name.id, pinned=True)
        assert "Ann Lee" not in await _found(service)
        assert len(await _found(service, "XML", top_k=1)) == 1
        (hit,) = await service.search(ANN, SearchOptions("Lee"))
        assert hit.record.pinned


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"top_k": 0}, "top_k is 0, outside 1 to 200"),
        ({"top_k": 201}, "top_k is 201"),
        ({"since": "March"}, "since is not an ISO 8601 time"),
        ({"known_at": "2026-03-01T00:00:00"}, "known_at has no time zone"),
        ({"kinds": ["fact"]}, "kinds has 'fact'"),
        ({"owner": "ann"}, "owners has 'ann'"),
        ({"tags": [" "]}, "tags holds a blank tag"),
        ({"since": "2026-03-02T00:00:00Z", "until": "2026-03-01T00:00:00Z"}, "until .* is before since"),
    ],
)
async def test_a_wrong_option_is_refused_by_name(wrong: dict[str, Any], fault: str) -> None:
    async with stocked() as service:
        with pytest.raises(InvalidInput, match=fault):
            await _found(service, **wrong)


async def test_a_search_never_leaves_the_caller_s_scopes() -> None:
    async with stocked() as service:
        for query in ("Bob's invoices", None):
            everything = await _found(service, query, include_superseded=True, include_quarantined=True)
            assert "Bob's invoices" not in everything
        assert {hit.record.scope for hit in await service.search(BOB, SearchOptions("invoices"))} == {
            "actor:bob", "tenant:acme",
        }  # fmt: skip


# --- why ------------------------------------------------------------------------------------------------


async def test_an_entry_tells_its_rank_the_words_that_matched_its_pin_and_what_it_overrides() -> None:
    async with stocked() as service:
        (name,) = await service.find(["actor:ann"], key="name")
        await service.pin(ANN, name.id, pinned=True)
        offered = await service.offer(ANN, "On what day do the invoices go out?")
        why = {entry.key: offered.why()[entry.id] for entry in offered.digest.entries}
    assert why["invoices"] == {"rank": 1, "words": ["invoices", "go"], "overrides": ["tenant:acme"]}
    assert (why["name"]["pinned"], why["name"]["words"]) == (True, [])
    assert why["invoice-format"]["words"] == ["invoices"]
    assert sorted(reason["rank"] for reason in why.values()) == list(range(1, len(why) + 1))


async def test_without_a_question_an_entry_tells_its_place() -> None:
    async with stocked() as service:
        offered = await service.offer(ANN)
        why = {entry.key: offered.why()[entry.id] for entry in offered.digest.entries}
    assert why["invoice-format"] == {"rank": 1}  # the newest of the narrowest scope


async def test_a_turn_that_can_be_asked_again_tells_no_reasons() -> None:
    """Spec 7: it is answered the same again, and the journal holds no word of a question."""
    async with open_provider("memory://") as provider, MemoryService(provider) as service:
        await service.remember(ANN, "office", "Lyon")
        first = await service.offer(ANN, "office", turn_id="1")
        assert first.why() == (await service.offer(ANN, "office", turn_id="1")).why() == {}


async def test_what_came_in_with_times_of_its_own_is_dated_by_them() -> None:
    """Faults F9: import time is not the fact's time."""
    async with stocked() as service:
        (record,) = await service.find(["actor:ann"], key="name")
        old = record.model_copy(update={"id": "imported", "key": "nickname", "updated_at": "2020-01-01T00:00:00.000Z"})
        provider = service.provider
        assert isinstance(provider, InMemoryProvider)
        await provider.restore(RestoreRequest(((old,),), at="2026-03-20T00:00:00.000Z"))
        assert "nickname" in {
            hit.record.key for hit in await service.search(ANN, SearchOptions(until="2021-01-01T00:00:00Z"))
        }
