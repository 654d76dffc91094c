"""Scores by words and by trigrams, over the caller's records only.

BM25 follows Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf
that stays above nought, so that a word which most records hold still counts for those that hold it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .caller import Caller
from .related import related_stems
from .segment import find_postings
from .signature import hash_term, trigram_hashes
from .text import QueryText

# Facts are short: saturation comes early, and a longer fact is rarely padded, so length counts little.
_K1: Final = 0.9
_B: Final = 0.2
# A related word tells less than the word itself, and never more than it would.
_RELATED: Final = 0.4
_FEEDBACK_RECORDS: Final = 10
_FEEDBACK_TERMS: Final = 20
# A word that no record holds may be a misspelling of what shares this part of its trigrams. It is a reason to show
# a record, no more: counting it as a word found lowers recall, since long records share trigrams by chance.
_MISSPELT: Final = 0.6
_MOST_MISSPELT: Final = 16


@dataclass(frozen=True, eq=False, slots=True)
class LexicalMatch:
    """How the words of a question and the records meet. Arrays are by row, `holds` is words x rows."""

    hashes: tuple[tuple[int, ...], ...]
    holds: NDArray[np.bool_]
    """Which rows hold which word, in any of its forms."""
    rarity: NDArray[np.float32]
    """The idf of each word."""
    words: NDArray[np.float32]
    """BM25, related words included."""
    trigrams: NDArray[np.float32]
    evidence: NDArray[np.bool_]
    """Rows that share at least a word, a related word or a misspelt one with the question."""


def match_words(caller: Caller, query: QueryText) -> LexicalMatch:
    """Score all rows by the words of a question."""
    hashes = tuple(tuple(hash_term(form) for form in forms) for forms in query.words)
    frequencies = term_frequencies(caller, hashes)
    holding = np.count_nonzero(frequencies, axis=1)
    idf = rarity(holding, caller.count)
    related = _related_score(caller, query, frequencies, idf) if query.language == "english" else None
    words = bm25(caller, frequencies, idf)
    holds = frequencies > 0
    evidence: NDArray[np.bool_] = np.any(holds, axis=0)
    unseen = [number for number in np.flatnonzero(holding == 0).tolist() if len(query.words[number][0]) > 3]
    for number in unseen[:_MOST_MISSPELT]:
        evidence |= trigram_share(caller, query.words[number][0]) >= _MISSPELT
    if related is not None:
        words += np.float32(_RELATED) * related
        evidence |= related > 0
    return LexicalMatch(hashes, holds, idf, words, _trigram_score(caller, query.clear), evidence)


def term_frequencies(caller: Caller, words: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
    """words x rows: how often each row holds each word, in the form it holds most often."""
    found = np.zeros((len(words), len(caller)), dtype=np.float32)
    for place in range(max(map(len, words), default=0)):
        having = np.array([number for number, forms in enumerate(words) if len(forms) > place])
        hashes = np.array([words[number][place] for number in having], dtype=np.uint32)
        for segment, start in caller.parts:
            postings = find_postings(segment.terms, hashes)
            at = (having[postings.group], segment.term_rows[postings.places] + start)
            found[at] = np.maximum(found[at], segment.term_frequencies[postings.places])
    if caller.count < len(caller):
        found[:, ~caller.alive] = 0
    return found


def rarity(holding: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """The idf of terms that so many of `count` records hold."""
    return np.log1p((count - holding + 0.5) / (holding + 0.5)).astype(np.float32)


def bm25(caller: Caller, frequencies: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """BM25 of each row, with one weight for each word."""
    saturated = frequencies * (_K1 + 1) / (frequencies + _K1 * caller.relative_lengths(_B))
    return (weights @ saturated).astype(np.float32)


def trigram_share(caller: Caller, word: str) -> NDArray[np.float32]:
    """For each row the part of a word's trigrams that it has."""
    wanted = trigram_hashes(word)
    found = np.zeros(len(caller), dtype=np.float32)
    for segment, start in caller.parts:
        postings = find_postings(segment.trigrams, wanted)
        found[start : start + len(segment)] = np.bincount(
            segment.trigram_rows[postings.places], minlength=len(segment)
        ) / max(len(wanted), 1)
    return np.where(caller.alive, found, 0)


def feedback(caller: Caller, match: LexicalMatch, score: NDArray[np.float32]) -> NDArray[np.float32]:
    """BM25 for the most telling other terms of the best rows: pseudo-relevance feedback."""
    best = np.argsort(-score, kind="stable")[:_FEEDBACK_RECORDS]
    credit = np.zeros(len(caller), dtype=np.float32)
    credit[best] = np.maximum(score[best], 0)
    terms: list[NDArray[np.uint32]] = []
    worth: list[NDArray[np.float32]] = []
    for segment, start in caller.parts:
        of_term = credit[start : start + len(segment)][segment.term_rows]
        at = np.flatnonzero(of_term)
        terms.append(segment.terms[at])
        worth.append(of_term[at])
    distinct, inverse = np.unique(np.concatenate(terms), return_inverse=True)
    holding = np.zeros(len(distinct), dtype=np.int64)
    for segment, start in caller.parts:
        postings = find_postings(segment.terms, distinct)
        living = caller.alive[segment.term_rows[postings.places] + start]
        holding += np.bincount(postings.group[living], minlength=len(distinct))
    summed = np.bincount(inverse, weights=np.concatenate(worth), minlength=len(distinct))
    value = summed * rarity(holding, caller.count)
    asked = np.array([form for forms in match.hashes for form in forms], dtype=np.uint32)
    value[np.isin(distinct, asked)] = 0
    chosen = np.lexsort((distinct, -value))[:_FEEDBACK_TERMS]
    chosen = chosen[value[chosen] > 0]
    frequencies = term_frequencies(caller, [(term,) for term in distinct[chosen].tolist()])
    return bm25(caller, frequencies, value[chosen].astype(np.float32))


def _related_score(
    caller: Caller, query: QueryText, frequencies: NDArray[np.float32], idf: NDArray[np.float32]
) -> NDArray[np.float32] | None:
    """For rows without a word of the question, what the best word related to it is worth; summed over words."""
    table = related_stems()
    pairs = [
        (number, hash_term(other)) for number, forms in enumerate(query.words) for other in table.get(forms[-1], ())
    ]
    if not pairs:
        return None
    of_word = np.array([number for number, _ in pairs])
    found = term_frequencies(caller, [(other,) for _, other in pairs])
    worth = rarity(np.count_nonzero(found, axis=1), caller.count)[:, np.newaxis] * (found * (_K1 + 1) / (found + _K1))
    starts = np.flatnonzero(np.diff(of_word, prepend=-1))
    words = of_word[starts]
    best = np.minimum(np.maximum.reduceat(worth, starts, axis=0), idf[words, np.newaxis])
    return np.where(frequencies[words] > 0, 0, best).sum(axis=0).astype(np.float32)


def _trigram_score(caller: Caller, query: str) -> NDArray[np.float32]:
    """The summed rarity of the question's trigrams that each row has, a little less for long rows.

    All words of the question take part, also those that are not looked for: how it is put tells something too.
    """
    wanted = trigram_hashes(query)
    holding = np.zeros(len(wanted), dtype=np.int64)
    hits: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
    for segment, start in caller.parts:
        postings = find_postings(segment.trigrams, wanted)
        rows, group = segment.trigram_rows[postings.places] + start, postings.group
        if caller.count < len(caller):
            living = caller.alive[rows]
            rows, group = rows[living], group[living]
        holding += np.bincount(group, minlength=len(wanted))
        hits.append((rows, group))
    idf = rarity(holding, caller.count)
    total = np.zeros(len(caller))
    for rows, group in hits:
        total += np.bincount(rows, weights=idf[group], minlength=len(caller))
    return (total / caller.relative_lengths(_B)).astype(np.float32)
