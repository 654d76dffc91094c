"""Scores by words and by trigrams, over the caller's records only.

BM25 follows Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf
that stays above nought, so that a word which most records hold still counts for those that hold it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .caller import Caller
from .postings import Hits
from .related import related_stems
from .signature import hash_forms, trigram_hashes
from .text import QueryText

# Facts are short: saturation comes early, and a longer fact is rarely padded, so length counts little.
_K1: Final = 0.9
_B: Final = 0.2
# A related word tells less than the word itself, and never more than it would.
_RELATED: Final = 0.4
# By related words alone a record is shown only if they stand for this part of all that the question asks.
_RELATED_EVIDENCE: Final = 0.4
_FEEDBACK_RECORDS: Final = 10
_FEEDBACK_TERMS: Final = 20
# When no record holds a word of the question, one may be a misspelling of what shares this part of its trigrams. It
# is a reason to show a record, no more: counting it as a word found lowers recall, since long records share trigrams
# by chance, and few are enough to make up a short word.
_MISSPELT: Final = 0.45
_MISSPELT_TELLING: Final = 0.85
_MOST_MISSPELT: Final = 16
# In a shorter word one wrong letter leaves so few trigrams that any word shares them.
_SHORTEST_MISSPELT: Final = 5


@dataclass(frozen=True, eq=False, slots=True)
class LexicalMatch:
    """How the words of a question and the records meet. Arrays are by row unless said."""

    hashes: NDArray[np.uint32]
    """All forms of all words of the question."""
    hits: Hits
    """`wanted` numbers the words of the question here; a row may stand twice for a word, by two of its forms."""
    rarity: NDArray[np.float32]
    """By word: its idf."""
    words: NDArray[np.float32]
    """BM25, related words included."""
    trigrams: NDArray[np.float32]
    evidence: NDArray[np.bool_]
    """Rows that hold a word of the question, or, if none does, what may be one misspelt or mostly related to it."""


def match_words(caller: Caller, query: QueryText) -> LexicalMatch:
    """Score all rows by the words of a question."""
    pairs = [(number, form) for number, forms in enumerate(query.words) for form in hash_forms(forms)]
    word_of_form = np.array([number for number, _ in pairs], dtype=np.int64)
    hashes = np.array([form for _, form in pairs], dtype=np.uint32)
    found, often = caller.find_terms(hashes)
    hits = found._replace(wanted=word_of_form[found.wanted])
    frequencies = np.zeros((len(query.words), len(caller)), dtype=np.float32)
    # A row may hold a word as written and as its stem; both are the same word, so the larger count stands.
    np.maximum.at(frequencies, (hits.wanted, hits.rows), often)
    holding = np.count_nonzero(frequencies, axis=1)
    idf = rarity(holding, caller.count)
    # Summed word by word, not as a matrix product, whose rounding depends on where a row stands: equal rows must tie.
    words = (idf[:, np.newaxis] * _saturated(frequencies, 1 - _B + _B * caller.relative_lengths)).sum(axis=0)
    evidence = np.zeros(len(caller), dtype=np.bool_)
    evidence[hits.rows] = True
    related = _related_score(caller, query, frequencies, idf) if query.language == "english" else None
    if related is not None:
        words += np.float32(_RELATED) * related
        evidence |= related >= np.float32(_RELATED_EVIDENCE) * idf.sum()
    if not evidence.any():
        for written, *_ in query.words[:_MOST_MISSPELT]:
            if len(written) >= _SHORTEST_MISSPELT:
                evidence |= _may_misspell(caller, written)
    return LexicalMatch(hashes, hits, idf, words, _trigram_score(caller, query.clear), evidence)


def rarity(holding: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """The idf of terms that so many of `count` records hold."""
    return np.log1p((count - holding + 0.5) / (holding + 0.5)).astype(np.float32)


def word_rarity(caller: Caller, words: list[tuple[str, ...]]) -> NDArray[np.float32]:
    """The idf of each word by the commonest of its forms."""
    pairs = [(number, form) for number, forms in enumerate(words) for form in hash_forms(forms)]
    hits, _ = caller.find_terms(np.array([form for _, form in pairs], dtype=np.uint32))
    holding = np.zeros(len(words), dtype=np.int64)
    np.maximum.at(holding, np.array([number for number, _ in pairs], dtype=np.int64), hits.holding)
    return rarity(holding, caller.count)


def feedback(caller: Caller, match: LexicalMatch, score: NDArray[np.float32]) -> NDArray[np.float32]:
    """BM25, without lengths, for the most telling other terms of the best rows: pseudo-relevance feedback."""
    best = np.argsort(-score, kind="stable")[:_FEEDBACK_RECORDS]
    terms, credit = _terms_of(caller, best[score[best] > 0], score)
    if not len(terms):
        return np.zeros(len(caller), dtype=np.float32)
    distinct, inverse, shared = np.unique(terms, return_inverse=True, return_counts=True)
    holding = np.zeros(len(distinct), dtype=np.int64)
    for segment, _ in caller.parts:
        hashes = segment.terms.hashes
        holding += hashes.searchsorted(distinct, "right") - hashes.searchsorted(distinct, "left")
    value = np.bincount(inverse, weights=credit, minlength=len(distinct)) * rarity(holding, max(caller.count, 1))
    # A term of one best row alone would only praise that row for its other words.
    value[shared < 2] = 0
    asked = np.minimum(distinct.searchsorted(match.hashes), len(distinct) - 1)
    value[asked[distinct[asked] == match.hashes]] = 0
    chosen = np.lexsort((distinct, -value))[:_FEEDBACK_TERMS]
    chosen = chosen[value[chosen] > 0]
    hits, often = caller.find_terms(distinct[chosen])
    return caller.sum_by_row(hits, value[chosen][hits.wanted] * _saturated(often))


def _terms_of(
    caller: Caller, rows: NDArray[np.int64], score: NDArray[np.float32]
) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    """The terms of these rows, each with the score of its row, in the order of the rows."""
    found = [np.zeros(0, dtype=np.uint32)]
    ranks = [np.zeros(0, dtype=np.int64)]
    for segment, start in caller.parts:
        held = np.flatnonzero((rows >= start) & (rows < start + len(segment)))
        terms, counts = segment.terms_of(rows[held] - start)
        found.append(terms)
        ranks.append(held.repeat(counts))
    rank = np.concatenate(ranks)
    # Sums depend on the order of what is summed, and must not on how the rows are spread over segments.
    order = rank.argsort(kind="stable")
    return np.concatenate(found)[order], score[rows[rank[order]]]


def _saturated(frequencies: NDArray[np.float32], lengths: NDArray[np.float32] | float = 1.0) -> NDArray[np.float32]:
    """What a count is worth in BM25; `lengths` is the divisor for each row's length."""
    return frequencies * np.float32(_K1 + 1) / (frequencies + np.multiply(lengths, _K1, dtype=np.float32))


def _related_score(
    caller: Caller, query: QueryText, frequencies: NDArray[np.float32], idf: NDArray[np.float32]
) -> NDArray[np.float32] | None:
    """For rows without a word of the question, what the best word related to it is worth; summed over words."""
    table = related_stems()
    pairs = [
        (number, other) for number, forms in enumerate(query.words) for other in hash_forms(table.get(forms[-1], ()))
    ]
    if not pairs:
        return None
    hits, often = caller.find_terms(np.array([other for _, other in pairs], dtype=np.uint32))
    word = np.array([number for number, _ in pairs], dtype=np.int64)[hits.wanted]
    worth = np.minimum(rarity(hits.holding, caller.count)[hits.wanted] * _saturated(often), idf[word])
    best = np.zeros_like(frequencies)
    np.maximum.at(best, (word, hits.rows), worth)
    best[frequencies > 0] = 0
    return best.sum(axis=0)


def _may_misspell(caller: Caller, word: str) -> NDArray[np.bool_]:
    """Rows that share enough of a word's trigrams, and nearly all the telling ones of those that occur at all."""
    wanted = trigram_hashes(word)
    hits = caller.find_trigrams(wanted)
    telling = rarity(hits.holding, caller.count) * (hits.holding > 0)
    share = np.bincount(hits.rows, minlength=len(caller)) / max(len(wanted), 1)
    told = caller.sum_by_row(hits, telling[hits.wanted])
    return (share >= _MISSPELT) & (told >= np.float32(_MISSPELT_TELLING) * telling.sum())


def _trigram_score(caller: Caller, query: str) -> NDArray[np.float32]:
    """The summed rarity of the question's trigrams that each row has, a little less for long rows.

    All words of the question take part, also those that are not looked for: how it is put tells something too.
    """
    hits = caller.find_trigrams(trigram_hashes(query))
    total = caller.sum_by_row(hits, rarity(hits.holding, caller.count)[hits.wanted])
    return np.divide(total, 1 - _B + _B * caller.relative_lengths, dtype=np.float32)
