"""Searching with every option, and the whole story of one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcp_memory_server.digest import below_cited, is_spent
from mcp_memory_server.errors import InvalidInput, NotFound
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.policy import may_see
from mcp_memory_server.providers.base import SET_ASIDE_TOO, Filter, Hit, ListRequest, SearchRequest, can_search
from mcp_memory_server.records import Kind, MemoryRecord, Owner

from .browse import find, record_versions
from .expansion import one_hop
from .trust import suspicion_of_record
from .wiring import MAX_MEMORIES_CEILING, Wiring

# A chain of records that supersede each other is followed this far in each direction.
_LONGEST_CHAIN: Final = 50


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What to look for, and among what; see `Filter` for what each option leaves out.

    Without a `query` everything that the options let through comes, in digest order. `top_k` counts keys: records
    that answer one key come together. Times take any offset and must have one. With `expand` what else is known about
    the entities of the records found follows them, beyond `top_k`, with the signal `expanded`.
    """

    query: str | None = None
    top_k: int = 10
    tags: Sequence[str] = ()
    since: str | None = None
    until: str | None = None
    kinds: Sequence[Kind] = ()
    owner: Owner | Sequence[Owner] = ()
    as_of: str | None = None
    known_at: str | None = None
    include_superseded: bool = False
    include_quarantined: bool = False
    include_archived: bool = False
    expand: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """One record through time.

    `versions` are oldest first, each replaced one closed. `supersedes` and `superseded_by` are records under other
    keys, the nearest first: those that it took the place of, and those that took its own.
    """

    versions: tuple[MemoryRecord, ...]
    supersedes: tuple[MemoryRecord, ...] = ()
    superseded_by: tuple[MemoryRecord, ...] = ()


def _in_order(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Insights behind what they cite; everything else as the provider ranked it."""
    by_version = {(hit.record.id, hit.record.version): hit for hit in hits}
    return [by_version[record.id, record.version] for record in below_cited([hit.record for hit in hits])]


async def search(
    wiring: Wiring, context: RequestContext, options: SearchOptions, scopes: Sequence[str] | None = None
) -> tuple[Hit, ...]:
    """The records that answer best, best first, each with its score and the signals that make it up.

    Unlike a digest it resolves nothing: of one key every answer comes, at every scope. A pin brings nothing along.
    `scopes` widens where a person at the console looks; by default it is what the request resolves to, and of what
    waits for review only that is found which the caller decides about and a model may read.

    Raises:
        InvalidInput: every option that is wrong.
    """
    asked = _filter(wiring, context, options)
    if not 1 <= options.top_k <= MAX_MEMORIES_CEILING:
        raise InvalidInput.of("top_k", f"is {options.top_k}, outside 1 to {MAX_MEMORIES_CEILING}")
    console = scopes is not None
    scopes = tuple(scopes if scopes is not None else await wiring.resolver.resolve(context))
    query = (options.query or "").strip()
    if query and can_search(wiring.provider):
        embedded = await wiring.embeddings.question(query)
        request = SearchRequest(scopes, query, options.top_k, wiring.now(), embedded, filter=asked)
        found = [hit for hit in await wiring.provider.search(request) if "pin" not in hit.signals]
    else:
        listing = await wiring.provider.list(ListRequest(scopes, limit=options.top_k, filter=asked))
        found = [Hit(record, 0.0) for record in listing.records]
    held = _in_order([hit for hit in found if hit.record.scope in scopes and not is_spent(hit.record)])
    if not console:
        held = [hit for hit in held if _is_for_sessions(context, hit.record)]
    keys = tuple(dict.fromkeys(hit.record.key for hit in held))[: options.top_k]
    direct = tuple(hit for hit in held if hit.record.key in keys)
    if not options.expand:
        return direct
    further = await one_hop(wiring.provider, scopes, asked, [hit.record for hit in direct])
    shown = [record for record in further if record.scope in scopes]
    if not console:
        shown = [record for record in shown if _is_for_sessions(context, record)]
    return direct + tuple(Hit(record, 0.0, {"expanded": 1.0}) for record in shown)


def _is_for_sessions(context: RequestContext, record: MemoryRecord) -> bool:
    """Whether a session may find a record: not another conversation's note, nor what waits for others to decide.

    Of what waits, words that read like an instruction are for people only.
    """
    if record.kind == "session" and record.origin.thread_id != context.thread_id:
        return False
    return record.status == "active" or (may_see(context.actor, record) and suspicion_of_record(record) is None)


def _filter(wiring: Wiring, context: RequestContext, options: SearchOptions) -> Filter:
    owner = options.owner
    return replace(
        wiring.shown_now(context),
        tags=tuple(options.tags),
        since=options.since or None,
        until=options.until or None,
        kinds=tuple(options.kinds),
        owners=(owner,) if isinstance(owner, str) else tuple(owner),
        as_of=options.as_of or None,
        known_at=options.known_at or None,
        include_superseded=options.include_superseded,
        include_quarantined=options.include_quarantined,
        include_archived=options.include_archived,
    )


async def history(
    wiring: Wiring,
    context: RequestContext,
    *,
    id: str | None = None,  # the record's field of that name
    key: str | None = None,
    scopes: Sequence[str] | None = None,
) -> History:
    """The versions of a record, and what it superseded and was superseded by.

    Of several records of the key it is the active one at the narrowest scope. `scopes` widens where a person at the
    console looks, and shows them what lies above a session's ceiling, and what waits in words that are for people only.

    Raises:
        InvalidInput: not exactly one of id and key.
        NotFound: unknown, foreign and erased ids get the same error, and those of records that are kept from the
            session.
    """
    if (id is None) == (key is None):
        raise InvalidInput.of("id", "or key: give exactly one of the two")
    within = tuple(scopes if scopes is not None else await wiring.resolver.resolve(context))
    if id is None:
        held = await find(wiring, within, key=key)
        if scopes is None:
            ceiling = wiring.shown_now(context).ceiling
            held = tuple(found for found in held if found.sensitivity in ceiling and _is_for_sessions(context, found))
        if not held:
            raise NotFound("memory", key or "", "Read memory://digest to see keys.")
        id = next((record for record in held if record.status == "active"), held[0]).id
    versions = await record_versions(wiring, context, id, scopes)
    if scopes is None and not _is_for_sessions(context, versions[-1]):
        raise NotFound("memory", id, "Read memory://digest to see ids.")
    chain = SET_ASIDE_TOO if scopes is not None else replace(SET_ASIDE_TOO, max_sensitivity=wiring.ceiling(context))
    return History(
        versions,
        await _chain(wiring, within, chain, versions[-1], "supersedes"),
        await _chain(wiring, within, chain, versions[-1], "superseded_by"),
    )


async def _chain(
    wiring: Wiring, scopes: tuple[str, ...], asked: Filter, record: MemoryRecord, link: str
) -> tuple[MemoryRecord, ...]:
    """The records that one leads to by a link of its current version, and so on; a link may dangle."""
    found: list[MemoryRecord] = []
    met = {record.id}
    while len(found) < _LONGEST_CHAIN:
        following: str | None = getattr(record, link)
        if following is None or following in met:
            break
        held = (await wiring.provider.list(ListRequest(scopes, ids=(following,), filter=asked))).records
        if not held or held[0].scope not in scopes:
            break
        record = held[0]
        met.add(record.id)
        found.append(record)
    return tuple(found)
