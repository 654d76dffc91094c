"""Rank a caller's records by how well they answer a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import repeat
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .block import SignatureBlock
from .caller import Caller
from .dates import named_times, nearness
from .fusion import WITH_POOLED, WITH_TOKENS, WORDS_ALONE, Weights, min_max, weighted
from .lexical import LexicalMatch, feedback, match_words, word_rarity
from .signature import hash_term
from .text import read_query
from .vectors import QueryVectors, TokenSource, cosines, max_similarity

# Late interaction reads the token vectors of this many records, the best by everything else.
_RERANKED: Final = 100
# What a record's surroundings are: this many records of its thread before and after it.
_PASSAGE_RADIUS: Final = 8
# The part of a question, by the rarity of its words, from which a row that holds it counts as a full match.
_GOOD_MATCH: Final = 0.5
# When a vector is near, this many of the nearest are shown, however far: how near an answer lies varies.
_NEAREST: Final = 10
# A record that holds nothing of the question comes along with a neighbour that is at least this good, and a record
# written this near to a named date comes along too.
_GOOD_NEIGHBOUR: Final = 0.7
_NEAR_DATE: Final = 0.5
# Scores that differ by less are rounding, and tie.
_DECIMALS: Final = 5
# Of fewer rows all are sorted sooner than the best are told from the rest.
_WORTH_NARROWING: Final = 500
_NO_SHARES: Final[Mapping[str, float]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the moment it is asked at, which dates like "last week" are told from."""

    text: str
    now: datetime
    embedded: QueryVectors | None = None
    """The text as seen by the embedder whose vectors the blocks hold; without it words alone decide."""
    language: str | None = None
    """A Snowball name; detected when not given."""
    with_unrelated: bool = False
    """Leave out nothing, however little it has to do with the question."""
    with_signals: bool = True
    """Tell what made up each score, for whoever shows it: a twentieth of the work for 200 records."""


class Ranked(NamedTuple):
    """One record of the answer. `number` is the store's own, within the block at `block_index`."""

    block_index: int
    number: int
    score: float
    signals: Mapping[str, float]
    """What each signal added to the score; they sum to it. Empty where nobody asked for it."""


def rank(
    blocks: Sequence[SignatureBlock], question: Question, limit: int, weights: Weights | None = None
) -> list[Ranked]:
    """The records of the `limit` best keys, best first; all records of a key stand together, best first.

    Empty when nothing in the blocks has to do with the question, unless it asks for that too. Ties go to the newer
    record, then to the higher number, so that equal blocks give equal answers. Nothing but these blocks moves the
    result: while none of their records has a vector, words alone decide, as they do without an embedder.
    """
    if limit < 1 or not any(map(len, blocks)):
        return []
    caller = Caller(blocks)
    if question.embedded is not None and not caller.has_vectors:
        question = replace(question, embedded=None)
    ranking = _Ranking(caller, question, weights or _weights_for(question.embedded))
    return ranking.best(limit)


def _weights_for(embedded: QueryVectors | None) -> Weights:
    if embedded is None:
        return WORDS_ALONE
    return WITH_TOKENS if embedded.tokens is not None else WITH_POOLED


class _Ranking:
    """The signals of one question over one caller's records, as they are gathered."""

    def __init__(self, caller: Caller, question: Question, weights: Weights) -> None:
        self._caller = caller
        self._weights = weights
        self._with_signals = question.with_signals
        self._living = None if caller.all_alive else caller.alive
        query = read_query(question.text, question.language)
        match = match_words(caller, query)
        self._eligible = match.evidence
        self._own = self._lexical_signals(match)
        """What a record tells by itself; it spreads to the neighbours."""
        self._apart: dict[str, NDArray[np.float32]] = {}
        if caller.has_subjects:
            self._apart["subject"] = self._about_the_subject(query.folded)
        if caller.has_threads:
            self._apart["passage"] = self._held_around(match)
        times = named_times(question.text, question.now)
        if times:
            near = nearness(times, caller.times_ms)
            self._apart["date"] = weighted(weights.date, near)
            self._eligible |= near >= _NEAR_DATE
        if question.embedded is not None:
            self._add_vectors(question.embedded)
        if question.with_unrelated:
            self._eligible = np.ones(caller.row_count, dtype=np.bool_)

    def best(self, limit: int) -> list[Ranked]:
        """The records of the best keys, with what each signal gave them."""
        caller = self._caller
        eligible = self._eligible
        if not caller.has_threads:
            signals = {**self._own, **self._apart}
        else:
            own = _summed(self._own)
            signals = self._signals(own)
            anchors = eligible & (own >= np.float32(_GOOD_NEIGHBOUR) * own.max())
            eligible = eligible | (caller.best_beside(anchors.astype(np.float32), 1) > 0)
        if self._living is not None:
            eligible = eligible & self._living
        score = _summed(signals).round(_DECIMALS)
        order = _ordered(caller, score, eligible.nonzero()[0], limit)
        if len(caller.blocks) == 1 and caller.blocks[0].has_distinct_keys:
            rows = order[:limit]
        else:
            rows = self._with_siblings(list(dict.fromkeys(caller.keys[order].tolist()))[:limit], score)
        told = zip(
            caller.block_indices(rows),
            caller.numbers.take(rows).tolist(),
            score.take(rows).tolist(),
            _shares(signals, rows) if self._with_signals else repeat(_NO_SHARES, len(rows)),
            strict=True,
        )
        return list(map(Ranked._make, told))

    def _with_siblings(self, keys: list[int], score: NDArray[np.float32]) -> NDArray[np.int64]:
        """All rows of these keys in the order of the keys, those of one key by score."""
        caller = self._caller
        wanted = np.array(keys, dtype=np.int64)
        rows: list[NDArray[np.int64]] = []
        places: list[NDArray[np.int64]] = []
        for block, start in zip(caller.blocks, caller.starts, strict=False):
            sorted_keys, row_of_key = block.keys_in_order
            first = sorted_keys.searchsorted(wanted, "left")
            counts = sorted_keys.searchsorted(wanted, "right") - first
            place = np.arange(len(wanted)).repeat(counts)
            at = np.arange(len(place)) + (first - counts.cumsum() + counts).repeat(counts)
            rows.append(row_of_key[at] + start)
            places.append(place)
        found, place = np.concatenate(rows), np.concatenate(places)
        living = caller.alive[found]
        found, place = found[living], place[living]
        return found[np.lexsort((-caller.numbers[found], -caller.times_ms[found], -score[found], place))]

    def _signals(self, own: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        if not self._caller.has_threads:
            return {**self._own, **self._apart}
        around = weighted(self._weights.one_away, self._caller.best_beside(own, 1))
        around += weighted(self._weights.two_away, self._caller.best_beside(own, 2))
        return {**self._own, "neighbours": around, **self._apart}

    def _lexical_signals(self, match: LexicalMatch) -> dict[str, NDArray[np.float32]]:
        weights = self._weights
        signals = {
            "bm25": self._scaled_words(match),
            "trigram": min_max(match.trigrams, self._living, weights.trigrams),
        }
        if weights.feedback and not self._caller.has_threads:
            again = feedback(self._caller, match, _summed(signals))
            signals["feedback"] = min_max(again, self._living, weights.feedback)
        return signals

    def _scaled_words(self, match: LexicalMatch) -> NDArray[np.float32]:
        """BM25 scaled by the best row, unless even that one holds little of the question.

        Otherwise one chance word in a question that nothing else answers would count as much as a full answer, and
        drown what vectors know.
        """
        best = max(float(np.maximum.reduce(match.words)), _GOOD_MATCH * float(np.add.reduce(match.rarity)))
        return weighted(self._weights.words / best if best else 0.0, match.words)

    def _held_around(self, match: LexicalMatch) -> NDArray[np.float32]:
        around = self._caller.held_near(match.rows, match.held, match.rarity, _PASSAGE_RADIUS)
        return min_max(around, self._living, self._weights.passage)

    def _about_the_subject(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The weight for rows about the subject that the question names, if it names exactly one of those known."""
        about = np.zeros(self._caller.row_count, dtype=np.float32)
        hits = self._caller.find_subjects(np.array([hash_term(word) for word in words], dtype=np.uint32))
        if np.count_nonzero(hits.holding) == 1:
            about[hits.rows] = self._weights.subject
        return about

    def _add_vectors(self, embedded: QueryVectors) -> None:
        parts = [cosines(segment.vectors, segment.vector_lengths, embedded.pooled) for segment, _ in self._caller.parts]
        near = np.concatenate(parts)
        known = ~np.isnan(near) & self._caller.alive
        # A record whose vector is not made yet is taken to be as near as its words are.
        scaled = np.where(known, min_max(near, known), min_max(_summed(self._own), self._living))
        self._own["vector"] = weighted(self._weights.pooled, scaled)
        with np.errstate(invalid="ignore"):
            if (near >= embedded.near(self._caller.count)).any():
                self._eligible |= near >= min(embedded.unrelated, _nth_highest(near[known], _NEAREST))
        if embedded.tokens is not None and embedded.token_source is not None:
            self._own["tokens"] = self._late_interaction(embedded.tokens, embedded, embedded.token_source)

    def _late_interaction(
        self, tokens: NDArray[np.float32], embedded: QueryVectors, source: TokenSource
    ) -> NDArray[np.float32]:
        """What the token vectors say of the best rows so far; 0 for the others."""
        caller = self._caller
        so_far = min_max(_summed(self._signals(_summed(self._own))), self._living)
        top = np.argsort(-np.where(caller.alive, so_far, -1), kind="stable")[: min(_RERANKED, caller.count)]
        blocks = np.searchsorted(caller.starts, top, side="right") - 1
        documents = source(list(zip(blocks.tolist(), caller.numbers[top].tolist(), strict=True)))
        found = max_similarity(documents, tokens, word_rarity(caller, embedded.token_forms()))
        known = ~np.isnan(found)
        scaled = np.zeros(caller.row_count, dtype=np.float32)
        # As with vectors: without any, a record keeps the place it has.
        scaled[top] = np.where(known, min_max(found, known), so_far[top])
        return weighted(self._weights.tokens, scaled)


def _shares(signals: Mapping[str, NDArray[np.float32]], rows: NDArray[np.int64]) -> list[dict[str, float]]:
    """What each signal gave each of these rows."""
    shares = zip(*(values.take(rows).tolist() for values in signals.values()), strict=True)
    return [dict(zip(signals, share, strict=True)) for share in shares]


def _ordered(caller: Caller, score: NDArray[np.float32], rows: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """The best of these rows in the order of rank, at least so many that they hold `limit` keys if all rows do."""
    # A key stands once in a block.
    enough = limit * len(caller.blocks)
    if len(rows) > max(enough, _WORTH_NARROWING) and all(block.has_distinct_keys for block in caller.blocks):
        scores = score.take(rows)
        rows = rows[scores >= _nth_highest(scores, enough)]
    # Sorted upwards and read backwards, so that nothing has to be negated. What is equal keeps its order.
    rows = rows[::-1]
    upwards = np.lexsort((caller.numbers.take(rows), caller.times_ms.take(rows), score.take(rows)))
    return rows.take(upwards[::-1])


def _nth_highest(values: NDArray[np.float32], count: int) -> float:
    """The lowest of the `count` highest values."""
    place = max(len(values) - count, 0)
    ordered = values.copy()
    ordered.partition(place)
    return float(ordered[place])


def _summed(signals: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    total, *others = signals.values()
    for values in others:
        total = total + values
    return total
