"""Entities of every provider against the in-memory reference: the same random steps, the same names and merges."""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from mcp_memory_server.errors import Conflict, InvalidInput
from mcp_memory_server.providers.base import (
    Entity,
    EntityRequest,
    ForgetRequest,
    LedgerRequest,
    MentionRequest,
    Merge,
    MergeRequest,
    RestoreRequest,
    SettleRequest,
    UnmergeRequest,
    WriteRequest,
)
from mcp_memory_server.providers.contract.store import EveryGroup, Store, opened
from mcp_memory_server.records import MemoryOrigin, MemoryRecord

from .matrix import STORES

SCOPES = ("actor:ann", "global")
NAMES = ("Acme", "ACME", "acme  corp", "Straße", "STRASSE", "Ann", "会议", None)

names = st.sampled_from(NAMES)
scopes = st.sampled_from(SCOPES)
places = st.integers(0, 30)
instants = st.integers(100, 130).map(lambda millisecond: f"2026-03-01T09:00:00.{millisecond}Z")
writes = st.builds(
    WriteRequest,
    scope=scopes,
    key=st.sampled_from(("one", "two", "three", "four")),
    text=st.sampled_from(("text", "other text")),
    origin=st.just(MemoryOrigin(author="agent")),
    at=instants,
    subject=names,
    predicate=st.just("knows"),
    object=names,
    status=st.sampled_from(("active", "active", "active", "quarantined")),
    extraction=st.sampled_from((None, None, None, "skip", "allow")),
    if_version=st.sampled_from((None, None, None, 0, 1)),
)


class TwoStores(RuleBasedStateMachine):
    """Does everything twice, and compares what the names are and which of them are merged, whatever the ids."""

    def __init__(self, portal: BlockingPortal, make_store: Callable[[Path], Store]) -> None:
        super().__init__()
        self._portal = portal
        self._resources = ExitStack()
        folder = Path(self._resources.enter_context(tempfile.TemporaryDirectory()))
        self._stores = [self._open(STORES["memory"](folder)), self._open(make_store(folder))]
        self._records: list[tuple[MemoryRecord, MemoryRecord]] = []

    def teardown(self) -> None:
        self._resources.close()

    def _open(self, store: Store) -> EveryGroup:
        return self._resources.enter_context(self._portal.wrap_async_context_manager(opened(store)))

    def _both(self, name: str, *requests: object) -> list[Any]:
        """What each store answers, the reference first; to the same request, or to one each."""
        asked = requests if len(requests) > 1 else requests * 2
        return [self._answer(store, name, request) for store, request in zip(self._stores, asked, strict=True)]

    def _answer(self, store: EveryGroup, name: str, request: object) -> Any:
        try:
            return self._portal.call(getattr(store, name), request)
        except (Conflict, InvalidInput) as refusal:
            return str(refusal)

    def _pick(self, place: int) -> tuple[MemoryRecord, MemoryRecord]:
        return self._records[place % len(self._records)]

    # --- steps ------------------------------------------------------------------------------------------

    @rule(requests=st.lists(writes, min_size=1, max_size=3))
    def write(self, requests: list[WriteRequest]) -> None:
        reference, subject = self._both("write_many", requests)
        if isinstance(reference, str) or isinstance(subject, str):
            assert reference == subject
            return
        assert [written.status for written in subject] == [written.status for written in reference]
        self._records += [(one.record, other.record) for one, other in zip(reference, subject, strict=True)]

    @precondition(lambda self: self._records)
    @rule(place=places, at=instants)
    def forget(self, place: int, at: str) -> None:
        requests = [ForgetRequest(record.scope, record.id, "ann", at) for record in self._pick(place)]
        reference, subject = self._both("forget", *requests)
        assert (reference is None) == (subject is None)

    @precondition(lambda self: self._records)
    @rule(place=places, decision=st.sampled_from(("approve", "reject")), at=instants)
    def settle(self, place: int, decision: Any, at: str) -> None:
        requests = [SettleRequest(record.scope, record.id, decision, at, "ann") for record in self._pick(place)]
        reference, subject = self._both("settle", *requests)
        assert (reference is None) == (subject is None)
        if reference is not None and reference.record is not None:
            self._records.append((reference.record, subject.record))

    @precondition(lambda self: self._records)
    @rule(place=places, scope=scopes, subject=names, at=instants)
    def restore(self, place: int, scope: str, subject: str | None, at: str) -> None:
        fields = {"scope": scope, "subject": subject, "status": "active", "superseded_by": None}
        requests = [RestoreRequest(((record.model_copy(update=fields),),), at) for record in self._pick(place)]
        reference, restored = self._both("restore", *requests)
        assert restored == reference
        one, other = (request.records[0][0] for request in requests)
        self._records.append((one, other))

    @rule(scope=scopes, source=places, into=places)
    def merge(self, scope: str, source: int, into: int) -> None:
        requests: list[MergeRequest] = []
        for store in self._stores:
            held = self._answer(store, "entities", EntityRequest((scope,)))
            one, other = (held[place % len(held)].id if held else "none" for place in (source, into))
            requests.append(MergeRequest(scope, one, other, "ann", "t"))
        reference, subject = self._both("merge", *requests)
        assert isinstance(subject, Merge) == isinstance(reference, Merge)
        if not isinstance(reference, Merge):
            assert subject == reference

    def _id_of(self, store: EveryGroup, scope: str, name: str | None) -> str:
        found = self._answer(store, "entities", EntityRequest((scope,), names=(name or "nobody",)))
        return next((entity.id for entity in found if name in (entity.name, *entity.aliases)), "nobody")

    @rule(scope=scopes, place=places)
    def unmerge(self, scope: str, place: int) -> None:
        ledgers = self._both("merges", LedgerRequest(SCOPES))
        ids = [ledger[place % len(ledger)].id if ledger else "none" for ledger in ledgers]
        reference, subject = self._both("unmerge", *(UnmergeRequest(scope, id, "bob", "t") for id in ids))
        assert (reference is None) == (subject is None)

    # --- what must hold after each -------------------------------------------------------------------------

    @invariant()
    def the_same_names_mean_the_same(self) -> None:
        found = self._both("entities", EntityRequest(SCOPES))
        reference, subject = map(_without_ids, found)
        assert subject == reference
        roots = {entity.id for entity in found[1] if entity.merged_into is None}
        assert {entity.merged_into for entity in found[1]} - {None} <= roots

    @invariant()
    def the_ledgers_say_the_same(self) -> None:
        told = [
            [
                (line.scope, known.get(line.source), known.get(line.target), line.by, line.undone_by)
                for line in self._answer(store, "merges", LedgerRequest(SCOPES))
            ]
            for store in self._stores
            for known in [self._names_in(store)]
        ]
        assert told[1] == told[0]

    def _names_in(self, store: EveryGroup) -> Mapping[str, str]:
        return {entity.id: entity.name for entity in self._answer(store, "entities", EntityRequest(SCOPES))}

    @rule(scope=scopes, name=names, limit=st.integers(0, 4))
    def mentions(self, scope: str, name: str | None, limit: int) -> None:
        as_reference = {other.id: one.id for one, other in self._records}
        requests = [MentionRequest((scope,), (self._id_of(store, scope, name),), limit) for store in self._stores]
        reference, subject = self._both("mentions", *requests)
        assert tuple(as_reference[id] for id in subject) == reference


def _without_ids(entities: tuple[Entity, ...]) -> list[tuple[str, str, tuple[str, ...], str | None]]:
    names = {entity.id: entity.name for entity in entities}
    return [
        (entity.scope, entity.name, entity.aliases, entity.merged_into and names[entity.merged_into])
        for entity in entities
    ]


@pytest.mark.parametrize("scheme", [scheme for scheme in STORES if scheme != "memory"])
def test_entities_come_go_and_merge_like_those_of_the_reference(scheme: str) -> None:
    with start_blocking_portal() as portal:
        run_state_machine_as_test(  # pyright: ignore[reportUnknownMemberType]
            cast("Any", lambda: TwoStores(portal, STORES[scheme])),
            settings=settings(
                max_examples=settings().max_examples * 4 // 10,
                stateful_step_count=25,
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )
