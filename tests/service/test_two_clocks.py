"""What was true on a day, what was believed on one, and the chain of what took whose place (spec 9.3)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from mcp_memory_server import MemoryService, open_provider
from mcp_memory_server.errors import InvalidInput, NotFound
from mcp_memory_server.providers.base import Group
from mcp_memory_server.service import MemoryService as Service
from mcp_memory_server.service import Retention, SearchOptions
from tests.people import ANN, BOB
from tests.watched_provider import WatchedProvider

from .clock import Clock

APRIL, MAY, JUNE = ("2026-04-15T00:00:00Z", "2026-05-15T00:00:00Z", "2026-06-15T00:00:00Z")


@asynccontextmanager
async def moved() -> AsyncGenerator[tuple[Service, Clock]]:
    """Ann lived in Lyon; on the first of June it is noted that she moved to Porto, and it is the end of June."""
    clock = Clock()
    kept = Retention(days=36_500)
    async with open_provider("memory://") as provider, MemoryService(provider, retention=kept, now=clock) as service:
        clock.day(4, 1)
        await service.remember(ANN, "home", "Lives in Lyon")
        clock.day(6, 1)
        await service.remember(ANN, "home", "Moved to Porto")
        clock.day(6, 30)
        yield service, clock


async def _shown(service: Service, query: str | None = None, **clocks: str | None) -> list[str]:
    offered = await service.offer(ANN, query, as_of=clocks.get("as_of"), known_at=clocks.get("known_at"))
    return [entry.text for entry in offered.digest.entries]


@pytest.mark.parametrize("query", [None, "Where does Ann live?"])
async def test_today_says_porto_and_last_month_says_lyon(query: str | None) -> None:
    """Faults F7: superseded facts are not recalled as current, and both clocks can be asked."""
    async with moved() as (service, _):
        if query is None:
            assert await _shown(service) == ["Moved to Porto"]
            assert await _shown(service, known_at="2026-03-01T00:00:00Z") == []
        for clocks in ({"as_of": MAY}, {"known_at": MAY}, {"as_of": JUNE, "known_at": MAY}):
            assert await _shown(service, query and "Lyon", **clocks) == ["Lives in Lyon"]
        assert await _shown(service, query and "Porto", as_of=JUNE) == ["Moved to Porto"]


async def test_a_move_dated_back_counts_from_its_date() -> None:
    async with moved() as (service, clock):
        await service.remember(ANN, "home", "Moved to Gent", valid_from="2026-05-01T00:00:00+02:00")
        clock.day(7, 1)
        assert await _shown(service, as_of="2026-04-30T21:59:59Z") == ["Lives in Lyon"]
        assert await _shown(service, as_of=MAY) == ["Moved to Gent"]
        assert await _shown(service, as_of=MAY, known_at=JUNE) == ["Lives in Lyon"]


async def test_the_caller_s_instant_anchors_everything_whatever_its_offset() -> None:
    """Faults F5."""
    async with moved() as (service, _):
        for as_of in ("2026-06-01T12:00:00Z", "2026-06-01T14:00:00+02:00", "2026-06-01T08:30:00-03:30"):
            offered = await service.offer(ANN, as_of=as_of)
            assert offered.digest.as_of == "2026-06-01T12:00:00.000Z"
            assert [entry.text for entry in offered.digest.entries] == ["Moved to Porto"]
        assert await _shown(service, as_of="2026-06-01T14:00:00+02:01") == ["Lives in Lyon"]


async def test_a_time_without_a_zone_is_refused_with_what_would_work() -> None:
    """Spec 9.3: times without a zone are refused."""
    async with moved() as (service, _):
        for clock in ("as_of", "known_at"):
            with pytest.raises(InvalidInput, match=f"{clock} has no time zone.*end it with Z or an offset"):
                await _shown(service, **{clock: "2026-05-15T00:00:00"})


async def test_the_block_says_which_time_it_is_about() -> None:
    async with moved() as (service, _):
        then = service.block(await service.offer(ANN, as_of=MAY))
        believed = service.block(await service.offer(ANN, known_at=MAY))
        both = service.block(await service.offer(ANN, as_of=JUNE, known_at=MAY))
        now = service.block(await service.offer(ANN))
    assert "true at 2026-05-15T00:00:00.000Z, as far as is known today. It is not what is true now." in then
    assert "believed at 2026-05-15T00:00:00.000Z. It is not what is known today." in believed
    assert "believed at 2026-05-15T00:00:00.000Z about 2026-06-15T00:00:00.000Z." in both
    assert "It is not what" not in now


async def test_a_digest_of_the_past_is_replayed_byte_for_byte() -> None:
    async with moved() as (service, _):
        shown = await service.offer(ANN, as_of=MAY, turn_id="turn")
        await service.remember(ANN, "home", "Moved to Gent", valid_from=APRIL)
        again = await service.offer(ANN, turn_id="turn")
        by_id = await service.offer(ANN, digest_id=shown.digest.digest_id)
        assert again.digest.model_dump_json() == by_id.digest.model_dump_json() == shown.digest.model_dump_json()
        assert service.block(again) == service.block(shown)
        with pytest.raises(InvalidInput, match="digest_id repeats a digest as it was shown"):
            await service.offer(ANN, digest_id=shown.digest.digest_id, as_of=MAY)


async def test_omitted_counts_what_was_true_then() -> None:
    async with moved() as (service, _):
        await service.remember(ANN, "car", "A bicycle")
        digest = (await service.offer(ANN, as_of=MAY, max_memories=1)).digest
        assert (len(digest.entries), digest.omitted) == (1, 1)


async def test_the_history_of_a_key_has_both_times_of_each_version() -> None:
    """Faults F8: a correction keeps the old fact, with valid and recorded time."""
    async with moved() as (service, _):
        story = await service.history(ANN, key="home")
    lyon, porto = story.versions
    assert (lyon.text, lyon.updated_at, lyon.valid_to) == (
        "Lives in Lyon", "2026-04-01T12:00:00.000Z", "2026-06-01T12:00:00.000Z",
    )  # fmt: skip
    assert lyon.superseded_by == porto.id
    assert (porto.text, porto.valid_to, porto.superseded_by) == ("Moved to Porto", None, None)


async def test_forgotten_and_superseded_are_told_apart() -> None:
    """Faults F8: `forget` shows a different state from `superseded`."""
    async with moved() as (service, _):
        await service.forget(ANN, key="home")
        with pytest.raises(NotFound):
            await service.history(ANN, key="home")
        assert await _shown(service, as_of=MAY) == []


async def test_records_that_take_each_other_s_place_are_a_chain() -> None:
    """Spec 9.3: supersession chains."""
    async with moved() as (service, clock):
        (home,) = await service.find(["actor:ann"], key="home")
        residence = (await service.remember(ANN, "residence", "Lives in Gent", supersedes=home.id)).record
        clock.day(7, 1)
        address = (await service.remember(ANN, "address", "Lives in Brno", supersedes=residence.id)).record
        clock.day(7, 2)
        assert await _shown(service) == ["Lives in Brno"]
        assert await _shown(service, as_of=JUNE) == ["Moved to Porto"]
        assert await _shown(service, as_of="2026-06-30T18:00:00Z") == ["Lives in Gent"]
        chains = {key: await service.history(ANN, key=key) for key in ("home", "residence", "address")}
        told = {
            key: ([other.key for other in story.supersedes], [other.key for other in story.superseded_by])
            for key, story in chains.items()
        }
        await service.forget(ANN, id=residence.id)
        broken = await service.history(ANN, id=address.id)
    assert told == {
        "home": ([], ["residence", "address"]),
        "residence": (["home"], ["address"]),
        "address": (["residence", "home"], []),
    }
    assert (broken.supersedes, broken.versions[-1].supersedes) == ((), residence.id)


async def test_nobody_s_fact_is_closed_but_one_s_own_at_the_same_scope() -> None:
    async with moved() as (service, _):
        bobs = (await service.remember(BOB, "home", "Lives in Rome")).record
        for foreign in (bobs.id, "no such id"):
            with pytest.raises(InvalidInput, match="supersedes names no active record at actor:ann"):
                await service.remember(ANN, "residence", "Lives in Gent", supersedes=foreign)
        assert (await service.offer(BOB)).digest.entries[0].text == "Lives in Rome"


async def test_history_takes_exactly_one_of_id_and_key_and_tells_nothing_of_others() -> None:
    async with moved() as (service, _):
        (home,) = await service.find(["actor:ann"], key="home")
        for wrong in ({}, {"id": home.id, "key": "home"}):
            with pytest.raises(InvalidInput, match="exactly one"):
                await service.history(ANN, **wrong)
        for nobodys in ({"id": home.id}, {"key": "home"}, {"key": ""}):
            with pytest.raises(NotFound):
                await service.history(BOB, **nobodys)


async def test_a_fact_to_come_says_from_when_it_is_shown() -> None:
    async with moved() as (service, _):
        to_come = await service.remember(ANN, "home", "Moves to Gent", valid_from="2026-08-01T00:00:00Z")
        assert to_come.validity_note is not None
        assert "shown from 2026-08-01T00:00:00.000Z on; until then nothing answers the key" in to_come.validity_note
        over = await service.remember(ANN, "car", "Had a car", valid_to="2025-01-01T00:00:00Z")
        assert over.validity_note is not None
        assert "ended at 2025-01-01T00:00:00.000Z" in over.validity_note
        assert (await service.remember(ANN, "pet", "A cat", valid_to="2027-01-01T00:00:00Z")).validity_note is None


async def test_a_store_without_a_search_answers_about_the_past_by_listing() -> None:
    clock = Clock()
    service = MemoryService(WatchedProvider(without=[Group.SEARCH]), now=clock)
    clock.day(4, 1)
    await service.remember(ANN, "home", "Lives in Lyon")
    clock.day(6, 1)
    await service.remember(ANN, "home", "Moved to Porto")
    assert await _shown(service, "anything", as_of=MAY) == ["Lives in Lyon"]
    hits = await service.search(ANN, SearchOptions("anything", as_of=MAY))
    assert [(hit.record.text, hit.score) for hit in hits] == [("Lives in Lyon", 0.0)]
