"""One turn: what applies to this request, or what an earlier turn was shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, Final, TypedDict

from mcp_memory_server.derived import Derived
from mcp_memory_server.digest import DigestEntry, MemoryDigest, Override, answers_of, as_entry, digest_of
from mcp_memory_server.errors import InvalidInput, NotFound
from mcp_memory_server.identity import RequestContext, journal_name
from mcp_memory_server.policy import ADMIN
from mcp_memory_server.providers.base import (
    SENSITIVITIES,
    Filter,
    JournaledDigest,
    JournaledEntry,
    JournalLookup,
    ListRequest,
    SearchRequest,
    VersionRef,
    VersionsRequest,
    can_search,
    has_history,
)
from mcp_memory_server.records import MemoryRecord, refuse_surrogates

from .citations import with_cited
from .expansion import one_hop
from .keyed import keyed
from .offered import Fitting, Form, Offered
from .wiring import MAX_MEMORIES_CEILING, Wiring


@dataclass(frozen=True, slots=True)
class OfferRequest:
    """What a turn asks for. `turn_id` makes asking again repeat the answer; `digest_id` asks for one of before.

    `as_of` asks what was true then, `known_at` what was believed then (`Filter`): instants with a zone. `expand`
    lets what else is known about the entities of the facts found take the places that they leave (`expansion`).
    `max_tokens` is a ceiling on the text of the answer, as the service's estimator counts it: what finds no room is
    left out and counted, and of the best fact at least an excerpt is shown.
    """

    query: str | None = None
    max_memories: int | None = None
    turn_id: str | None = None
    digest_id: str | None = None
    as_of: str | None = None
    known_at: str | None = None
    expand: bool = False
    max_tokens: int | None = None


class OfferOptions(TypedDict, total=False):
    """The optional fields of `OfferRequest`, as keyword arguments."""

    max_memories: int | None
    turn_id: str | None
    digest_id: str | None
    as_of: str | None
    known_at: str | None
    expand: bool
    max_tokens: int | None


async def offer(wiring: Wiring, context: RequestContext, request: OfferRequest, form: Form | None = None) -> Offered:
    """Resolve the digest for this turn and journal it (spec section 7). `form` is by default the block.

    Raises:
        InvalidInput: `max_memories` outside 1 to 200, `max_tokens` below 100, an id that no store can hold, or a time
            that is none, has no zone, or comes with a `digest_id`.
        NotFound: an unknown, pruned or foreign `digest_id`.
    """
    limit = _limit(wiring, request)
    fitting = Fitting.of(wiring, request.max_tokens, form)
    refuse_surrogates("turn_id", request.turn_id or "")
    refuse_surrogates("digest_id", request.digest_id or "")
    now = wiring.now()
    asked = wiring.shown_now(context, now)
    if request.as_of or request.known_at:
        asked = replace(asked, as_of=request.as_of or None, known_at=request.known_at or None)
    if request.digest_id is not None:
        if asked.is_historic:
            raise InvalidInput.of("digest_id", "repeats a digest as it was shown; leave out as_of and known_at")
        shown = await journaled_digest(wiring, context, request.digest_id)
        return fitting.replayed(await replay(wiring, context, shown))
    if request.turn_id is not None and (shown := await journaled_turn(wiring, context, request.turn_id)):
        return fitting.replayed(await replay(wiring, context, shown))

    scopes = tuple(await wiring.resolver.resolve(context))
    query = (request.query or "").strip()
    found = await _resolve(wiring, _Asked(scopes, query, limit, now, asked, request.expand, wiring.new_id()))
    digest, withheld = found.digest(limit), await _withheld(wiring, context, scopes, asked)
    if request.turn_id is None:
        offered = Offered(digest, True, 0, withheld, query, found.places, found.expanded)
    else:
        offered = Offered(digest, True, 0, withheld)
    offered = fitting.fitted(offered, found.digest)
    return await journaled(wiring, context, offered, JournalNote(now, request.turn_id, query or None), fitting)


@dataclass(frozen=True, slots=True)
class JournalNote:
    """What the journal keeps beside a digest: when it was shown, and the hashes of the turn's id and the question."""

    at: str
    turn_id: str | None
    query: str | None


async def journaled(
    wiring: Wiring, context: RequestContext, offered: Offered, note: JournalNote, fitting: Fitting
) -> Offered:
    """The answer with its entry in the journal; or the one that another process gave to the same turn meanwhile."""
    digest = offered.digest
    entry = partial(_journal_entry, context, digest, note)
    if note.turn_id is None:
        is_journaled = wiring.journal.submit(entry)
        return offered if offered.journaled is is_journaled else replace(offered, journaled=is_journaled)
    is_journaled = await wiring.journal.write(entry)
    if is_journaled:
        first = await journaled_turn(wiring, context, note.turn_id)
        if first is not None and first.digest_id != digest.digest_id:
            return fitting.replayed(await replay(wiring, context, first))
    return replace(offered, journaled=is_journaled)


def _limit(wiring: Wiring, request: OfferRequest) -> int:
    if request.max_memories is None:
        return wiring.limits.max_memories
    if not 1 <= request.max_memories <= MAX_MEMORIES_CEILING:
        raise InvalidInput.of("max_memories", f"is {request.max_memories}, outside 1 to {MAX_MEMORIES_CEILING}")
    return request.max_memories


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a digest is resolved from: the scopes, the question, how many entries at most, when, and what counts; and
    the id that it gets."""

    scopes: tuple[str, ...]
    query: str
    limit: int
    now: str
    filter: Filter
    expand: bool = False
    digest_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found: its digest of at most so many entries; the place of each key; and the ids of what came along
    one hop."""

    digest: Callable[[int], MemoryDigest]
    places: Mapping[str, int]
    expanded: frozenset[str]


async def _resolve(wiring: Wiring, asked: _Asked) -> _Found:
    provider, scopes, limit = wiring.provider, asked.scopes, asked.limit
    told: dict[str, Any] = {
        "digest_id": asked.digest_id,
        "as_of": asked.filter.as_of,
        "known_at": asked.filter.known_at,
    }
    further: tuple[MemoryRecord, ...] = ()
    if asked.query and can_search(provider):
        embedded = await wiring.embeddings.question(asked.query)
        request = SearchRequest(
            scopes, asked.query, limit, asked.now, embedded, with_signals=False, filter=asked.filter
        )
        hits = [hit.record for hit in await provider.search(request)]
        if asked.expand:
            hits += (further := await one_hop(provider, scopes, asked.filter, hits))
        keys = pinned_keys = None
        if wiring.embeddings.configured:
            told["signals"] = {"embedder": "used" if embedded else "unavailable"}
    else:
        listing = await provider.list(ListRequest(scopes, limit=limit, filter=asked.filter))
        hits, keys, pinned_keys = listing.records, listing.keys, listing.pinned_keys
    found = answers_of(hits)
    if [answer for answer in found if answer.insight]:
        found = answers_of(await with_cited(provider, scopes, asked.filter, hits))

    def digest(most: int) -> MemoryDigest:
        if keys is None or pinned_keys is None:
            return digest_of(found, scopes, most, True, told)
        resolved = digest_of(found, scopes, most, False, {})
        pinned = sum(entry.pinned for entry in resolved.entries)
        omitted = {
            "omitted": max(keys - len(resolved.entries), 0),
            "pinned_omitted": max(pinned_keys - pinned, 0),
        }
        return resolved.model_copy(update=told | omitted)

    places = dict(zip(dict.fromkeys([answer.key for answer in found]), count(1)))
    return _Found(digest, places, frozenset(record.id for record in further))


async def _withheld(wiring: Wiring, context: RequestContext, scopes: tuple[str, ...], asked: Filter) -> int | None:
    """How many keys have a record that the session's ceiling keeps back: for administrators only."""
    if ADMIN not in context.actor.roles:
        return None
    above = SENSITIVITIES[len(asked.ceiling) :]
    if not above:
        return 0
    kept_back = replace(asked, max_sensitivity=None, min_sensitivity=above[0])
    return (await wiring.provider.list(ListRequest(scopes, limit=0, filter=kept_back))).keys


async def peek(wiring: Wiring, context: RequestContext, max_memories: int) -> MemoryDigest:
    """What applies to the request, for looking something up in it: shown to nobody as a turn, so not journaled."""
    scopes = tuple(await wiring.resolver.resolve(context))
    now = wiring.now()
    found = await _resolve(wiring, _Asked(scopes, "", max_memories, now, wiring.shown_now(context, now)))
    return found.digest(max_memories)


async def read_ahead(wiring: Wiring, context: RequestContext) -> None:
    """Have the store and the embedder load what the first question of this caller will need. Nothing is journaled."""
    if can_search(wiring.provider):
        scopes = tuple(await wiring.resolver.resolve(context))
        asked = wiring.shown_now(context)
        await wiring.provider.search(SearchRequest(scopes, "reading ahead", 1, wiring.now(), filter=asked))
        await wiring.embeddings.question("reading ahead")


async def journaled_digest(wiring: Wiring, context: RequestContext, digest_id: str) -> JournaledDigest:
    """The journal's entry of that id, when it is the actor's own.

    Raises:
        NotFound: unknown, pruned and foreign ids get the same error.
    """
    found = await wiring.journal.find(JournalLookup(journal_name(context.actor), digest_id=digest_id))
    if found is None:
        raise NotFound("digest", digest_id, "Call recall_digest without digest_id for a current one.")
    return found


async def journaled_turn(wiring: Wiring, context: RequestContext, turn_id: str) -> JournaledDigest | None:
    """What the actor's turn of that id was shown."""
    return await wiring.journal.find(JournalLookup(journal_name(context.actor), turn_id=turn_id))


def _journal_entry(context: RequestContext, digest: MemoryDigest, note: JournalNote, secret: bytes) -> JournaledDigest:
    assert digest.digest_id is not None
    return JournaledDigest(
        digest_id=digest.digest_id,
        actor_id=journal_name(context.actor),
        at=note.at,
        scopes=digest.scopes,
        entries=tuple(_reference.of_each(digest.entries)),
        omitted=digest.omitted,
        pinned_omitted=digest.pinned_omitted,
        recalled=digest.recalled,
        turn_id=None if note.turn_id is None else keyed(secret, "turn", note.turn_id),
        query_hash=None if note.query is None else keyed(secret, "query", note.query),
        signals=digest.signals,
        as_of=digest.as_of,
        known_at=digest.known_at,
    )


def _made_reference(entry: DigestEntry) -> JournaledEntry:
    return JournaledEntry(
        VersionRef(entry.id, entry.version),
        entry.pinned,
        tuple(VersionRef(override.id, override.version) for override in entry.overrides),
    )


_reference: Final = Derived[DigestEntry, JournaledEntry](_made_reference)


async def replay(wiring: Wiring, context: RequestContext, shown: JournaledDigest) -> Offered:
    """The digest as it was shown, less what was erased since, and what this session may not be shown."""
    provider = wiring.provider
    assert has_history(provider)  # a journal is only there where history is
    refs = [ref for entry in shown.entries for ref in (entry.ref, *entry.overrides)]
    found = await provider.versions(VersionsRequest(shown.scopes, tuple(refs)))
    held = {ref: version for ref, version in found.items() if version.scope in shown.scopes}
    ceiling = Filter(max_sensitivity=wiring.ceiling(context)).ceiling
    visible = {ref: version for ref, version in held.items() if version.sensitivity in ceiling}
    digest = MemoryDigest(
        digest_id=shown.digest_id,
        scopes=shown.scopes,
        entries=tuple(_entries_of(shown, visible)),
        omitted=shown.omitted,
        pinned_omitted=shown.pinned_omitted,
        recalled=shown.recalled,
        signals=dict(shown.signals),
        as_of=shown.as_of,
        known_at=shown.known_at,
    )
    return Offered(digest, journaled=True, erased=sum(ref not in held for ref in refs))


def _entries_of(shown: JournaledDigest, held: Mapping[VersionRef, MemoryRecord]) -> Iterator[DigestEntry]:
    for entry in shown.entries:
        if entry.ref in held:
            overrides = tuple(Override.of(held[ref]) for ref in entry.overrides if ref in held)
            yield as_entry(held[entry.ref], pinned=entry.pinned, overrides=overrides)
