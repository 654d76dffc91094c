"""Rank a caller's records by how well they answer a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .block import SignatureBlock
from .dates import named_times, nearness
from .fusion import DEFAULT_WEIGHTS, Weights, min_max
from .lexical import Caller, bm25, frequencies_of, rarity, shared_trigrams
from .segment import find_postings
from .signature import hash_term, trigram_hashes
from .text import read_query
from .vectors import QueryVectors, cosines

_FEEDBACK_RECORDS: Final = 5
_FEEDBACK_TERMS: Final = 10


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


def rank(
    blocks: Sequence[SignatureBlock], question: Question, limit: int, weights: Weights = DEFAULT_WEIGHTS
) -> list[Ranked]:
    """The records of the `limit` best keys, best first; all records of a key stand together, best first.

    Empty when nothing in the blocks has to do with the question. Ties go to the newer record, then to the
    higher number, so that equal blocks give equal answers.
    """
    caller = Caller(tuple(blocks))
    if not caller.count or limit < 1:
        return []
    signals, eligible = _signals(caller, question, weights)
    score = sum(signals.values(), np.zeros(len(caller), dtype=np.float32))
    return _best(caller, score, eligible, signals, limit)


def _signals(
    caller: Caller, question: Question, weights: Weights
) -> tuple[dict[str, NDArray[np.float32]], NDArray[np.bool_]]:
    asked = read_query(question.text, question.language)
    words = [tuple(hash_term(form) for form in forms) for forms in asked.words]
    frequencies = frequencies_of(caller, words)
    idf = rarity(np.count_nonzero(frequencies, axis=1), caller.count)
    by_words = bm25(caller, frequencies, idf, weights.k1, weights.b)
    holds = frequencies.any(axis=0)
    by_trigrams, all_trigrams = shared_trigrams(caller, trigram_hashes(" ".join(f[0] for f in asked.words)))
    alive = caller.alive
    eligible = holds | (by_trigrams >= 0.5 * max(all_trigrams, 1e-6))
    signals = {
        "words": weights.words * min_max(by_words, alive),
        "trigrams": weights.trigrams * min_max(by_trigrams, alive),
        "subject": weights.subject * _about_subject(caller, asked.folded),
    }
    if weights.feedback:
        again = _feedback(caller, signals["words"] + signals["trigrams"], words, weights)
        signals["feedback"] = weights.feedback * min_max(again, alive)
    if question.embedded is not None:
        near = cosines(caller, question.embedded.pooled)
        signals["vector"] = weights.vector * min_max(np.nan_to_num(near), alive & ~np.isnan(near))
        eligible = eligible | (near >= weights.near)
    own = sum(signals.values(), np.zeros(len(caller), dtype=np.float32))
    beside = caller.neighbours
    around = np.where(beside != np.arange(len(caller)), own[beside], 0).max(axis=0)
    signals["neighbours"] = weights.neighbours * around
    eligible = eligible | (eligible[beside] & (beside != np.arange(len(caller)))).any(axis=0)
    times = named_times(question.text, question.now)
    if times:
        near = nearness(times, caller.times_ms)
        signals["date"] = weights.date * near
        eligible = eligible | (near > 0.5)
    return signals, eligible & alive


def _about_subject(caller: Caller, folded_words: Sequence[str]) -> NDArray[np.float32]:
    """1 for the rows about the subject that the question names, when it names exactly one known subject."""
    hashes = np.unique(np.array([hash_term(word) for word in folded_words], dtype=np.uint32))
    named: set[int] = set()
    rows: list[NDArray[np.int64]] = []
    for segment, start in caller.parts:
        hit = np.isin(segment.subjects, hashes)
        named.update(segment.subjects[hit].tolist())
        rows.append(segment.subject_rows[hit].astype(np.int64) + start)
    about = np.zeros(len(caller), dtype=np.float32)
    if len(named) == 1:
        about[np.concatenate(rows)] = 1
    return about


def _feedback(
    caller: Caller, score: NDArray[np.float32], words: Sequence[tuple[int, ...]], weights: Weights
) -> NDArray[np.float32]:
    """BM25 for the most telling terms of the best records so far (pseudo-relevance feedback)."""
    top = np.argsort(-score, kind="stable")[:_FEEDBACK_RECORDS]
    top = top[score[top] > 0]
    mark = np.zeros(len(caller), dtype=np.float32)
    mark[top] = score[top]
    terms: list[NDArray[np.uint32]] = []
    credit: list[NDArray[np.float32]] = []
    for segment, start in caller.parts:
        of_row = mark[start : start + len(segment)][segment.term_rows]
        hit = np.flatnonzero(of_row)
        terms.append(segment.terms[hit])
        credit.append(of_row[hit])
    if not terms:
        return np.zeros(len(caller), dtype=np.float32)
    distinct, inverse = np.unique(np.concatenate(terms), return_inverse=True)
    summed = np.bincount(inverse, weights=np.concatenate(credit), minlength=len(distinct))
    holding = np.zeros(len(distinct), dtype=np.int64)
    for segment, _ in caller.parts:
        holding += np.bincount(find_postings(segment.terms, distinct).group, minlength=len(distinct))
    worth = summed * rarity(holding, caller.count)
    worth[np.isin(distinct, np.array([form for forms in words for form in forms], dtype=np.uint32))] = 0
    chosen = np.argsort(-worth, kind="stable")[:_FEEDBACK_TERMS]
    chosen = chosen[worth[chosen] > 0]
    frequencies = frequencies_of(caller, [(int(term),) for term in distinct[chosen]])
    return bm25(caller, frequencies, worth[chosen].astype(np.float32), weights.k1, weights.b)


def _best(
    caller: Caller,
    score: NDArray[np.float32],
    eligible: NDArray[np.bool_],
    signals: dict[str, NDArray[np.float32]],
    limit: int,
) -> list[Ranked]:
    rows = np.flatnonzero(eligible)
    order = rows[np.lexsort((-caller.numbers[rows], -caller.times_ms[rows], -score[rows]))]
    chosen: dict[int, None] = {}
    for key in caller.keys[order].tolist():
        if len(chosen) == limit and key not in chosen:
            break
        chosen[key] = None
    place = {key: number for number, key in enumerate(chosen)}
    siblings = np.flatnonzero(np.isin(caller.keys, np.array(list(chosen), dtype=np.int64)) & caller.alive)
    keyed = sorted(
        siblings.tolist(),
        key=lambda row: (
            place[int(caller.keys[row])],
            -float(score[row]),
            -int(caller.times_ms[row]),
            -int(caller.numbers[row]),
        ),
    )
    blocks = np.searchsorted(caller.starts, keyed, side="right") - 1
    return [
        Ranked(
            int(block),
            int(caller.numbers[row]),
            float(score[row]),
            {name: float(values[row]) for name, values in signals.items()},
        )
        for row, block in zip(keyed, blocks.tolist(), strict=True)
    ]
