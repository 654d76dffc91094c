"""One turn: what applies to this request, or what an earlier turn was shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from mcp_memory_server.digest import DigestEntry, MemoryDigest, Override, as_entry, resolve_digest
from mcp_memory_server.errors import InvalidInput, NotFound
from mcp_memory_server.identity import RequestContext, journal_name
from mcp_memory_server.providers.base import (
    HistoryProvider,
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

from .wiring import MAX_MEMORIES_CEILING, Wiring


@dataclass(frozen=True, slots=True)
class Offered:
    """A digest, whether it can be asked for again by its id, and how much of a replay was erased since."""

    digest: MemoryDigest
    journaled: bool
    erased: int = 0


@dataclass(frozen=True, slots=True)
class OfferRequest:
    """What a turn asks for. `turn_id` makes asking again repeat the answer; `digest_id` asks for one of before."""

    query: str | None = None
    max_memories: int | None = None
    turn_id: str | None = None
    digest_id: str | None = None


async def offer(wiring: Wiring, context: RequestContext, request: OfferRequest) -> Offered:
    """Resolve the digest for this turn and journal it (spec section 7).

    Raises:
        InvalidInput: `max_memories` outside 1 to 200, or an id that no store can hold.
        NotFound: an unknown, pruned or foreign `digest_id`.
    """
    limit = _limit(wiring, request)
    refuse_surrogates("turn_id", request.turn_id or "")
    refuse_surrogates("digest_id", request.digest_id or "")
    if request.digest_id is not None:
        return await _replay(wiring, await journaled_digest(wiring, context, request.digest_id))
    if request.turn_id is not None:
        shown = await wiring.journal.find(JournalLookup(journal_name(context.actor), turn_id=request.turn_id))
        if shown is not None:
            return await _replay(wiring, shown)

    scopes = tuple(await wiring.resolver.resolve(context))
    query = (request.query or "").strip()
    digest = await _resolve(wiring, scopes, query, limit)
    digest = digest.model_copy(update={"digest_id": wiring.new_id()})
    entry = partial(_journal_entry, context, digest, request.turn_id, wiring.now())
    if request.turn_id is None:
        return Offered(digest, journaled=wiring.journal.submit(entry, query or None))
    journaled = await wiring.journal.write(entry, query or None)
    if journaled:
        # Another process may have answered the same turn meanwhile: then its answer stands.
        first = await wiring.journal.find(JournalLookup(journal_name(context.actor), turn_id=request.turn_id))
        if first is not None and first.digest_id != digest.digest_id:
            return await _replay(wiring, first)
    return Offered(digest, journaled)


def _limit(wiring: Wiring, request: OfferRequest) -> int:
    if request.max_memories is None:
        return wiring.limits.max_memories
    if not 1 <= request.max_memories <= MAX_MEMORIES_CEILING:
        raise InvalidInput.of("max_memories", f"is {request.max_memories}, outside 1 to {MAX_MEMORIES_CEILING}")
    return request.max_memories


async def _resolve(wiring: Wiring, scopes: tuple[str, ...], query: str, limit: int) -> MemoryDigest:
    provider, now = wiring.provider, wiring.now()
    if query and can_search(provider):
        embedded = await wiring.embeddings.question(query)
        hits = await provider.search(SearchRequest(scopes, query, limit, now, embedded))
        digest = resolve_digest((hit.record for hit in hits if _holds(hit.record, now)), scopes, limit, ranked=True)
        if not wiring.embeddings.configured:
            return digest
        return digest.model_copy(update={"signals": {"embedder": "used" if embedded else "unavailable"}})
    listing = await provider.list(ListRequest(scopes, limit=limit))
    holding = [record for record in listing.records if _holds(record, now)]
    digest = resolve_digest(holding, scopes, limit)
    # Of the keys beyond the listed ones nobody has looked which hold now: they count as omitted.
    expired = {record.key for record in listing.records} - {record.key for record in holding}
    expired_pins = {record.key for record in listing.records if record.pinned} & expired
    shown = len(digest.entries) + len(expired)
    pinned = sum(entry.pinned for entry in digest.entries) + len(expired_pins)
    return digest.model_copy(
        update={"omitted": max(listing.keys - shown, 0), "pinned_omitted": max(listing.pinned_keys - pinned, 0)}
    )


def _holds(record: MemoryRecord, now: str) -> bool:
    """Whether the fact is true now, as far as it says when it is."""
    begun = record.valid_from is None or record.valid_from <= now
    return begun and (record.valid_to is None or record.valid_to > now)


async def peek(wiring: Wiring, context: RequestContext, max_memories: int) -> MemoryDigest:
    """What applies to the request, for looking something up in it: shown to nobody as a turn, so not journaled."""
    return await _resolve(wiring, tuple(await wiring.resolver.resolve(context)), "", max_memories)


async def read_ahead(wiring: Wiring, context: RequestContext) -> None:
    """Have the store and the embedder load what the first question of this caller will need. Nothing is journaled."""
    if can_search(wiring.provider):
        scopes = tuple(await wiring.resolver.resolve(context))
        await wiring.provider.search(SearchRequest(scopes, "reading ahead", 1, wiring.now()))
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


def _journal_entry(context: RequestContext, digest: MemoryDigest, turn_id: str | None, at: str) -> JournaledDigest:
    assert digest.digest_id is not None
    return JournaledDigest(
        digest_id=digest.digest_id,
        actor_id=journal_name(context.actor),
        at=at,
        scopes=digest.scopes,
        entries=tuple(_reference(entry) for entry in digest.entries),
        omitted=digest.omitted,
        pinned_omitted=digest.pinned_omitted,
        recalled=digest.recalled,
        turn_id=turn_id,
        signals=digest.signals,
    )


def _reference(entry: DigestEntry) -> JournaledEntry:
    return JournaledEntry(
        VersionRef(entry.id, entry.version),
        entry.pinned,
        tuple(VersionRef(override.id, override.version) for override in entry.overrides),
    )


async def _replay(wiring: Wiring, shown: JournaledDigest) -> Offered:
    """The digest as it was shown, less what was erased since."""
    provider = wiring.provider
    assert has_history(provider)  # a journal is only there where history is
    entries, erased = await _entries_of(provider, shown)
    digest = MemoryDigest(
        digest_id=shown.digest_id,
        scopes=shown.scopes,
        entries=tuple(entries),
        omitted=shown.omitted,
        pinned_omitted=shown.pinned_omitted,
        recalled=shown.recalled,
        signals=dict(shown.signals),
    )
    return Offered(digest, journaled=True, erased=erased)


async def _entries_of(provider: HistoryProvider, shown: JournaledDigest) -> tuple[Sequence[DigestEntry], int]:
    refs = [ref for entry in shown.entries for ref in (entry.ref, *entry.overrides)]
    found = await provider.versions(VersionsRequest(shown.scopes, tuple(refs)))
    held = {ref: version for ref, version in found.items() if version.scope in shown.scopes}
    entries: list[DigestEntry] = []
    for entry in shown.entries:
        if entry.ref in held:
            overrides = tuple(Override.of(held[ref]) for ref in entry.overrides if ref in held)
            entries.append(as_entry(held[entry.ref], pinned=entry.pinned, overrides=overrides))
    return entries, sum(ref not in held for ref in refs)
