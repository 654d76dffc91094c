"""Every provider against the in-memory reference: the same random steps, the same answers."""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from mcp_memory_server.errors import Conflict, InvalidInput
from mcp_memory_server.providers.base import (
    Change,
    ChangeBatch,
    Filter,
    ForgetRequest,
    HistoryRequest,
    Hit,
    JournaledDigest,
    JournaledEntry,
    JournalLookup,
    ListRequest,
    PageCursor,
    PageRequest,
    PinRequest,
    PruneRequest,
    RestoreRequest,
    ReviseRequest,
    SearchRequest,
    SettleRequest,
    VersionRef,
    VersionsRequest,
    WriteRequest,
)
from mcp_memory_server.providers.contract.store import EveryGroup, Store, opened
from mcp_memory_server.records import MemoryOrigin, MemoryRecord, Status

from .matrix import STORES
from .postgres_server import drop_databases

T = TypeVar("T")

SCOPES = ("actor:ann", "tenant:acme", "global")
WORDS = ("budget", "meeting", "Lyon", "парк", "会议预算", "README.md", "camelCase", "straße")

scope_lists = st.permutations(SCOPES).flatmap(lambda scopes: st.integers(1, 3).map(lambda count: tuple(scopes[:count])))
keys = st.sampled_from(("office", "Office", "tz", "名前"))
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
instants = st.integers(100, 130).map(lambda millisecond: f"2026-03-01T09:00:00.{millisecond}Z")
places = st.integers(0, 30)
limits = st.one_of(st.none(), st.integers(0, 4))
turns = st.one_of(st.none(), st.sampled_from(("turn 1", "turn 2")))
actors = st.sampled_from(("ann", "bob"))


@st.composite
def some_filters(draw: st.DrawFn) -> Filter:
    """A filter with some of its options set."""
    options: dict[str, st.SearchStrategy[Any]] = {
        "at": instants,
        "as_of": instants,
        "known_at": instants,
        "since": instants,
        "tags": st.just(("work",)),
        "kinds": st.sampled_from((("semantic",), ("working", "session"))),
        "owners": st.sampled_from((("user",), ("agent", "shared"))),
        "max_sensitivity": st.sampled_from(("public", "internal", "secret")),
        "min_sensitivity": st.sampled_from(("internal", "secret")),
        "own_thread": st.just(True),
        "thread_id": st.just("thread"),
        "include_superseded": st.just(True),
        "include_quarantined": st.just(True),
        "include_archived": st.just(True),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(options)), max_size=4))
    return Filter(**{name: draw(options[name]) for name in sorted(chosen)})


filters = st.one_of(st.just(Filter()), some_filters())


class TwoStores(RuleBasedStateMachine):
    """Does everything twice, and compares. Ids are minted, so those of the subject are read as the reference's."""

    def __init__(self, portal: BlockingPortal, make_store: Callable[[Path], Store]) -> None:
        super().__init__()
        self._portal = portal
        self._resources = ExitStack()
        self._resources.callback(drop_databases)  # one run makes many
        folder = Path(self._resources.enter_context(tempfile.TemporaryDirectory()))
        self._reference = self._open(STORES["memory"](folder))
        self._subject = self._open(make_store(folder))
        self._reference_ids: dict[str, str] = {}
        self._subject_ids: dict[str, str] = {}
        self._known: list[MemoryRecord] = []
        self._digests = 0
        self._cursors = self._call(self._reference.changes, None).cursor, self._call(self._subject.changes, None).cursor

    def teardown(self) -> None:
        self._resources.close()

    def _open(self, store: Store) -> EveryGroup:
        return self._resources.enter_context(self._portal.wrap_async_context_manager(opened(store)))

    def _call(self, method: Callable[[Any], Any], request: object) -> Any:
        return self._portal.call(method, request)

    def _as_reference(self, record: MemoryRecord) -> MemoryRecord:
        """A record of the subject as the reference would give it."""
        names = {"id": record.id, "supersedes": record.supersedes, "superseded_by": record.superseded_by}
        return record.model_copy(update={field: self._reference_ids.get(id or "", id) for field, id in names.items()})

    def _as_subject(self, record: MemoryRecord) -> MemoryRecord:
        """A record of the reference as the subject knows it."""
        names = {"id": record.id, "supersedes": record.supersedes, "superseded_by": record.superseded_by}
        return record.model_copy(update={field: self._subject_ids.get(id or "", id) for field, id in names.items()})

    def _subject_ref(self, ref: VersionRef) -> VersionRef:
        return VersionRef(self._subject_ids.get(ref.id, ref.id), ref.version)

    def _learn(self, reference: MemoryRecord, subject: MemoryRecord) -> None:
        self._reference_ids[subject.id] = reference.id
        self._subject_ids[reference.id] = subject.id
        self._known.append(reference)

    def _pick(self, place: int) -> MemoryRecord:
        return self._known[place % len(self._known)]

    # --- steps that change something ----------------------------------------------------------------

    @rule(
        scope=st.sampled_from(SCOPES),
        key=keys,
        text=texts,
        at=instants,
        tags=st.sampled_from(((), (), ("work",))),
        status=st.sampled_from(("active", "active", "active", "quarantined")),
        if_version=st.one_of(st.none(), st.none(), st.integers(0, 3)),
        kind=st.sampled_from(("semantic", "semantic", "semantic", "working", "session")),
        thread_id=st.sampled_from((None, "thread")),
        valid_from=st.one_of(st.none(), st.none(), instants),
        valid_to=st.one_of(st.none(), st.none(), instants),
        sensitivity=st.sampled_from((None, None, "public", "secret")),
        owner=st.sampled_from((None, "agent")),
        archived_at=st.sampled_from((None, None, None, "2026-03-01T09:00:00.115Z")),
        takes_the_place_of=st.one_of(st.none(), st.none(), places),
    )
    def write(self, thread_id: str | None, takes_the_place_of: int | None, **fields: Any) -> None:
        old = None if takes_the_place_of is None or not self._known else self._pick(takes_the_place_of).id
        request = WriteRequest(origin=MemoryOrigin(author="agent", thread_id=thread_id), supersedes=old, **fields)
        known_as = None if old is None else self._subject_ids[old]
        reference = self._outcome(lambda: self._call(self._reference.write, request))
        subject = self._outcome(lambda: self._call(self._subject.write, replace(request, supersedes=known_as)))
        if isinstance(reference, Exception) or isinstance(subject, Exception):
            assert str(reference) == str(subject).replace(known_as or "", old or "")
            return
        self._learn(reference.record, subject.record)
        assert (subject.status, self._as_reference(subject.record)) == (reference.status, reference.record)
        assert (subject.previous and self._as_reference(subject.previous)) == reference.previous

    @staticmethod
    def _outcome(call: Callable[[], T]) -> T | Conflict | InvalidInput:
        try:
            return call()
        except (Conflict, InvalidInput) as refusal:
            return refusal

    @precondition(lambda self: self._known)
    @rule(place=places, importance=st.sampled_from((None, 0.25, 0.75)), at=instants)
    def revise(self, place: int, importance: float | None, at: str) -> None:
        record = self._pick(place).model_copy(update={"importance": importance})
        asked = ReviseRequest(record, at), ReviseRequest(self._as_subject(record), at)
        reference = self._outcome(lambda: self._call(self._reference.revise, asked[0]))
        subject = self._outcome(lambda: self._call(self._subject.revise, asked[1]))
        if reference is None or subject is None or isinstance(reference, Exception) or isinstance(subject, Exception):
            assert str(reference) == str(subject)
            return
        self._known.append(reference.record)
        assert (subject.status, self._as_reference(subject.record)) == (reference.status, reference.record)

    @precondition(lambda self: self._known)
    @rule(place=places, scope=st.one_of(st.none(), st.sampled_from(SCOPES)), pinned=st.booleans(), at=instants)
    def pin(self, place: int, scope: str | None, pinned: bool, at: str) -> None:
        record = self._pick(place)
        where = scope or record.scope
        reference = self._call(self._reference.pin, PinRequest(where, record.id, pinned, at))
        subject = self._call(self._subject.pin, PinRequest(where, self._subject_ids[record.id], pinned, at))
        assert (subject and self._as_reference(subject)) == reference

    @precondition(lambda self: self._known)
    @rule(place=places, scope=st.one_of(st.none(), st.sampled_from(SCOPES)), at=instants)
    def forget(self, place: int, scope: str | None, at: str) -> None:
        record = self._pick(place)
        where = scope or record.scope
        reference = self._call(self._reference.forget, ForgetRequest(where, record.id, "ann", at))
        subject = self._call(self._subject.forget, ForgetRequest(where, self._subject_ids[record.id], "ann", at))
        assert (reference is None) == (subject is None)
        if reference is not None:
            assert (subject.key, subject.scope, subject.erasure) == (reference.key, reference.scope, "done")

    @precondition(lambda self: any(record.status == "quarantined" for record in self._known))
    @rule(
        place=places,
        scope=st.one_of(st.none(), st.none(), st.sampled_from(SCOPES)),
        decision=st.sampled_from(("approve", "approve", "reject")),
        text=st.one_of(st.none(), texts),
        by=st.sampled_from((None, MemoryOrigin(author="human", actor_ref="ann"))),
        if_version=st.one_of(st.none(), st.none(), st.integers(0, 2)),
        at=instants,
    )
    def settle(self, place: int, scope: str | None, by: MemoryOrigin | None, **fields: Any) -> None:
        waiting = [record for record in self._known if record.status == "quarantined"]
        record = waiting[place % len(waiting)]
        request = SettleRequest(scope or record.scope, record.id, by="ann", origin=by, **fields)
        known_as = replace(request, id=self._subject_ids[record.id])
        reference = self._outcome(lambda: self._call(self._reference.settle, request))
        subject = self._outcome(lambda: self._call(self._subject.settle, known_as))
        if isinstance(reference, Exception) or isinstance(subject, Exception):
            assert str(reference) == str(subject)
            return
        assert (reference is None) == (subject is None)
        if reference is None:
            return
        assert (subject.record and self._as_reference(subject.record)) == reference.record
        assert (subject.previous and self._as_reference(subject.previous)) == reference.previous
        if reference.record is not None:
            self._learn(reference.record, subject.record)

    @rule(
        id=st.sampled_from(("restored 1", "restored 2")),
        scope=st.sampled_from(SCOPES),
        key=keys,
        answers=st.lists(st.tuples(texts, instants), min_size=1, max_size=3),
        pinned=st.booleans(),
        at=instants,
    )
    def restore(self, answers: list[tuple[str, str]], at: str, **fields: Any) -> None:
        versions = tuple(
            MemoryRecord(
                text=text,
                created_at=answers[0][1],
                updated_at=updated_at,
                version=number,
                origin=MemoryOrigin(author="human"),
                **fields,
            )
            for number, (text, updated_at) in enumerate(answers, start=2)
        )
        request = RestoreRequest((versions,), at)
        assert self._call(self._subject.restore, request) == self._call(self._reference.restore, request)
        self._learn(versions[-1], versions[-1])

    @precondition(lambda self: self._known)
    @rule(place=places, at=instants)
    def restore_what_was_read_out(self, place: int, at: str) -> None:
        record = self._pick(place)
        history = self._call(self._reference.history, HistoryRequest(SCOPES, record.id)) or (record,)
        translated = tuple(map(self._as_subject, history))
        reference = self._call(self._reference.restore, RestoreRequest((history,), at))
        assert self._call(self._subject.restore, RestoreRequest((translated,), at)) == reference

    @rule(actor=actors, turn=turns, at=instants, scopes=scope_lists)
    def journal(self, actor: str, turn: str | None, at: str, scopes: tuple[str, ...]) -> None:
        listing = self._call(self._reference.list, ListRequest(scopes))
        refs = [VersionRef(record.id, record.version) for record in listing.records]
        self._digests += 1
        for provider, known_as in ((self._reference, refs), (self._subject, list(map(self._subject_ref, refs)))):
            entries = tuple(JournaledEntry(ref, pinned=False) for ref in known_as)
            digest = JournaledDigest(
                f"digest {self._digests}", actor, at, scopes, entries, 0, 0, recalled=False, turn_id=turn
            )
            self._call(provider.journal, [digest])

    @rule(before=instants, keep=st.integers(0, 5))
    def prune(self, before: str, keep: int) -> None:
        request = PruneRequest(before, keep)
        assert self._call(self._subject.prune_journal, request) == self._call(self._reference.prune_journal, request)

    # --- steps that only look -----------------------------------------------------------------------

    @rule(
        scopes=scope_lists,
        limit=limits,
        narrowed=st.one_of(st.none(), st.lists(keys, max_size=2).map(tuple)),
        statuses=st.sampled_from((("active",), ("quarantined",), ("active", "quarantined"))),
        asked=filters,
    )
    def list(
        self,
        scopes: tuple[str, ...],
        limit: int | None,
        narrowed: tuple[str, ...] | None,
        statuses: tuple[Status, ...],
        asked: Filter,
    ) -> None:
        request = ListRequest(scopes, limit=limit, keys=narrowed, statuses=statuses, filter=asked)
        reference, subject = self._call(self._reference.list, request), self._call(self._subject.list, request)
        assert tuple(map(self._as_reference, subject.records)) == reference.records
        assert (subject.keys, subject.pinned_keys) == (reference.keys, reference.pinned_keys)

    @rule(scopes=scope_lists, query=texts, limit=st.integers(0, 4), at=instants, asked=filters)
    def search(self, scopes: tuple[str, ...], query: str, limit: int, at: str, asked: Filter) -> None:
        request = SearchRequest(scopes, query, limit, at, filter=asked)
        reference, subject = self._call(self._reference.search, request), self._call(self._subject.search, request)
        assert self._scored(subject) == pytest.approx(self._scored(reference), rel=1e-4)
        assert [self._as_reference(hit.record) for hit in subject] == [hit.record for hit in reference]

    def _scored(self, hits: tuple[Hit, ...]) -> Mapping[tuple[str, int], float]:
        return {(self._as_reference(hit.record).id, hit.record.version): hit.score for hit in hits}

    @precondition(lambda self: self._known)
    @rule(place=places, scopes=scope_lists)
    def history(self, place: int, scopes: tuple[str, ...]) -> None:
        record = self._pick(place)
        reference = self._call(self._reference.history, HistoryRequest(scopes, record.id))
        subject = self._call(self._subject.history, HistoryRequest(scopes, self._subject_ids[record.id]))
        assert tuple(map(self._as_reference, subject)) == reference

    @rule(actor=actors, turn=turns, number=st.integers(1, 10))
    def replay(self, actor: str, turn: str | None, number: int) -> None:
        lookup = JournalLookup(actor, digest_id=None if turn else f"digest {number}", turn_id=turn)
        reference, subject = (self._call(p.journaled, lookup) for p in (self._reference, self._subject))
        assert (reference and reference.digest_id) == (subject and subject.digest_id)
        if reference is None:
            return
        refs = tuple(entry.ref for entry in reference.entries)
        assert tuple(entry.ref for entry in subject.entries) == tuple(map(self._subject_ref, refs))
        told = self._call(self._reference.versions, VersionsRequest(reference.scopes, refs))
        retold = self._call(
            self._subject.versions, VersionsRequest(subject.scopes, tuple(map(self._subject_ref, refs)))
        )
        assert {ref: self._as_reference(record) for ref, record in retold.items()} == {
            self._subject_ref(ref): record for ref, record in told.items()
        }

    @rule(scope=st.sampled_from(SCOPES), limit=st.integers(1, 3), after=st.one_of(st.none(), keys.map(PageCursor)))
    def page(self, scope: str, limit: int, after: PageCursor | None) -> None:
        request = PageRequest(scope, limit, after)
        reference, subject = self._call(self._reference.page, request), self._call(self._subject.page, request)
        assert tuple(map(self._as_reference, subject)) == reference

    @rule(scopes=scope_lists)
    def count(self, scopes: tuple[str, ...]) -> None:
        reference, subject = self._call(self._reference.stats, scopes), self._call(self._subject.stats, scopes)
        for name in ("records", "pinned", "versions", "by_scope", "by_kind", "by_status", "last_write"):
            assert getattr(subject, name) == getattr(reference, name), name
        assert self._portal.call(self._subject.scopes) == self._portal.call(self._reference.scopes)

    @rule()
    def poll(self) -> None:
        reference: ChangeBatch = self._call(self._reference.changes, self._cursors[0])
        subject: ChangeBatch = self._call(self._subject.changes, self._cursors[1])
        self._cursors = reference.cursor, subject.cursor
        changed = {Change(change.scope, self._reference_ids.get(change.id, change.id)) for change in subject.changes}
        assert (changed, subject.gap) == (set(reference.changes), reference.gap)


@pytest.mark.parametrize("scheme", [scheme for scheme in STORES if scheme != "memory"])
def test_a_provider_answers_every_step_like_the_reference(scheme: str) -> None:
    with start_blocking_portal() as portal:
        run_state_machine_as_test(  # pyright: ignore[reportUnknownMemberType]
            cast("Any", lambda: TwoStores(portal, STORES[scheme])),
            settings=settings(
                max_examples=settings().max_examples * 6 // 10,
                stateful_step_count=40,
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )
