"""Scores by words and by trigrams, over the caller's records only."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bm25 import rarity, saturated_at_mean
from .caller import Caller
from .related import related_stems
from .segment import FIRST_TRIGRAM
from .signature import asked_trigrams, hash_forms
from .text import QueryText

# A related word tells less than the word itself, and never more than it would.
_RELATED: Final = 0.4
# By related words alone a record is shown only if they stand for this part of all that the question asks.
_RELATED_EVIDENCE: Final = 0.4
_FEEDBACK_RECORDS: Final = 10
# When no record holds a word of the question, one may be a misspelling of what shares this part of its trigrams. It
# is a reason to show a record, no more: counting it as a word found lowers recall, since long records share trigrams
# by chance, and few are enough to make up a short word.
_MISSPELT: Final = 0.45
_MISSPELT_TELLING: Final = 0.85
_MOST_MISSPELT: Final = 16
# In a shorter word one wrong letter leaves so few trigrams that any word shares them.
_SHORTEST_MISSPELT: Final = 5


class LexicalMatch(NamedTuple):
    """How the words of a question and the records meet. Arrays are by row unless said."""

    hashes: NDArray[np.uint64]
    """All forms of all words of the question."""
    rows: NDArray[np.int64]
    """The rows that hold some word; a row may stand twice for a word, by two of its forms."""
    held: NDArray[np.int64]
    """For each of `rows` the number of the word that it holds."""
    rarity: NDArray[np.float32]
    """By word: its idf."""
    words: NDArray[np.float32]
    """BM25, related words included."""
    trigrams: NDArray[np.float32]
    evidence: NDArray[np.bool_]
    """Rows that hold a word of the question, or, if none does, what may be one misspelt or mostly related to it."""


class _Asked(NamedTuple):
    """What a question looks for: the forms of its words, then those of words related to them, then its trigrams."""

    hashes: NDArray[np.uint64]
    words: NDArray[np.int64]
    """For each hash of a word, or of one related to it, the number of the word."""
    forms: int
    """How many of the hashes are the words' own."""


def _asked(query: QueryText) -> _Asked:
    hashes: list[int] = []
    words: list[int] = []
    for number, forms in enumerate(query.words):
        found = hash_forms(forms)
        hashes += found
        words += [number] * len(found)
    own = len(hashes)
    if query.language == "english":
        table = related_stems()
        for number, forms in enumerate(query.words):
            found = hash_forms(table.get(forms[-1], ()))
            hashes += found
            words += [number] * len(found)
    # All words of the question take part, also those that are not looked for: how it is put tells something too.
    hashes += _placed(asked_trigrams(query.clear))
    return _Asked(np.array(hashes, dtype=np.uint64), np.array(words, dtype=np.int64), own)


def _placed(trigrams: Iterable[int]) -> list[int]:
    return [FIRST_TRIGRAM + trigram for trigram in trigrams]


def match_words(caller: Caller, query: QueryText) -> LexicalMatch:
    """Score all rows by the words of a question."""
    asked = _asked(query)
    terms = len(asked.words)
    hits, often = caller.find(asked.hashes, terms)
    words = asked.words.repeat(hits.holding[:terms])
    own = hits.of_first(asked.forms)
    rows, held = hits.rows[:own], words[:own]
    # A row may hold a word as written and as its stem; both are the same word, so the larger count stands.
    worths = _highest(caller, len(query.words), held, rows, caller.worths(hits, often, own))
    holds = worths > 0
    idf = rarity(np.add.reduce(holds, axis=1, dtype=np.int64), caller.count)
    worths *= idf[:, np.newaxis]
    # Summed word by word, not as a matrix product, whose rounding depends on where a row stands: equal rows must tie.
    scores = np.add.reduce(worths, axis=0)
    evidence = scores > 0
    if own < len(words):
        holding = hits.holding[asked.forms : terms]
        others = rarity(holding, caller.count).repeat(holding)
        worth = np.minimum(others * saturated_at_mean(often[own:]), idf.take(words[own:]))
        # For rows without a word of the question, what the best word related to it is worth; summed over words.
        best = _highest(caller, len(query.words), words[own:], hits.rows[own : len(words)], worth)
        best[holds] = 0
        related = np.add.reduce(best, axis=0)
        scores += np.float32(_RELATED) * related
        evidence |= related >= np.float32(_RELATED_EVIDENCE) * np.add.reduce(idf)
    if not np.logical_or.reduce(evidence):
        for written, *_ in query.words[:_MOST_MISSPELT]:
            if len(written) >= _SHORTEST_MISSPELT:
                evidence |= _may_misspell(caller, written)
    # The summed rarity of the question's trigrams that each row has, a little less for long rows.
    holding = hits.holding[terms:]
    summed = caller.sum_by_row(hits.rows[len(words) :], rarity(holding, caller.count).repeat(holding))
    trigrams = summed / caller.length_divisors
    return LexicalMatch(asked.hashes[: asked.forms], rows, held, idf, scores, trigrams, evidence)


def _highest(
    caller: Caller,
    count: int,
    words: NDArray[np.int64],
    rows: NDArray[np.int64],
    values: NDArray[np.float32],
) -> NDArray[np.float32]:
    """A table of `count` words by row: the highest of the values of each pair, 0 where there is none."""
    table = np.zeros(count * caller.row_count, dtype=np.float32)
    np.maximum.at(table, words * caller.row_count + rows, values)  # in one dimension, where numpy is quick at it
    return table.reshape(count, caller.row_count)


def word_rarity(caller: Caller, words: list[tuple[str, ...]]) -> NDArray[np.float32]:
    """The idf of each word by the commonest of its forms."""
    pairs = [(number, form) for number, forms in enumerate(words) for form in hash_forms(forms)]
    hits, _ = caller.find_terms(np.array([form for _, form in pairs], dtype=np.uint64))
    holding = np.zeros(len(words), dtype=np.int64)
    np.maximum.at(holding, np.array([number for number, _ in pairs], dtype=np.int64), hits.holding)
    return rarity(holding, caller.count)


def feedback(caller: Caller, match: LexicalMatch, score: NDArray[np.float32]) -> NDArray[np.float32]:
    """What each row shares with the best rows beside the question's words: pseudo-relevance feedback.

    A term is worth its rarity times the scores of the best rows that hold it, and a row the sum of its terms.
    """
    # Among equal ones by number: where a row stands depends on what was written since the block was read.
    best = np.lexsort((caller.numbers, -score))[:_FEEDBACK_RECORDS]
    credit = score.take(best)
    if credit[-1] <= 0:
        best, credit = best[credit > 0], credit[credit > 0]
    terms = caller.terms_of(best)
    if not len(terms.places):
        return np.zeros(caller.row_count, dtype=np.float32)
    worth = np.bincount(terms.places, weights=credit.repeat(terms.counts), minlength=len(terms.hashes))
    # A term of one best row alone would only praise that row for its other words.
    worth *= np.bincount(terms.places, minlength=len(terms.hashes)) > 1
    worth[_places_among(terms.hashes, match.hashes)] = 0
    worth *= caller.rarities_of(terms)
    return caller.sum_of_terms(terms, worth)


def _places_among(hashes: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where those of the wanted hashes stand that are among these, which ascend."""
    if not len(hashes):
        return np.zeros(0, dtype=np.int64)
    places = np.minimum(hashes.searchsorted(wanted), len(hashes) - 1)
    return places[hashes.take(places) == wanted]


def _may_misspell(caller: Caller, word: str) -> NDArray[np.bool_]:
    """Rows that share enough of a word's trigrams, and nearly all the telling ones of those that occur at all."""
    wanted = _placed(asked_trigrams(word))
    hits = caller.find_trigrams(np.array(wanted, dtype=np.uint64))
    telling = rarity(hits.holding, caller.count) * (hits.holding > 0)
    share = np.bincount(hits.rows, minlength=caller.row_count) / max(len(wanted), 1)
    told = caller.sum_by_row(hits.rows, telling.repeat(hits.holding))
    return (share >= _MISSPELT) & (told >= np.float32(_MISSPELT_TELLING) * telling.sum())
