"""Which facts apply, and which of them win: the one function behind the prompt and the read-back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from pydantic import Field

from .derived import Derived
from .records import Author, FrozenModel, Insight, MemoryOrigin, MemoryRecord, comes_along, is_absent

DEFAULT_MAX_MEMORIES = 20


class Citing(Protocol):
    """What may be an insight, and so cite others."""

    @property
    def id(self) -> str: ...
    @property
    def insight(self) -> Insight | None: ...


C = TypeVar("C", bound=Citing)


class Override(FrozenModel):
    """A value that the narrower one beat, so that a stale guess and a published policy can be told apart.

    `id` and `version` say for the journal which record it was; they are not part of what is shown.
    """

    scope: str
    text: str
    author: Author
    id: str = Field(default="", exclude=True)
    version: int = Field(default=1, exclude=True)

    @classmethod
    def of(cls, record: MemoryRecord) -> Override:
        return cls(
            scope=record.scope,
            text=record.text,
            author=record.origin.author,
            id=record.id,
            version=record.version,
        )


class DigestEntry(MemoryRecord):
    """The record that answers a key, and the wider answers that it outranks, widest last.

    `pinned` is true where any of them is pinned, and for a working block: it comes along in every digest.
    """

    overrides: tuple[Override, ...] = Field(default=(), exclude_if=is_absent)


class MemoryDigest(FrozenModel):
    """What applies to a request, in rendering order.

    `omitted` counts entries that the ceiling dropped, `pinned_omitted` those of them that were pinned:
    more is pinned than the block holds. `recalled` is true when relevance picked the entries, and `signals` says
    what took part in that besides words: `embedder` is `used` or `unavailable` where one is configured.
    `as_of` and `known_at` are there when it shows what was true, or was believed, at another time than now.
    """

    digest_id: str | None = Field(default=None, exclude_if=is_absent)
    scopes: tuple[str, ...]
    entries: tuple[DigestEntry, ...]
    omitted: int = 0
    pinned_omitted: int = 0
    recalled: bool = False
    signals: dict[str, str] = Field(default_factory=dict, exclude_if=is_absent)
    as_of: str | None = Field(default=None, exclude_if=is_absent)
    known_at: str | None = Field(default=None, exclude_if=is_absent)

    @property
    def partial(self) -> bool:
        """Whether absence from the entries proves nothing."""
        return self.recalled or self.omitted > 0


class Answer(NamedTuple):
    """An entry, with what its place in a digest goes by: that is read of every record several times in a turn."""

    key: str
    scope: str
    updated_at: str
    pinned: bool
    id: str
    insight: Insight | None
    entry: DigestEntry


def resolve_digest(
    records: Iterable[MemoryRecord],
    scopes: Sequence[str],
    max_memories: int = DEFAULT_MAX_MEMORIES,
    ranked: bool = False,
    told: Mapping[str, Any] = MappingProxyType({}),
) -> MemoryDigest:
    """Resolve records into at most `max_memories` entries, one a key (spec section 4).

    Records outside `scopes` are dropped, not trusted. `scopes` go from most to least specific. When `ranked`,
    the order of `records` is their relevance and a key is as relevant as its best-placed record. An insight stands
    behind those of the facts that it cites, and one that votes brought down to a salience of 0 is gone.
    `told` are further fields of the digest.
    """
    return digest_of(answers_of(records), scopes, max_memories, ranked, told)


def answers_of(records: Iterable[MemoryRecord]) -> list[Answer]:
    """Each record as the entry that shows it where nothing outranks it and it outranks nothing."""
    return _alone.of_each(records)


def digest_of(
    answers: Iterable[Answer], scopes: Sequence[str], max_memories: int, ranked: bool, told: Mapping[str, Any]
) -> MemoryDigest:
    """`resolve_digest` of records of which this is known already."""
    rank = {scope: position for position, scope in reversed(list(enumerate(scopes)))}
    applying = [answer for answer in answers if answer.scope in rank and not (answer.insight and is_spent(answer))]
    if len({answer.key for answer in applying}) < len(applying):  # seldom: most keys have one answer
        by_key: dict[str, list[Answer]] = {}
        for answer in applying:
            by_key.setdefault(answer.key, []).append(answer)
        applying = [held[0] if len(held) == 1 else _resolve_key(held, rank) for held in by_key.values()]
    pinned = [answer for answer in applying if answer.pinned]
    if not ranked:
        ordered = _selection_order(applying, rank)
    elif pinned:
        ordered = _selection_order(pinned, rank) + below_cited([answer for answer in applying if not answer.pinned])
    else:
        ordered = below_cited(applying)

    chosen, dropped = ordered[: max(max_memories, 0)], ordered[max(max_memories, 0) :]
    # The rendering order never depends on score or age: it must not move from turn to turn.
    chosen.sort(key=attrgetter("key"))
    if pinned or len({answer.scope for answer in chosen}) > 1:
        chosen.sort(key=lambda answer: (not answer.pinned, rank[answer.scope]))
    return MemoryDigest(
        **told,
        scopes=tuple(scopes),
        entries=tuple([answer.entry for answer in chosen]),
        omitted=len(dropped),
        pinned_omitted=sum(answer.pinned for answer in dropped),
        recalled=ranked,
    )


def _resolve_key(held: Sequence[Answer], rank: dict[str, int]) -> Answer:
    """The narrowest answer wins; a provider that returns two at one scope is taken at its newest word."""
    newest_first = sorted(held, key=attrgetter("updated_at"), reverse=True)
    at_scope: dict[str, Answer] = {}
    for answer in newest_first:
        at_scope.setdefault(answer.scope, answer)
    winner, *beaten = sorted(at_scope.values(), key=lambda answer: rank[answer.scope])
    pinned = any(answer.pinned for answer in held)
    overrides = tuple(Override.of(answer.entry) for answer in beaten)
    return winner._replace(pinned=pinned, entry=as_entry(winner.entry, pinned=pinned, overrides=overrides))


def as_entry(record: MemoryRecord, *, pinned: bool, overrides: tuple[Override, ...]) -> DigestEntry:
    """The entry that shows `record`: a pin belongs to the question, so it may come from a beaten record."""
    # A copy, not a construction: the values come out of a validated record, and a turn builds dozens of these.
    return _BLANK_ENTRY.model_copy(update={**vars(record), "pinned": pinned, "overrides": overrides})


_BLANK_ENTRY: Final = DigestEntry(
    id="blank", key="", text="", scope="", origin=MemoryOrigin(author="agent"), updated_at="0001-01-01T00:00:00Z"
)


def _made_alone(record: MemoryRecord) -> Answer:
    entry = as_entry(record, pinned=comes_along(record), overrides=())
    return Answer(entry.key, entry.scope, entry.updated_at, entry.pinned, entry.id, entry.insight, entry)


_alone: Final = Derived[MemoryRecord, Answer](_made_alone)


def _selection_order(answers: list[Answer], rank: dict[str, int]) -> list[Answer]:
    """Pinned first, then scope order, then newest, then key: by stable sorts, the least significant first."""
    ordered = sorted(answers, key=attrgetter("key"))
    ordered.sort(key=attrgetter("updated_at"), reverse=True)
    ordered.sort(key=lambda answer: (not answer.pinned, rank[answer.scope]))
    pinned = [answer for answer in ordered if answer.pinned]
    return below_cited(pinned) + below_cited(ordered[len(pinned) :])


def is_spent(record: Citing) -> bool:
    """Whether votes have brought an insight down so far that nobody is shown it any more."""
    return record.insight is not None and record.insight.salience <= 0


def below_cited(records: Sequence[C]) -> list[C]:
    """The same records in the same order, but each insight behind the last of those that it cites.

    Insights that cite each other in a circle keep their order, behind everything else.
    """
    if not [record for record in records if record.insight]:
        return list(records)
    ahead = {record.id for record in records}
    ordered: list[C] = []
    waiting: list[C] = []
    for record in records:
        waiting.append(record)
        while ready := next((held for held in waiting if held.insight is None or ahead.isdisjoint(_cited(held))), None):
            waiting.remove(ready)
            ordered.append(ready)
            ahead.discard(ready.id)
    return ordered + waiting


def _cited(record: Citing) -> set[str]:
    """The ids of the other records that an insight cites."""
    return set(record.insight.cites if record.insight else ()) - {record.id}
