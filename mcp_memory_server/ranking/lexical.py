"""Scores by words and by trigrams, over the caller's records only.

BM25 is used as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
the idf that stays above nought.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block import SignatureBlock
from .segment import Segment, find_postings


@dataclass(frozen=True, eq=False)
class Caller:
    """All the records a caller may see: the rows of several blocks, numbered through."""

    blocks: tuple[SignatureBlock, ...]

    @cached_property
    def parts(self) -> list[tuple[Segment, int]]:
        """Each segment with the number of its first row."""
        found: list[tuple[Segment, int]] = []
        start = 0
        for block in self.blocks:
            for segment in block.segments:
                found.append((segment, start))
                start += len(segment)
        return found

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The number of each block's first row, and the row count."""
        return np.cumsum([0, *(block.row_count for block in self.blocks)])

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        return self._column("alive")

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        return self._column("numbers")

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        return self._column("keys")

    @cached_property
    def times_ms(self) -> NDArray[np.int64]:
        return self._column("times_ms")

    @cached_property
    def word_counts(self) -> NDArray[np.float32]:
        return self._column("word_counts")

    @cached_property
    def neighbours(self) -> NDArray[np.int64]:
        if len(self.blocks) == 1:
            return self.blocks[0].neighbours
        moved = [block.neighbours + start for block, start in zip(self.blocks, self.starts[:-1], strict=True)]
        return np.concatenate(moved, axis=1)

    @cached_property
    def count(self) -> int:
        return int(self.alive.sum())

    def __len__(self) -> int:
        return int(self.starts[-1])

    def _column(self, name: str) -> NDArray[Any]:
        columns = [getattr(block, name) for block in self.blocks]
        return columns[0] if len(columns) == 1 else np.concatenate(columns)


def frequencies_of(caller: Caller, words: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
    """words x rows: how often each row holds each word, in the form it holds most often."""
    found = np.zeros((len(words), len(caller)), dtype=np.float32)
    for place in range(max(map(len, words), default=0)):
        having = [number for number, forms in enumerate(words) if len(forms) > place]
        hashes = np.array([words[number][place] for number in having], dtype=np.uint32)
        for segment, start in caller.parts:
            postings = find_postings(segment.terms, hashes)
            at = (np.array(having)[postings.group], segment.term_rows[postings.places] + start)
            found[at] = np.maximum(found[at], segment.term_frequencies[postings.places])
    if caller.count < len(caller):
        found[:, ~caller.alive] = 0
    return found


def rarity(holding: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """The idf of terms that so many of `count` records hold; above nought, highest for what one record holds."""
    return np.log1p((count - holding + 0.5) / (holding + 0.5)).astype(np.float32)


def bm25(
    caller: Caller, frequencies: NDArray[np.float32], weights: NDArray[np.float32], k1: float, b: float
) -> NDArray[np.float32]:
    """BM25 of each row, each word counting `weights` times."""
    mean = max(float(caller.word_counts[caller.alive].mean()) if caller.count else 0.0, 1.0)
    length = k1 * (1 - b + b * caller.word_counts / mean)
    return (weights @ (frequencies * (k1 + 1) / (frequencies + length))).astype(np.float32)


def shared_trigrams(caller: Caller, trigrams: NDArray[np.uint16]) -> tuple[NDArray[np.float32], float]:
    """The summed rarity of the query's trigrams that each row has, and the sum if it had all of them."""
    holding = np.zeros(len(trigrams), dtype=np.int64)
    hits: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
    for segment, start in caller.parts:
        postings = find_postings(segment.trigrams, trigrams)
        rows = segment.trigram_rows[postings.places] + start
        group = postings.group
        if caller.count < len(caller):
            living = caller.alive[rows]
            rows, group = rows[living], group[living]
        holding += np.bincount(group, minlength=len(trigrams))
        hits.append((rows, group))
    idf = rarity(holding, caller.count)
    total = np.zeros(len(caller), dtype=np.float64)
    for rows, group in hits:
        total += np.bincount(rows, weights=idf[group], minlength=len(caller))
    return total.astype(np.float32), float(idf.sum())
