"""What search keeps of scopes in memory, and what it ranks of it: the same for every store whose records are rows.

Nothing here reads. A store looks which generation each scope is at, reads what it holds too little of, and makes of
that a value, `Held`: whoever has begun to answer out of one goes on with it, whatever is held next.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from mcp_memory_server import ranking
from mcp_memory_server.records import comes_along

from .base import Filter, Hit, SearchRequest
from .key_order import pinned_among, with_pins
from .shown import Conditions, ShownBlock
from .signatures import numbered, ranking_question, ranking_row
from .timeline import answers

if TYPE_CHECKING:
    from mcp_memory_server.ranking import Ranked, Row, SignatureBlock, TokenSource
    from mcp_memory_server.records import MemoryRecord

K = TypeVar("K")
V = TypeVar("V")
P = TypeVar("P", bound=Hashable)
"""What a store names a scope by."""
E = TypeVar("E", bound=Hashable)
"""What it names an embedder by."""

DEFAULT_CACHE_BYTES: Final = 48 * 1024 * 1024

# Up to this many records and characters ranking takes less than a millisecond, and handing it to another thread costs
# a third of one at best, and several where threads wait for a core.
MOST_AT_ONCE: Final = 3_000
LONGEST_AT_ONCE: Final = 500

# Decoded records take about 3 KB each.
_KEPT_RECORDS: Final = 2_000
_KEPT_PINS: Final = 256
_KEPT_LISTS: Final = 64
_NO_VERSIONS: Final[Mapping[int, MemoryRecord]] = MappingProxyType({})


class Scope(NamedTuple, Generic[P]):
    """A scope as of one state of the store."""

    token: str
    id: P
    generation: int


@dataclass(frozen=True, slots=True)
class Held:
    """What is kept of a scope, as of one generation.

    `records` are those that were answered with, decoded: a conversation asks about the same few again and again.
    Whoever reads one more of that generation adds it.
    """

    generation: int
    shown: ShownBlock
    records: dict[int, MemoryRecord]

    @classmethod
    def whole(cls, generation: int, rows: Iterable[Row], conditions: Mapping[int, Conditions]) -> Held:
        """All rows of a scope, and `conditions` of those that have any."""
        return cls(generation, ShownBlock(ranking.SignatureBlock.from_rows(rows), conditions), {})

    def is_of(self, scope: Scope[Any]) -> bool:
        """Whether it is of that very state of the scope."""
        return self.generation == scope.generation

    def brought_to(
        self, generation: int, changed: Sequence[Row], gone: Iterable[int], conditions: Mapping[int, Conditions]
    ) -> Held:
        """The scope some generations later, by the rows `changed` since, their `conditions`, and what is `gone`."""
        left = list(gone)
        stale = {row.number for row in changed}.union(left)
        records = {number: record for number, record in self.records.items() if number not in stale}
        kept = {number: why for number, why in self.shown.conditions.items() if number not in stale}
        block = self.shown.block.with_changes(changed, left)
        return Held(generation, ShownBlock(block, {**kept, **conditions}), records)


class HeldScopes(Generic[P, E]):
    """The scopes used last: blocks of at most `max_bytes`, decoded records, pinned records.

    All of it is good for one generation of its scope. The generation is read in the same transaction as the texts,
    so a write of any process is seen by the next search, at the cost of the rows that it changed. Blocks hold the
    vectors of one embedder, or none. Every method is one step: nobody else may be at one meanwhile.
    """

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[tuple[P, E | None], Held] = OrderedDict()
        self._grew = False
        self._pinned: OrderedDict[tuple[Scope[P], ...], Sequence[MemoryRecord]] = OrderedDict()
        self._listed: OrderedDict[P, tuple[int, dict[int, MemoryRecord]]] = OrderedDict()

    def clear(self) -> None:
        self._held.clear()
        self._pinned.clear()
        self._listed.clear()

    def get(self, scope: Scope[P], embedder: E | None) -> Held | None:
        """What is held of the scope, of whichever generation."""
        return self._held.get((scope.id, embedder))

    def keep(self, scope: Scope[P], embedder: E | None, held: Held) -> None:
        """Hold this from now on; or, where it is what is held, know that it was used."""
        place = (scope.id, embedder)
        self._grew |= self._held.get(place) is not held
        _keep(self._held, place, held)

    def up_to_date(self, scopes: Iterable[Scope[P]], embedder: E | None = None) -> Sequence[Held] | None:
        """What is held of these scopes, when it is of their very generations, all of it."""
        found: list[Held] = []
        for scope in scopes:
            held = self._held.get((scope.id, embedder))
            if held is None or not held.is_of(scope):
                return None
            found.append(held)
        return found

    def add_records(self, held: Held, records: Iterable[tuple[int, MemoryRecord]]) -> None:
        """Hold these records of that generation, by number."""
        held.records.update(records)
        self._grew = True

    def listed(self, scope: Scope[P]) -> dict[int, MemoryRecord]:
        """Records of that generation by number, decoded, for whoever lists them to look at and to add to.

        Whoever added some has `shrink_records` see to it that they are not too many. They are those that search has,
        where it has any: so the same records are the same objects to whoever is shown them.
        """
        held = self.get(scope, None)
        if held is not None and held.is_of(scope):
            self._listed.pop(scope.id, None)  # it may be of an earlier generation, and nobody would let go of it
            return held.records
        generation, records = self._listed.get(scope.id, (0, {}))
        if generation != scope.generation:
            records = {}
        _keep(self._listed, scope.id, (scope.generation, records))
        if len(self._listed) > _KEPT_LISTS:
            self._listed.popitem(last=False)
        return records

    def shrink(self) -> None:
        """Drop the scopes used least recently until the rest fits, and the records of more of them."""
        if not self._grew:
            return
        self._grew = False
        total = sum(held.shown.block.nbytes for held in self._held.values())
        while total > self._max_bytes and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            total -= dropped.shown.block.nbytes
        self.shrink_records()

    def shrink_records(self) -> None:
        """Drop the decoded records of the scopes used least recently, and of lists, until few enough are left."""
        kept = 0
        for place, held in reversed(list(self._held.items())):
            kept += len(held.records)
            if kept > _KEPT_RECORDS:  # taken from nobody who answers out of them just now
                self._held[place] = replace(held, records={})
        listed = sum(len(records) for _, records in self._listed.values())
        while listed > _KEPT_RECORDS:
            _, (_, dropped) = self._listed.popitem(last=False)
            listed -= len(dropped)

    def pinned(self, scopes: Sequence[Scope[P]]) -> Sequence[MemoryRecord] | None:
        """Every record of every key that has a pin at the scopes, in digest order; None where that is to be read."""
        place = tuple(scopes)
        found = self._pinned.get(place)
        if found is not None:
            self._pinned.move_to_end(place)
        return found

    def keep_pinned(self, scopes: Sequence[Scope[P]], records: Iterable[MemoryRecord]) -> Sequence[MemoryRecord]:
        """Hold the records of every key that has a pin at the scopes, given in any order; in digest order."""
        found = pinned_among(records, [scope.token for scope in scopes])
        _keep(self._pinned, tuple(scopes), found)
        if len(self._pinned) > _KEPT_PINS:
            self._pinned.popitem(last=False)
        return found


def _keep(cache: OrderedDict[K, V], key: K, value: V) -> None:
    cache[key] = value
    cache.move_to_end(key)


class Part(NamedTuple):
    """What a filter comes to at one scope: `allowed` rows answer, or all but the `hidden` ones where it is None, and
    `versions` that the store holds no row of, each with its record's number."""

    hidden: Collection[int] = ()
    allowed: Collection[int] | None = None
    versions: Sequence[tuple[int, MemoryRecord]] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is ranked: a block for each scope, the records of its rows that are not stored so, and what is pinned."""

    blocks: Sequence[SignatureBlock]
    versions: Sequence[Mapping[int, MemoryRecord]]
    pinned: Sequence[MemoryRecord]

    def ranked(self, request: SearchRequest, language: str | None, token_source: TokenSource) -> list[Ranked]:
        """As many keys as are asked for, and the pinned ones.

        `token_source` gives the token vectors of records by (place of the block, number), where vectors are asked for.
        """
        question = ranking_question(request, language, token_source)
        return ranking.rank(self.blocks, question, request.limit + len({record.key for record in self.pinned}))

    def missing(self, held: Sequence[Held], found: Iterable[Ranked]) -> list[tuple[int, int]]:
        """Whose records the answer needs and nobody has decoded yet, by place of the scope and number."""
        return [
            (place, number)
            for place, number, _score, _signals in found
            if number not in held[place].records and number not in self.versions[place]
        ]

    def answer(self, held: Sequence[Held], found: Iterable[Ranked], limit: int) -> tuple[Hit, ...]:
        """The hits, none of whose records may be missing, and what is pinned."""
        records = [
            {**kept.records, **versions} if versions else kept.records
            for kept, versions in zip(held, self.versions, strict=True)
        ]
        hits = [Hit(records[place][number], score, signals) for place, number, score, signals in found]
        return with_pins(hits, self.pinned, limit)


def shown_of(
    scopes: Sequence[Scope[P]], held: Sequence[Held], pinned: Sequence[MemoryRecord], asked: Filter
) -> Candidates:
    """All current records but the few that a filter leaves out which is neither narrow nor historic."""
    if any(kept.shown.conditions for kept in held):
        left = [record for record in pinned if answers((record,), asked, ("active",))]
        pinned = pinned_among(left, [scope.token for scope in scopes])
    return Candidates([kept.shown.under(asked) for kept in held], [_NO_VERSIONS] * len(held), pinned)


def pinning(parts: Iterable[Part]) -> set[str]:
    """The keys that versions pin of which the store holds no row."""
    return {record.key for part in parts for _, record in part.versions if comes_along(record)}


class Narrowing(NamedTuple):
    """A narrow or historic filter with what it comes to: at each scope, and of the records that are pinned."""

    asked: Filter
    parts: Sequence[Part]
    pinned: Sequence[MemoryRecord]


def chosen_of(
    scopes: Sequence[Scope[P]], held: Sequence[Held], narrowing: Narrowing, language: str | None
) -> Candidates:
    """Some of the current records, and versions that the store holds no row of: those are made now."""
    versions = [numbered(part.versions, narrowing.asked) for part in narrowing.parts]
    blocks: list[SignatureBlock] = []
    for kept, part, added in zip(held, narrowing.parts, versions, strict=True):
        whole = kept.shown.block
        block = whole.without(part.hidden) if part.allowed is None else whole.restricted_to(part.allowed)
        blocks.append(block.with_changes([ranking_row(number, record, language) for number, record in added.items()]))
    others = [record for added in versions for record in added.values()]
    pinned = pinned_among([*narrowing.pinned, *others], [scope.token for scope in scopes])
    return Candidates(blocks, versions, pinned)
