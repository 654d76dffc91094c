"""All the records a caller may see, as one table."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .block import SignatureBlock, mean_length
from .bm25 import length_divisors, rarity, saturated
from .postings import Hits
from .segment import Segment

_NOTHING: Final = np.zeros(0)


class TermsOfRows(NamedTuple):
    """The terms of some rows, row after row."""

    hashes: NDArray[np.uint64]
    """Distinct, ascending: all that occur, and perhaps others."""
    places: NDArray[Any]
    """For each term of each row its place among the hashes."""
    counts: NDArray[np.int64]
    """For each row how many terms it has."""


class Caller:
    """The rows of several blocks, numbered through; made for one question."""

    def __init__(self, blocks: Sequence[SignatureBlock]) -> None:
        self.blocks = blocks
        self.parts: list[tuple[Segment, int]] = []
        """Each segment with the number of its first row."""
        self.starts: list[int] = [0]
        """The number of each block's first row, and the row count."""
        self.count = 0
        """How many rows are alive."""
        self.has_threads = False
        """Whether any record tells which conversation it comes from."""
        self.has_subjects = False
        """Whether any record tells what it is about."""
        for block in blocks:
            self.count += len(block)
            self.has_threads |= block.has_threads
            self.has_subjects |= block.has_subjects
            start = self.starts[-1]
            for segment in block.segments:
                self.parts.append((segment, start))
                start += len(segment)
            self.starts.append(start)
        self.row_count = self.starts[-1]
        self.all_alive = self.count == self.row_count
        self.alive = self._column("alive")
        self.numbers: NDArray[np.int64] = self._column("numbers")
        self.times_ms: NDArray[np.int64] = self._column("times_ms")
        self._whole = blocks[0] if len(blocks) == len(self.parts) == 1 and self.all_alive else None
        """The block, where its only segment is all there is: what was worked out of that once is good for all rows."""

    @property
    def keys(self) -> NDArray[np.int64]:
        return self._column("keys")

    @property
    def length_divisors(self) -> NDArray[np.float32]:
        """`bm25.length_divisors`, by the mean of all living rows."""
        if len(self.blocks) == 1:
            return self.blocks[0].length_divisors
        counts = self._column("word_counts")
        return length_divisors(counts, mean_length(counts, self.alive, self.count))

    @property
    def has_vectors(self) -> bool:
        """Whether any living row has a vector."""
        return any(
            (segment.vector_lengths[self.alive[start : start + len(segment)]] > 0).any()
            for segment, start in self.parts
        )

    def best_beside(self, scores: NDArray[np.float32], distance: int) -> NDArray[np.float32]:
        """`ThreadOrder.best_beside`; threads do not reach from one block into another."""
        if len(self.blocks) == 1:
            return self.blocks[0].threads.best_beside(scores, distance)
        found = [
            block.threads.best_beside(scores[start : start + block.row_count], distance)
            for block, start in zip(self.blocks, self.starts, strict=False)
        ]
        return np.concatenate(found)

    def held_near(
        self, rows: NDArray[np.int64], terms: NDArray[np.int64], weights: NDArray[np.float32], radius: int
    ) -> NDArray[np.float32]:
        """`ThreadOrder.held_near`, block by block."""
        if len(self.blocks) == 1:
            return self.blocks[0].threads.held_near(rows, terms, weights, radius)
        found: list[NDArray[np.float32]] = []
        for block, start in zip(self.blocks, self.starts, strict=False):
            here = (start <= rows) & (rows < start + block.row_count)
            found.append(block.threads.held_near(rows[here] - start, terms[here], weights, radius))
        return np.concatenate(found)

    def block_indices(self, rows: NDArray[np.int64]) -> list[int]:
        """For each row the index of its block."""
        if len(self.blocks) == 1:
            return [0] * len(rows)
        return (np.searchsorted(self.starts, rows, side="right") - 1).tolist()

    def find(self, wanted: NDArray[np.uint64], terms: int) -> tuple[Hits, NDArray[np.uint8]]:
        """The rows that hold each of these hashes, of which the first so many are terms, the others trigrams.

        And how often each row holds each of the terms. `places` of the hits mean nothing over several segments.
        """
        if self._whole is not None:
            return self._whole.segments[0].find(wanted, terms)
        found: list[Hits] = []
        padded: list[NDArray[np.uint8]] = []
        for segment, _ in self.parts:
            hits, often = segment.find(wanted, terms)
            found.append(hits)
            padded.append(np.concatenate([often, np.zeros(len(hits.rows) - len(often), dtype=np.uint8)]))
        hits, often = self._living(found, padded)
        return hits, often[: hits.of_first(terms)]

    def find_terms(self, wanted: NDArray[np.uint64]) -> tuple[Hits, NDArray[np.uint8]]:
        """`find`, of terms alone."""
        return self.find(wanted, len(wanted))

    def find_trigrams(self, wanted: NDArray[np.uint64]) -> Hits:
        """`find`, of trigrams alone."""
        return self.find(wanted, 0)[0]

    def find_subjects(self, wanted: NDArray[np.uint32]) -> Hits:
        """The rows that are about each subject term."""
        return self._living([segment.subjects.find(wanted) for segment, _ in self.parts])[0]

    def worths(self, hits: Hits, often: NDArray[np.uint8], first: int) -> NDArray[np.float32]:
        """`bm25.saturated` for the first so many hits of terms, whose rows hold them so often."""
        if self._whole is not None:
            return self._whole.worths.take(hits.places[:first])
        lengths = self.length_divisors.take(hits.rows[:first])
        return saturated(often[:first].astype(np.float32), lengths)

    def terms_of(self, rows: NDArray[np.int64]) -> "TermsOfRows":
        """The terms of these rows, in the order of the rows."""
        if len(self.parts) == 1:
            (segment, _), *_ = self.parts
            places, counts = segment.terms_of(rows)
            return TermsOfRows(segment.postings.hashes[: segment.term_count], places, counts)
        found: list[NDArray[np.uint64]] = []
        ranks: list[NDArray[np.int64]] = []
        for segment, start in self.parts:
            held = np.flatnonzero((rows >= start) & (rows < start + len(segment)))
            places, counts = segment.terms_of(rows[held] - start)
            found.append(segment.postings.hashes[places])
            ranks.append(held.repeat(counts))
        rank = np.concatenate(ranks)
        # Sums depend on the order of what is summed, and must not on how the rows are spread over segments.
        hashes, places = np.unique(np.concatenate(found)[rank.argsort(kind="stable")], return_inverse=True)
        return TermsOfRows(hashes, places, np.bincount(rank, minlength=len(rows)))

    def rarities_of(self, terms: "TermsOfRows") -> NDArray[np.float32]:
        """The idf of all these terms."""
        if self._whole is not None:
            return self._whole.rarities[: len(terms.hashes)]
        if self.all_alive:
            holding = np.add.reduce([segment.postings.holding(terms.hashes) for segment, _ in self.parts])
        else:
            holding = self.find_terms(terms.hashes)[0].holding
        return rarity(holding, max(self.count, 1))

    def sum_of_terms(self, terms: "TermsOfRows", values: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """For each row the sum of the values, one for each of these terms, of those that it holds."""
        if len(self.parts) == 1:
            return self.parts[0][0].sum_of_terms(values)
        worth = values.nonzero()[0]
        hashes, values = terms.hashes[worth], values[worth]
        found: list[NDArray[np.float32]] = []
        for segment, _ in self.parts:
            of_all = np.zeros(segment.term_count)
            places = segment.postings.hashes[: segment.term_count].searchsorted(hashes)
            known = places < segment.term_count
            known[known] = segment.postings.hashes[places[known]] == hashes[known]
            of_all[places[known]] = values[known]
            found.append(segment.sum_of_terms(of_all))
        return np.concatenate(found)

    def sum_by_row(self, rows: NDArray[Any], values: NDArray[Any]) -> NDArray[np.float32]:
        """For each row of the table the sum of the values beside it among these."""
        return np.bincount(rows, weights=values, minlength=self.row_count).astype(np.float32)

    def _living(self, found: Sequence[Hits], values: Sequence[NDArray[Any]] | None = None) -> tuple[Hits, NDArray[Any]]:
        """The hits of all segments as one, without dead rows, and the values that belong to them."""
        if len(found) == 1 and self.all_alive:
            return found[0], values[0] if values else _NOTHING
        holding = found[0].holding
        wanted = np.concatenate([np.arange(len(holding)).repeat(hits.holding) for hits in found])
        starts = [start for _, start in self.parts]
        rows = np.concatenate([hits.rows.astype(np.int64) + start for hits, start in zip(found, starts, strict=True)])
        order = wanted.argsort(kind="stable")
        order = order[self.alive[rows[order]]]
        kept = np.concatenate(values)[order] if values else _NOTHING
        places = np.concatenate([hits.places for hits in found])[order]
        holding = np.bincount(wanted[order], minlength=len(holding))
        return Hits(rows[order], holding, holding.cumsum(), places), kept

    def _column(self, name: str) -> NDArray[Any]:
        if len(self.blocks) == 1:
            return getattr(self.blocks[0], name)
        return np.concatenate([getattr(block, name) for block in self.blocks])
