"""The group `search`: ranking by a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mcp_memory_server.records import MemoryRecord

from .filtering import UNFILTERED, Filter
from .required import MemoryProvider

if TYPE_CHECKING:
    from mcp_memory_server.ranking import QueryVectors


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A question as the embedder of that id sees it: compared with vectors of the same id only."""

    embedder: str
    vectors: QueryVectors


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question in plain text: never a query language, any string at all. `at` anchors relative dates.

    `embedded` is used by providers of the group `vectors`, for the records whose vectors they hold; words decide
    about the others. `with_unrelated` ranks every record at the scopes, also those that have nothing to do with the
    question: for whoever picks from the ranking himself, or measures it. `with_signals` asks for those of the hits,
    which are a part of the work: whoever does not show them need not.
    """

    scopes: tuple[str, ...]
    query: str
    limit: int
    at: str
    embedded: EmbeddedQuery | None = None
    with_unrelated: bool = False
    with_signals: bool = True
    filter: Filter = UNFILTERED


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that search returned. Companions of a ranked key may score 0.

    `signals` says what made up the score, by name; they sum to it. The shared engine (`ranking`) has `bm25`,
    `trigram`, `feedback`, `vector`, `tokens`, `neighbours`, `passage`, `subject` and `date`, those that took part.
    The newer of equal scores stands first. `pin` is there, adding nothing, where a pin alone brought the record. Where
    nobody asked for signals there may be none.
    """

    record: MemoryRecord
    score: float
    signals: Mapping[str, float] = field(default_factory=dict[str, float])


class SearchingProvider(MemoryProvider, Protocol):
    async def search(self, request: SearchRequest) -> tuple[Hit, ...]:
        """The best-matching keys, best first, at most `limit` of them; no keys when nothing matches.

        Every active record that shares a returned key at the scopes comes along, and every active record of every
        key that has a pinned one there. Pinned keys do not count toward `limit`; those that do not rank among
        them stand last, in digest order. The records of a key stand together. Ranking depends on active records at the
        requested scopes only.
        """
        ...
