"""What maintenance of a scope comes to, decided before anything is done (spec sections 9.1 and 9.3).

Nothing here deletes, and what a person stated, what is pinned and working blocks are left as they are. What one run
leaves behind gives the next one nothing to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from .digest import is_spent
from .kinds.rules import is_proven
from .policy import waits_for_provenance_alone
from .records import MemoryRecord, active_lane, lane_of
from .similarity import Steps, alike_keys, alike_texts, groups_of

DEFAULT_IMPORTANCE: Final = 0.5

Why = Literal["ended", "salience", "limit"]


@dataclass(frozen=True, slots=True)
class UpkeepRules:
    """What an operator wants: at most so many facts at a scope, 0 for any number, and when a rule is proven."""

    max_records: int = 0
    promote_after: int = 3


@dataclass(frozen=True, slots=True)
class SetAside:
    """A record to archive. `because` says it in words, for the person who finds it."""

    record: MemoryRecord
    why: Why
    because: str


@dataclass(frozen=True, slots=True)
class Promotion:
    """An induced rule that waits and has proven itself, and the rule of its key that it takes the place of, if any."""

    record: MemoryRecord
    over: MemoryRecord | None = None


@dataclass(frozen=True, slots=True)
class Alike:
    """Records at one scope that look like one fact under several keys; the first is the one to keep, if any is.

    `by` is what they have in common: keys that name one question, or nearly the same words.
    """

    records: tuple[MemoryRecord, ...]
    by: Literal["keys", "texts"]


@dataclass(frozen=True, slots=True)
class ScopeUpkeep:
    """What is to be done at a scope; `alike` is for a person to decide, and nothing is done about it.

    `beyond` facts are more than the limit allows and may not be set aside. `compared` is false where there was too
    much to look at every pair.
    """

    scope: str
    set_aside: tuple[SetAside, ...] = ()
    promotions: tuple[Promotion, ...] = ()
    alike: tuple[Alike, ...] = ()
    beyond: int = 0
    compared: bool = True


def plan_upkeep(
    scope: str, records: Iterable[MemoryRecord], now: str, rules: UpkeepRules, steps: Steps | None = None
) -> ScopeUpkeep:
    """What is to be done about the records of one scope, all of them, in whatever state they are.

    Args:
        scope: theirs.
        records: the current version of each.
        now: a canonical instant.
        rules: the operator's.
        steps: how much comparing them may cost.
    """
    steps = Steps() if steps is None else steps
    held = sorted(records, key=lambda record: record.id)
    over = list(_over(held, now))
    gone = {aside.record.id for aside in over}
    left = [record for record in held if record.id not in gone]
    promotions = tuple(_promotions(held, now, rules.promote_after))
    limited = _limited(left, promotions, now, rules.max_records)
    over += limited.set_aside
    gone |= {aside.record.id for aside in limited.set_aside}
    showing = [record for record in left if record.id not in gone and _is_shown(record)]
    return ScopeUpkeep(
        scope,
        tuple(over),
        tuple(promotion for promotion in promotions if promotion.record.id not in limited.not_promoted),
        tuple(_alike(showing, steps)),
        limited.beyond,
        compared=steps.left > 0,
    )


def is_kept(record: MemoryRecord) -> bool:
    """Whether maintenance leaves a record as it is, whatever its age: a person's word, a pin, a working block."""
    stated = record.origin.author == "human" or record.provenance == "user"
    return stated or record.pinned or record.kind == "working"


def has_ended(record: MemoryRecord, now: str) -> bool:
    """Whether it is a fact that is over, that is in nobody's block any more, and that may be set aside."""
    return _is_over(record, now) and _is_shown(record) and not is_kept(record)


def may_replace(promoted: MemoryRecord, standing: MemoryRecord | None) -> bool:
    """Whether a rule that has proven itself may take the place of what stands under its key, without a person.

    Not of what a person stated or pinned, nor of a rule that has worked as often.
    """
    if standing is None or promoted.rule is None:
        return standing is None
    if is_kept(standing) or standing.rule is None:
        return False
    return promoted.rule.success_count > standing.rule.success_count


def _over(held: Iterable[MemoryRecord], now: str) -> Iterator[SetAside]:
    """What is to be set aside whatever the limit."""
    for record in held:
        if has_ended(record, now):
            yield SetAside(record, "ended", f"ended {record.valid_to}")
        elif record.insight is not None and _is_voted_down(record):
            yield SetAside(record, "salience", f"salience {record.insight.salience}")


def _is_over(record: MemoryRecord, now: str) -> bool:
    return record.valid_to is not None and record.valid_to <= now


def _is_shown(record: MemoryRecord) -> bool:
    return record.status == "active" and record.archived_at is None


def _is_voted_down(record: MemoryRecord) -> bool:
    return is_spent(record) and record.archived_at is None and not is_kept(record)


def _promotions(held: Sequence[MemoryRecord], now: str, promote_after: int) -> Iterator[Promotion]:
    """Of the rules that wait for one place the one that worked most often."""
    standing = {(record.key, lane_of(record)): record for record in held if record.status == "active"}
    best: dict[tuple[str, str], MemoryRecord] = {}
    for record in held:
        holds = record.archived_at is None and not _is_over(record, now)
        if holds and waits_for_provenance_alone(record) and is_proven(record, promote_after):
            place = _place(record)
            if place not in best or _successes(record) > _successes(best[place]):
                best[place] = record
    for place, record in best.items():
        if may_replace(record, standing.get(place)):
            yield Promotion(record, standing.get(place))


def _place(record: MemoryRecord) -> tuple[str, str]:
    """Where the record stands once it is active."""
    return record.key, active_lane(record.kind, record.origin.thread_id)


def _successes(record: MemoryRecord) -> int:
    return 0 if record.rule is None else record.rule.success_count


@dataclass(frozen=True, slots=True)
class _Limited:
    set_aside: Sequence[SetAside] = ()
    not_promoted: frozenset[str] = frozenset()
    beyond: int = 0


def _limited(held: Sequence[MemoryRecord], promotions: Sequence[Promotion], now: str, most: int) -> _Limited:
    """What goes beyond `most` shown facts once the promotions are made: the least important first, then the oldest."""
    if most == 0:
        return _Limited()
    after: dict[tuple[str, str], MemoryRecord] = {_place(record): record for record in held if _is_shown(record)}
    promoted: Mapping[str, Promotion] = {promotion.record.id: promotion for promotion in promotions}
    for promotion in promotions:
        after[_place(promotion.record)] = promotion.record.model_copy(update={"updated_at": now})
    surplus = max(len(after) - most, 0)
    going = sorted((record for record in after.values() if not is_kept(record)), key=_by_importance)[:surplus]
    because = f"one of the least important and oldest beyond {most} facts at its scope"
    # A rule that would go again at once goes on waiting, and what it would have replaced goes.
    asides = [promoted[record.id].over if record.id in promoted else record for record in going]
    there = {record.id for record in held if _is_shown(record)}
    return _Limited(
        [SetAside(record, "limit", because) for record in asides if record is not None and record.id in there],
        frozenset(record.id for record in going if record.id in promoted),
        surplus - len(going),
    )


def _by_importance(record: MemoryRecord) -> tuple[float, str, str]:
    importance = DEFAULT_IMPORTANCE if record.importance is None else record.importance
    return importance, record.updated_at, record.id


def _alike(showing: Sequence[MemoryRecord], steps: Steps) -> Iterator[Alike]:
    """Groups of records that look like one fact: of one kind, and not of a conversation or a named slot."""
    from .ranking.text import forms_of_text  # noqa: PLC0415  # slow to load, and a block must not wait for it

    for kind in sorted({record.kind for record in showing} - {"working", "session"}):
        records = [record for record in showing if record.kind == kind]
        by_key = {record.key: place for place, record in enumerate(records)}
        pairs = [(by_key[one], by_key[other]) for one, other in alike_keys(by_key, steps)]
        keyed = {place for pair in pairs for place in pair}
        pairs += alike_texts([[forms[-1] for forms in forms_of_text(record.text)] for record in records], steps)
        for group in groups_of(pairs):
            kept_first = sorted((records[place] for place in group), key=_by_weight, reverse=True)
            yield Alike(tuple(kept_first), "keys" if keyed.issuperset(group) else "texts")


def _by_weight(record: MemoryRecord) -> tuple[bool, bool, float, str, str]:
    return record.pinned, record.origin.author == "human", *_by_importance(record)
