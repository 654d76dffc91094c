"""Bound write options (spec 10.3): every write carries them, every read is confined, and nothing runs unconfined."""

import contextvars
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from mcp_memory_server.errors import InvalidInput, InvalidOption, NotSupported, OptionNotHonoured, StoreError
from mcp_memory_server.exchange.json_lines import header_line, read_records, record_lines
from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.providers import base, open_provider
from mcp_memory_server.providers.base import (
    Capabilities,
    Group,
    JournaledDigest,
    JournalLookup,
    Listing,
    ListRequest,
    MemoryProvider,
    PruneRequest,
    RecordVectors,
    VectorsWrite,
    VersionRef,
    WriteOption,
)
from mcp_memory_server.providers.contract import CHECKS, Check, Store
from mcp_memory_server.providers.contract.samples import AGENT, ANN, BOB, listed, minute, raw_record, remember, writing
from mcp_memory_server.providers.contract.store import EveryGroup, bound, opened
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.providers.options import WriteOptions, bind_write_options, namespace_token, namespaces, put
from mcp_memory_server.records import MemoryRecord
from mcp_memory_server.service import MemoryService
from tests.providers.matrix import STORES

ACME = {"tenant": "acme"}
ZENITH = {"tenant": "zenith"}
NOT_CONFINED = {Group.MAINTAIN, Group.CARRY}


def _bound_store(folder: Path) -> Store:
    """A store that is used by others too, seen from one namespace."""
    inner = STORES["memory"](folder)

    @asynccontextmanager
    async def open_bound() -> AsyncGenerator[MemoryProvider]:
        async with inner.open() as provider:
            others = bound(provider, namespace=ZENITH)
            await remember(others, "office", "Porto, and the xylocarp", at=90)
            yield bind_write_options(provider, namespace=ACME)

    return Store(open_bound, inner.durable, inner.shared, inner.files)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
async def test_a_confined_provider_keeps_the_whole_contract(check: Check, tmp_path: Path) -> None:
    """10.3: "every read is confined by the namespace": it is a provider like any other, with nobody else in it."""
    outcome = await check.run(_bound_store(tmp_path))
    assert outcome == ("absent" if check.groups & NOT_CONFINED else "held")


def test_every_group_of_calls_is_confined_or_left_out() -> None:
    """Who adds a group decides here whether a namespace can confine it."""
    confined = bind_write_options(InMemoryProvider(), namespace=ACME).capabilities
    assert confined.groups == set(Group) - NOT_CONFINED


def test_no_field_of_the_seam_says_where_something_stands_under_a_name_that_is_not_mapped() -> None:
    """The namespace goes by the names of fields: a new one has to be told apart here."""
    told_apart = {"scope", "scopes", "replace_at", "actor_id"}
    suspicious = {
        field.name
        for value in vars(base).values()
        if isinstance(value, type) and is_dataclass(value)
        for field in fields(value)
        if any(part in field.name for part in ("scope", "actor", "tenant", "namespace", "replace_at"))
    }
    assert suspicious - told_apart == {"actors", "by_scope"}  # a prefix, mapped by hand; and counts, mapped inside
    assert told_apart == namespaces._PLACES  # pyright: ignore[reportPrivateUsage]


# --- options of a bound provider -------------------------------------------------------------------------------------


async def test_every_write_carries_what_is_bound() -> None:
    """10.3: "a provider whose every write carries the options"; "a call may override `extraction` only by asking for
    something"."""
    async with opened(Store(lambda: open_provider("memory://"))) as provider:
        skipping = bound(provider, extraction="skip", namespace=ACME)
        written = [
            await skipping.write(writing("written", "text")),
            *await skipping.write_many([writing("one of many", "text")]),
            await put(skipping, writing("put", "text"), WriteOptions()),
        ]
        assert {each.record.extraction for each in written} == {"skip"}
        await skipping.restore(base.RestoreRequest(((raw_record("id-1", "restored", "text"),),), at=minute(1)))
        assert {record.extraction for record in (await listed(skipping)).records} == {"skip"}
        asked = await put(skipping, writing("asked", "text"), WriteOptions(extraction="allow"))
        assert asked.record.extraction == "allow"
        kept = raw_record("id-2", "restored, too", "text", extraction="allow")
        await skipping.restore(base.RestoreRequest(((kept,),), at=minute(1)))
        assert (await listed(skipping, keys=(kept.key,))).records == (kept,)


async def test_a_bound_namespace_is_never_replaced() -> None:
    """10.3: "a bound namespace is never replaced per call"."""
    async with opened(Store(lambda: open_provider("memory://"))) as provider:
        acme = bound(provider, namespace=ACME)
        assert acme.capabilities.honours == {WriteOption.EXTRACTION}
        for namespace in (ZENITH, ACME, lambda: ZENITH):
            with pytest.raises(OptionNotHonoured, match="namespace_scope"):
                bind_write_options(acme, namespace=namespace)
        with pytest.raises(OptionNotHonoured, match="namespace_scope"):
            await put(acme, writing("key", "text"), WriteOptions(namespace_scope=ZENITH))
        assert (await listed(provider)).keys == (await listed(acme)).keys == 0


TENANT: contextvars.ContextVar[Any] = contextvars.ContextVar("tenant")


@asynccontextmanager
async def by_request() -> AsyncGenerator[EveryGroup]:
    async with open_provider("memory://") as provider:
        yield bound(provider, namespace=TENANT.get)


async def test_a_namespace_function_is_asked_at_every_call() -> None:
    async with by_request() as provider:
        TENANT.set(ACME)
        await remember(provider, "office", "Lyon")
        TENANT.set(ZENITH)
        assert (await listed(provider)).records == ()
        TENANT.set({"tenant": "acme"})
        assert (await listed(provider)).keys == 1


@pytest.mark.parametrize("answer", [{}, None, "acme", {"tenant": None}, {"tenant": ""}, {"tenant": 7}, [("a", "b")]])
async def test_a_namespace_function_that_names_none_refuses_the_call(answer: Any) -> None:
    """10.3: "a namespace function that returns an empty or malformed mapping refuses the call instead of running it
    unconfined"."""
    async with by_request() as provider:
        TENANT.set(ACME)
        record = await remember(provider, "office", "Lyon")
        TENANT.set(answer)
        for call in (
            lambda: provider.list(ListRequest((ANN,))),
            lambda: provider.write(writing("key", "text")),
            lambda: provider.search(base.SearchRequest((ANN,), "Lyon", 5, minute(1))),
            lambda: provider.forget(base.ForgetRequest(ANN, record.id, "ann", minute(1))),
            provider.scopes,
            lambda: provider.stats((ANN,)),
        ):
            with pytest.raises(InvalidOption, match="namespace_scope") as refused:
                await cast("Any", call)()
            assert "acme" not in str(refused.value)
        TENANT.set(ACME)
        assert (await listed(provider)).records == (record,)


async def test_behind_a_function_no_call_is_offered_that_belongs_to_no_request() -> None:
    """The journal, vectors and the change feed are seen to in the background, where no function knows whose turn it
    is: they would end in somebody else's namespace."""
    async with by_request() as provider:
        assert set(Group) - provider.capabilities.groups == {
            Group.JOURNAL,
            Group.VECTORS,
            Group.CHANGES,
            *NOT_CONFINED,
        }
        with pytest.raises(NotSupported):
            await provider.changes(None)
        TENANT.set(ACME)
        async with MemoryService(provider) as service:
            ann = RequestContext(Actor("ann"))
            await service.remember(ann, "office", "Lyon")
            offered = await service.offer(ann)
            assert [entry.text for entry in offered.digest.entries] == ["Lyon"]
            assert not offered.journaled


# --- confinement ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", STORES)
async def test_journals_of_two_namespaces_do_not_meet(scheme: str, tmp_path: Path) -> None:
    """10.3: "every read is confined", journal lookups included; and pruning one journal leaves the other."""
    async with opened(STORES[scheme](tmp_path)) as provider:
        acme, zenith = bound(provider, namespace=ACME), bound(provider, namespace=ZENITH)
        for number in range(3):
            digest = JournaledDigest(
                f"d-{number}", "ann", minute(number), (ANN,), (), 0, 0, recalled=False, turn_id=f"turn {number}"
            )
            await acme.journal([digest])
        assert await acme.journaled(JournalLookup("ann", digest_id="d-1")) is not None
        for lookup in (JournalLookup("ann", digest_id="d-1"), JournalLookup("ann", turn_id="turn 1")):
            assert await zenith.journaled(lookup) is None
            assert await provider.journaled(lookup) is None
        assert await zenith.prune_journal(PruneRequest(minute(9), keep=0)) == 0
        assert await acme.prune_journal(PruneRequest(minute(1), keep=1)) == 2
        assert await acme.journal_secret() != await zenith.journal_secret()
        assert await acme.journal_secret() == await acme.journal_secret()


@pytest.mark.parametrize("scheme", STORES)
async def test_vectors_are_counted_and_made_within_the_namespace(scheme: str, tmp_path: Path) -> None:
    async with opened(STORES[scheme](tmp_path)) as provider:
        acme, zenith = bound(provider, namespace=ACME), bound(provider, namespace=ZENITH)
        for number in range(5):
            await remember(zenith, f"key {number}", "text")
        record = await remember(acme, "office", "Lyon")
        assert await acme.unembedded("toy", 2) == (record,)
        foreign = RecordVectors(ANN, VersionRef((await zenith.unembedded("toy", 1))[0].id, 1), b"\0\0\0\0")
        own = RecordVectors(ANN, VersionRef(record.id, 1), b"\0\0\0\0")
        assert await acme.put_vectors(VectorsWrite("toy", (foreign, own))) == 1
        assert await acme.count_vectors("toy") == base.VectorCount(1, 1)
        assert await zenith.count_vectors("toy") == base.VectorCount(5, 0)
        assert await provider.count_vectors("toy") == base.VectorCount(6, 1)


async def test_the_order_of_a_namespace_s_names_makes_no_difference_and_all_else_does() -> None:
    def prefix(**names: str) -> str:
        return namespaces.Space.of(names).prefix

    assert prefix(tenant="acme", region="eu") == prefix(region="eu", tenant="acme")
    others: list[Mapping[str, str]] = [
        {"tenant": "acme"},
        {"tenant": "Acme"},
        {"tenant": "acme "},
        {"acme": "tenant"},
        {"tenant": "acme", "region": "eu"},
        {"tenant": "acme", "regio": "neu"},
        {"tenant": "acmeregion", "eu": "x"},
        {"tenan": "tacme"},
    ]
    assert len({prefix(**names) for names in others}) == len(others)
    assert namespace_token({"tenant": "acme"}) == prefix(tenant="acme")
    with pytest.raises(InvalidOption):
        namespace_token({})
    assert all(len(prefix(**names)) == 36 for names in others)


async def test_scopes_of_a_namespace_cannot_be_reached_or_imitated_from_inside_another() -> None:
    async with opened(Store(lambda: open_provider("memory://"))) as provider:
        acme, zenith = bound(provider, namespace=ACME), bound(provider, namespace=ZENITH)
        record = await remember(acme, "office", "Lyon")
        token = namespaces.Space.of(ACME).prefix + ANN
        assert (await zenith.list(ListRequest((token, ANN)))).records == ()
        await remember(zenith, "office", "planted", token)
        assert (await listed(acme)).records == (record,)
        # The operator of the store, who is in no namespace, sees every one.
        assert len(await provider.scopes()) == 2


class Leaks(InMemoryProvider):
    """Answers with a record of nobody's namespace besides."""

    async def list(self, request: ListRequest) -> Listing:
        found = await super().list(request)
        stray = MemoryRecord(id="stray", key="stray", text="stray", scope=ANN, origin=AGENT, updated_at=minute(0))
        return Listing((*found.records, stray), found.keys + 1, found.pinned_keys)

    async def pin(self, request: base.PinRequest) -> MemoryRecord | None:
        return MemoryRecord(id="stray", key="stray", text="stray", scope=ANN, origin=AGENT, updated_at=minute(0))


async def test_what_a_provider_returns_outside_the_namespace_is_dropped_not_trusted() -> None:
    acme = bound(Leaks(), namespace=ACME)
    record = await remember(acme, "office", "Lyon")
    assert (await listed(acme)).records == (record,)
    with pytest.raises(StoreError, match="withheld"):
        await acme.pin(base.PinRequest(ANN, "stray", pinned=True, at=minute(0)))


async def test_a_store_that_cannot_list_its_scopes_confines_less_and_leaks_nothing() -> None:
    class NoPages(InMemoryProvider):
        @property
        def capabilities(self) -> Capabilities:
            return Capabilities("no pages", frozenset(Group) - {Group.BROWSE}, frozenset(WriteOption))

    confined = bind_write_options(NoPages(), namespace=ACME).capabilities.groups
    assert confined == set(Group) - {Group.BROWSE, Group.RESTORE, Group.VECTORS} - NOT_CONFINED


async def test_a_service_over_a_bound_provider_lives_in_its_namespace(tmp_path: Path) -> None:
    """The same person of two tenants, through every use case."""
    ann = RequestContext(Actor("ann"))
    async with (
        open_provider(f"sqlite:///{tmp_path}/memory.db") as provider,
        MemoryService(bind_write_options(provider, namespace=ACME)) as acme,
        MemoryService(bind_write_options(provider, namespace=ZENITH)) as zenith,
    ):
        await acme.remember(ann, "office", "Lyon")
        await zenith.remember(ann, "office", "Porto")
        shown = await acme.offer(ann, "Where is the office?", turn_id="turn 1")
        assert [entry.text for entry in shown.digest.entries] == ["Lyon"]
        again = await zenith.offer(ann, "Where is the office?", turn_id="turn 1")
        assert [entry.text for entry in again.digest.entries] == ["Porto"]
        assert (await acme.stats(ann)).records == 1
        await acme.forget(ann, key="office")
        assert (await acme.offer(ann, turn_id="turn 1")).erased == 1
        assert [entry.text for entry in (await zenith.offer(ann)).digest.entries] == ["Porto"]


async def test_a_taken_in_export_of_another_namespace_moves_nothing(tmp_path: Path) -> None:
    ann = RequestContext(Actor("ann"))
    async with opened(STORES["sqlite"](tmp_path)) as provider:
        acme, zenith = bound(provider, namespace=ACME), bound(provider, namespace=ZENITH)
        record = await remember(acme, "office", "Lyon")
        with pytest.raises(InvalidInput, match="record 1 has an id that is taken") as refused:
            await MemoryService(zenith).take_in(ann, [(record,)])
        assert "ns:" not in str(refused.value)
        assert (await listed(acme, ANN, BOB)).records == (record,)


async def test_an_export_of_the_whole_store_takes_the_longest_scope_of_a_namespace_along(tmp_path: Path) -> None:
    """What the operator reads out comes back: a scope of 200 characters has its namespace before it."""
    long = f"actor:{'a' * 194}"
    async with opened(STORES["sqlite"](tmp_path)) as provider:
        await remember(bound(provider, namespace=ACME), "office", "Lyon", long)
        (stored,) = (await provider.list(ListRequest((namespace_token(ACME) + long,)))).records
    lines = [header_line(minute(0)), *record_lines((stored,))]
    (versions,) = read_records([line.encode() for line in lines], max_fact_chars=240)
    assert versions == (stored,)
