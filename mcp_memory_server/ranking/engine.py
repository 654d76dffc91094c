"""Rank a caller's records by how well they answer a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .block import SignatureBlock
from .caller import Caller
from .dates import named_times, nearness
from .fusion import WITH_POOLED, WITH_TOKENS, WORDS_ALONE, Weights, min_max, weighted
from .lexical import LexicalMatch, feedback, match_words, rarity, term_frequencies
from .signature import hash_term
from .text import read_query
from .vectors import QueryVectors, cosines, max_similarity

# Late interaction reads the token vectors of this many records, the best by everything else.
_RERANKED: Final = 100
# What a record's surroundings are: this many records of its thread before and after it.
_PASSAGE_RADIUS: Final = 8
# A record that holds nothing of the question comes along with a neighbour that is at least this good, and a record
# written this near to a named date comes along too.
_GOOD_NEIGHBOUR: Final = 0.7
_NEAR_DATE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the moment it is asked at, which dates like "last week" are told from."""

    text: str
    now: datetime
    embedded: QueryVectors | None = None
    """The text as seen by the embedder whose vectors the blocks hold; without it words alone decide."""
    language: str | None = None
    """A Snowball name; detected when not given."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One record of the answer. `number` is the store's own, within the block at `block_index`."""

    block_index: int
    number: int
    score: float
    signals: dict[str, float]
    """What each signal added to the score; they sum to it."""


def rank(
    blocks: Sequence[SignatureBlock], question: Question, limit: int, weights: Weights | None = None
) -> list[Ranked]:
    """The records of the `limit` best keys, best first; all records of a key stand together, best first.

    Empty when nothing in the blocks has to do with the question. Ties go to the newer record, then to the
    higher number, so that equal blocks give equal answers. Nothing but these blocks moves the result.
    """
    caller = Caller(tuple(blocks))
    if not caller.count or limit < 1:
        return []
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
        query = read_query(question.text, question.language)
        match = match_words(caller, query)
        self._own = self._lexical_signals(match)
        self._eligible = match.evidence.copy()
        self._last = {
            "passage": weighted(weights.passage, self._held_around(match)),
            "subject": weighted(weights.subject, self._about_the_subject(query.folded)),
        }
        times = named_times(question.text, question.now)
        if times:
            near = np.where(caller.alive, nearness(times, caller.times_ms), 0)
            self._last["date"] = weighted(weights.date, near)
            self._eligible |= near >= _NEAR_DATE
        if question.embedded is not None:
            self._add_vectors(question.embedded)

    def best(self, limit: int) -> list[Ranked]:
        """The records of the best keys, with what each signal gave them."""
        caller, signals = self._caller, self._signals()
        score = _summed(signals, len(caller))
        own = _summed(self._own, len(caller))
        anchors = self._eligible & (own >= _GOOD_NEIGHBOUR * float(own.max()))
        beside = caller.threads.best_beside(anchors.astype(np.float32), 1) > 0
        rows = np.flatnonzero((self._eligible | beside) & caller.alive)
        order = rows[np.lexsort((-caller.numbers[rows], -caller.times_ms[rows], -score[rows]))]
        place: dict[int, int] = {}
        for key in caller.keys[order].tolist():
            if len(place) == limit:
                break
            place.setdefault(key, len(place))
        of_keys = np.flatnonzero(np.isin(caller.keys, np.array(list(place), dtype=np.int64)) & caller.alive)
        places = np.array([place[key] for key in caller.keys[of_keys].tolist()], dtype=np.int64)
        sort_by = (-caller.numbers[of_keys], -caller.times_ms[of_keys], -score[of_keys], places)
        return [self._ranked(row, float(score[row]), signals) for row in of_keys[np.lexsort(sort_by)].tolist()]

    def _ranked(self, row: int, score: float, signals: dict[str, NDArray[np.float32]]) -> Ranked:
        block = int(np.searchsorted(self._caller.starts, row, side="right")) - 1
        shares = {name: float(values[row]) for name, values in signals.items()}
        return Ranked(block, int(self._caller.numbers[row]), score, shares)

    def _signals(self) -> dict[str, NDArray[np.float32]]:
        threads = self._caller.threads
        own = _summed(self._own, len(self._caller))
        around = self._weights.one_away * threads.best_beside(own, 1)
        around += self._weights.two_away * threads.best_beside(own, 2)
        return {**self._own, "neighbours": around, **self._last}

    def _lexical_signals(self, match: LexicalMatch) -> dict[str, NDArray[np.float32]]:
        weights, alive = self._weights, self._caller.alive
        signals = {
            "words": weighted(weights.words, min_max(match.words, alive)),
            "trigrams": weighted(weights.trigrams, min_max(match.trigrams, alive)),
        }
        if weights.feedback:
            again = feedback(self._caller, match, signals["words"] + signals["trigrams"])
            signals["feedback"] = weighted(weights.feedback, min_max(again, alive))
        return signals

    def _held_around(self, match: LexicalMatch) -> NDArray[np.float32]:
        around = self._caller.threads.held_near(match.holds, _PASSAGE_RADIUS)
        return min_max((match.rarity @ around).astype(np.float32), self._caller.alive)

    def _about_the_subject(self, words: Sequence[str]) -> NDArray[np.float32]:
        """1 for rows about the subject that the question names, if it names exactly one of those known."""
        caller = self._caller
        asked = np.array([hash_term(word) for word in words], dtype=np.uint32)
        about = np.zeros(len(caller), dtype=np.float32)
        named: set[int] = set()
        for segment, start in caller.parts:
            at = np.isin(segment.subjects, asked)
            named.update(segment.subjects[at].tolist())
            about[segment.subject_rows[at] + start] = 1
        return about if len(named) == 1 else np.zeros_like(about)

    def _add_vectors(self, embedded: QueryVectors) -> None:
        caller, weights = self._caller, self._weights
        near = cosines(caller, embedded.pooled)
        known = caller.alive & ~np.isnan(near)
        words = _summed(self._own, len(caller))
        # A record whose vector is not made yet is taken to be as near as its words are.
        scaled = np.where(known, min_max(near, known), min_max(words, caller.alive))
        self._own["vector"] = weighted(weights.pooled, scaled)
        with np.errstate(invalid="ignore"):
            self._eligible |= near >= embedded.near
        if embedded.tokens is not None and embedded.token_source is not None:
            self._add_tokens(embedded)

    def _add_tokens(self, embedded: QueryVectors) -> None:
        caller = self._caller
        assert embedded.tokens is not None
        assert embedded.token_source is not None
        score = np.where(caller.alive, _summed(self._signals(), len(caller)), -np.inf)
        top = np.argsort(-score, kind="stable")[: min(_RERANKED, caller.count)]
        blocks = np.searchsorted(caller.starts, top, side="right") - 1
        wanted = list(zip(blocks.tolist(), caller.numbers[top].tolist(), strict=True))
        telling = rarity(np.count_nonzero(term_frequencies(caller, embedded.token_forms()), axis=1), caller.count)
        found = max_similarity(embedded.token_source(wanted), embedded.tokens, telling)
        known = ~np.isnan(found)
        near = np.full(len(caller), np.nan, dtype=np.float32)
        near[top] = found
        rows = np.zeros(len(caller), dtype=np.bool_)
        rows[top[known]] = True
        scaled = min_max(near, rows)
        waiting = top[~known]
        scaled[waiting] = min_max(score.astype(np.float32), caller.alive)[waiting]
        self._own["tokens"] = weighted(self._weights.tokens, scaled)


def _summed(signals: dict[str, NDArray[np.float32]], count: int) -> NDArray[np.float32]:
    total = np.zeros(count, dtype=np.float32)
    for values in signals.values():
        total += values
    return total
