"""Immutable columns of a set of records, and how sets are built and joined."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .postings import Hits, Postings, row_type, spread
from .signature import signature_parts
from .vectors import lengths_of

_NO_THREAD: Final = 0
_BY_ROW: Final = ("numbers", "keys", "threads", "times_ms", "word_counts", "vector_lengths")

FIRST_TRIGRAM: Final = 1 << 32
"""The hash of a trigram comes on top of this: terms and trigrams are looked up together, in one list."""


class Row(NamedTuple):
    """What a store hands over for one record."""

    number: int
    """The store's own number of the record, rising in the order of writing, unique within its scope."""
    key: str
    origin_thread: str | None
    time_ms: int
    """When the fact was last written, in milliseconds since 1970 UTC."""
    signature: bytes
    vector: bytes | None = None
    """The pooled vector as int8 (`encode_vector`), all of one embedder; None while there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Columns of n records."""

    numbers: NDArray[np.int64]
    keys: NDArray[np.int64]
    """Process-local hashes of the keys: equal for equal keys, never stored."""
    threads: NDArray[np.int64]
    """Process-local hashes of the origin's thread, 0 for none."""
    times_ms: NDArray[np.int64]
    word_counts: NDArray[np.float32]
    postings: Postings
    """Of terms, and behind them of trigrams (`FIRST_TRIGRAM`)."""
    term_count: int
    """How many of the hashes are those of terms."""
    frequencies: NDArray[np.uint8]
    """For each posting of a term, how often its row holds it."""
    subjects: Postings
    terms_of_rows: NDArray[np.int32]
    """The terms again, row by row, ascending in each, as places in `postings.hashes`: those of row i start at
    `term_starts[i]`."""
    term_starts: NDArray[np.int64]
    all_have_terms: bool
    vectors: NDArray[np.int8]
    """n x dimension; zero rows have no vector, and dimension is 0 when none has."""
    vector_lengths: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.numbers)

    def find(self, wanted: NDArray[np.uint64], terms: int) -> tuple[Hits, NDArray[np.uint8]]:
        """Where the wanted hashes stand, and for each hit of the first so many, which are terms, how often."""
        hits = self.postings.find(wanted)
        return hits, self.frequencies.take(hits.places[: hits.of_first(terms)])

    def terms_of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The terms of these rows, row after row, as places in `postings.hashes`, and how many each row has."""
        starts, ends = self.term_starts.take(rows), self.term_starts.take(rows + 1)
        terms = [self.terms_of_rows[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return np.concatenate(terms or [self.terms_of_rows[:0]]), ends - starts

    def sum_of_terms(self, values: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """For each row the sum of the values, one for each term, of those that it holds."""
        starts = self.term_starts[:-1]
        values = values.take(self.terms_of_rows)
        if self.all_have_terms:
            return np.add.reduceat(values, starts).astype(np.float32)
        sums = np.zeros(len(self), dtype=np.float32)
        held = starts < self.term_starts[1:]
        if held.any():
            sums[held] = np.add.reduceat(values, starts[held])
        return sums

    @property
    def nbytes(self) -> int:
        columns = (self.numbers, self.keys, self.threads, self.times_ms, self.word_counts, self.frequencies)
        lists = (self.terms_of_rows, self.term_starts, self.vectors, self.vector_lengths)
        return sum(part.nbytes for part in (*columns, *lists, self.postings, self.subjects))


def build_segment(rows: Sequence[Row]) -> Segment:
    """Columns of these records; ValueError when a signature is of another version."""
    parts = [signature_parts(row.signature) for row in rows]
    return _assemble(
        {
            "numbers": np.array([row.number for row in rows], dtype=np.int64),
            "keys": np.array([hash(row.key) for row in rows], dtype=np.int64),
            "threads": np.array(
                [_NO_THREAD if row.origin_thread is None else hash(row.origin_thread) for row in rows], dtype=np.int64
            ),
            "times_ms": np.array([row.time_ms for row in rows], dtype=np.int64),
            "word_counts": np.array([part.word_count for part in parts], dtype=np.float32),
            "vectors": _vector_matrix([row.vector for row in rows]),
        },
        _Lists.of([part.terms for part in parts], "<u4"),
        np.frombuffer(b"".join([part.frequencies for part in parts]), np.uint8),
        _Lists.of([part.trigrams for part in parts], "<u2"),
        _Lists.of([part.subjects for part in parts], "<u4"),
    )


def living_rows(segment: Segment, alive: NDArray[np.bool_]) -> Segment:
    """The segment without the rows whose mask is false; some are true."""
    if alive.all():
        return segment
    postings, kept, held = segment.postings.of_living(alive)
    places = (held[: segment.term_count].cumsum() - 1).astype(np.int32)
    counts = np.diff(segment.term_starts)
    return Segment(
        **{name: getattr(segment, name)[alive] for name in _BY_ROW},
        postings=postings,
        term_count=int(np.count_nonzero(held[: segment.term_count])),
        frequencies=segment.frequencies[kept[: len(segment.frequencies)]],
        subjects=segment.subjects.of_living(alive).postings,
        terms_of_rows=places.take(segment.terms_of_rows[alive.repeat(counts)]),
        term_starts=_starts_of(counts[alive]),
        all_have_terms=bool(counts[alive].all()),
        vectors=segment.vectors[alive],
    )


def join_segments(first: Segment, second: Segment) -> Segment:
    """One segment with the rows of the first and then those of the second, which share no number."""
    rows = len(first), len(first) + len(second)
    postings, theirs, places, others = first.postings.joined(second.postings, *rows)
    terms = [now.astype(np.int32).take(part.terms_of_rows) for now, part in ((places, first), (others, second))]
    term_postings = len(first.frequencies) + len(second.frequencies)
    return Segment(
        **{name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in _BY_ROW},
        postings=postings,
        term_count=int(postings.starts.searchsorted(term_postings)),
        frequencies=spread(first.frequencies, second.frequencies, theirs[: len(second.frequencies)], np.uint8),
        subjects=first.subjects.joined(second.subjects, *rows).postings,
        terms_of_rows=np.concatenate(terms),
        term_starts=np.concatenate([first.term_starts, second.term_starts[1:] + first.term_starts[-1]]),
        all_have_terms=first.all_have_terms and second.all_have_terms,
        vectors=_stacked(first.vectors, second.vectors),
    )


class _Lists(NamedTuple):
    """A list of hashes for each row: all hashes, row after row, and how many each row has."""

    hashes: NDArray[Any]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[bytes], dtype: str) -> "_Lists":
        hashes = np.frombuffer(b"".join(columns), dtype)
        sizes = np.array([len(column) for column in columns], dtype=np.int64)
        return cls(hashes, sizes // hashes.itemsize)


def _assemble(
    columns: dict[str, NDArray[Any]], terms: _Lists, frequencies: NDArray[np.uint8], trigrams: _Lists, subjects: _Lists
) -> Segment:
    count = len(columns["numbers"])
    rows = np.arange(count, dtype=row_type(count))
    term_postings, order = Postings.of(terms.hashes, rows.repeat(terms.counts))
    places = np.arange(len(term_postings.hashes), dtype=np.int32).repeat(np.diff(term_postings.starts))
    trigram_postings, _ = Postings.of(trigrams.hashes, rows.repeat(trigrams.counts))
    return Segment(
        **columns,
        postings=term_postings.followed_by(trigram_postings, FIRST_TRIGRAM),
        term_count=len(term_postings.hashes),
        frequencies=frequencies[order],
        subjects=Postings.of(subjects.hashes, rows.repeat(subjects.counts))[0],
        terms_of_rows=places[term_postings.rows.argsort(kind="stable")],
        term_starts=_starts_of(terms.counts),
        all_have_terms=bool(terms.counts.all()),
        vector_lengths=lengths_of(columns["vectors"]),
    )


def _vector_matrix(vectors: Sequence[bytes | None]) -> NDArray[np.int8]:
    dimension = max((len(vector) for vector in vectors if vector), default=0)
    blank = bytes(dimension)
    joined = b"".join(vector if vector and len(vector) == dimension else blank for vector in vectors)
    return np.frombuffer(joined, dtype=np.int8).reshape(len(vectors), dimension)


def _starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), counts.cumsum()])


def _stacked(*matrices: NDArray[np.int8]) -> NDArray[np.int8]:
    """Matrices of one embedder under each other; those that have no vectors yet count as zeros."""
    dimension = max(matrix.shape[1] for matrix in matrices)
    return np.concatenate(
        [
            matrix if matrix.shape[1] == dimension else np.zeros((len(matrix), dimension), dtype=np.int8)
            for matrix in matrices
        ]
    )
