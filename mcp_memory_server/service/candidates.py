"""The notes that a selective recall chooses among, the likeliest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mcp_memory_server.digest import DigestEntry, MemoryDigest, resolve_digest
from mcp_memory_server.providers.base import Filter, ListRequest, SearchRequest, can_search
from mcp_memory_server.recall import NoteHeader, validate_selected_ids
from mcp_memory_server.recall.headers import linked_keys
from mcp_memory_server.records import MemoryRecord

from .citations import with_cited
from .wiring import Wiring

POOL: Final = 400
"""How many notes that were not shown yet are looked at: twice what a manifest lists."""

# What a selector of notes by id has reason to name, many times over.
_MOST_IDS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Within:
    """Where a recall looks: the scopes that apply, what a session may be shown of them, and when."""

    scopes: tuple[str, ...]
    filter: Filter
    now: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """The narrowest answer to each key, pinned ones first, then the likeliest; and how many keys there are at all."""

    scopes: tuple[str, ...]
    entries: tuple[DigestEntry, ...]
    total: int

    def digest(self, most: int, *, partial: bool = False) -> MemoryDigest:
        """The first `most` of them in rendering order."""
        rank = {scope: place for place, scope in reversed(list(enumerate(self.scopes)))}
        chosen = sorted(self.entries[:most], key=lambda entry: (not entry.pinned, rank[entry.scope], entry.key))
        dropped = self.entries[most:]
        return MemoryDigest(
            scopes=self.scopes,
            entries=tuple(chosen),
            omitted=self.total - len(chosen),
            pinned_omitted=sum(entry.pinned for entry in dropped),
            recalled=partial,
        )

    def but(self, entries: Sequence[DigestEntry]) -> Candidates:
        """Those of `entries` only, which are among these."""
        return Candidates(self.scopes, tuple(entries), self.total - (len(self.entries) - len(entries)))


async def all_candidates(wiring: Wiring, within: Within, objective: str, already_shown: int) -> Candidates:
    """As many notes as a recall looks at, and those that they name as `[[key]]`.

    What was shown already comes on top: it makes room for others.
    """
    most, provider = POOL + already_shown, wiring.provider
    counted = await provider.list(ListRequest(within.scopes, limit=0, filter=within.filter))
    if objective and can_search(provider):
        embedded = await wiring.embeddings.question(objective)
        request = SearchRequest(
            within.scopes,
            objective,
            most,
            within.now,
            embedded,
            with_unrelated=True,
            with_signals=False,
            filter=within.filter,
        )
        found: Sequence[MemoryRecord] = [hit.record for hit in await provider.search(request)]
    else:
        found = (await provider.list(ListRequest(within.scopes, limit=most, filter=within.filter))).records
    if counted.keys > most:
        named = {key for record in found for key in linked_keys(record.text)} - {record.key for record in found}
        if named:
            request = ListRequest(within.scopes, keys=tuple(sorted(named)), filter=within.filter)
            found = [*found, *(await provider.list(request)).records]
    found = await with_cited(provider, within.scopes, within.filter, found)
    entries = _in_order(found, within.scopes)
    # What was only counted may hold what nobody is shown any more, such as an insight that was voted down.
    return Candidates(within.scopes, entries, counted.keys if counted.keys > most else len(entries))


async def picked_candidates(wiring: Wiring, within: Within, ids: Sequence[str]) -> Candidates:
    """The notes of these ids, those that they name as `[[key]]`, and the pinned ones."""
    provider, scopes, seen = wiring.provider, within.scopes, within.filter
    counted = await provider.list(ListRequest(scopes, limit=0, filter=seen))
    plain = tuple(dict.fromkeys(id.strip() for id in ids))[:_MOST_IDS]
    named = (await provider.list(ListRequest(scopes, ids=plain, filter=seen))).records
    pinned: Sequence[MemoryRecord] = ()
    if counted.pinned_keys:
        pinned = (await provider.list(ListRequest(scopes, limit=counted.pinned_keys, filter=seen))).records
    keys = {key for record in (*named, *pinned) for key in (record.key, *linked_keys(record.text))}
    answers = (await provider.list(ListRequest(scopes, keys=tuple(sorted(keys)), filter=seen))).records
    found = await with_cited(provider, scopes, seen, answers)
    return Candidates(scopes, _in_order(found, scopes), counted.keys)


def notes_named(entries: Sequence[DigestEntry], ids: Sequence[str]) -> tuple[NoteHeader, ...]:
    """The notes that were picked by these ids, in their order."""
    return validate_selected_ids([NoteHeader.of(entry) for entry in entries], ids, _MOST_IDS)


def _in_order(found: Sequence[MemoryRecord], scopes: tuple[str, ...]) -> tuple[DigestEntry, ...]:
    place = {key: place for place, key in reversed(list(enumerate(record.key for record in found)))}
    entries = resolve_digest(found, scopes, len(found), ranked=True).entries
    return tuple(sorted(entries, key=lambda entry: (not entry.pinned, place[entry.key])))
