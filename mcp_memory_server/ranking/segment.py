"""Postings of a set of records: which of them holds a term or a trigram, in numpy columns."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .signature import HEADER, SIGNATURE_VERSION

_NO_THREAD: Final = 0


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
    """The pooled vector as int8 (`vectors.encode_vector`), all of one embedder; None while there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Immutable columns of n records. Postings are sorted by hash, and by row within a hash."""

    numbers: NDArray[np.int64]
    keys: NDArray[np.int64]
    """Process-local hashes of the keys: equal for equal keys, never stored."""
    threads: NDArray[np.int64]
    """Process-local hashes of the origin's thread, 0 for none."""
    times_ms: NDArray[np.int64]
    word_counts: NDArray[np.float32]
    terms: NDArray[np.uint32]
    term_rows: NDArray[np.int32]
    term_frequencies: NDArray[np.uint8]
    trigrams: NDArray[np.uint16]
    trigram_rows: NDArray[np.int32]
    subjects: NDArray[np.uint32]
    subject_rows: NDArray[np.int32]
    vectors: NDArray[np.int8]
    """n x dimension; zero rows have no vector, and dimension is 0 when none has."""

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, field.name).nbytes for field in fields(self))


class Postings(NamedTuple):
    """Places in a segment's postings where given hashes stand: `group` says which hash each place is of."""

    places: NDArray[np.int64]
    group: NDArray[np.int64]


def find_postings(sorted_hashes: NDArray[Any], wanted: NDArray[Any]) -> Postings:
    """Where each wanted hash stands in a sorted column."""
    starts = np.searchsorted(sorted_hashes, wanted, "left")
    counts = np.searchsorted(sorted_hashes, wanted, "right") - starts
    group = np.repeat(np.arange(len(wanted)), counts)
    before = np.repeat(np.cumsum(counts) - counts, counts)
    return Postings(np.arange(len(group)) - before + np.repeat(starts, counts), group)


def build_segment(rows: Sequence[Row]) -> Segment:
    """Columns of these records; ValueError when a signature is of another version."""
    terms: list[bytes] = []
    trigrams: list[bytes] = []
    frequencies: list[bytes] = []
    subjects: list[bytes] = []
    counts: list[tuple[int, int, int, int]] = []
    for row in rows:
        signature = row.signature
        version, subject_count, word_count, term_count, trigram_count = HEADER.unpack_from(signature)
        if version != SIGNATURE_VERSION:
            raise ValueError(f"signature version {version} is not {SIGNATURE_VERSION}; encode the record again")
        at_terms = HEADER.size + 4 * subject_count
        at_trigrams = at_terms + 4 * term_count
        at_frequencies = at_trigrams + 2 * trigram_count
        subjects.append(signature[HEADER.size : at_terms])
        terms.append(signature[at_terms:at_trigrams])
        trigrams.append(signature[at_trigrams:at_frequencies])
        frequencies.append(signature[at_frequencies : at_frequencies + term_count])
        counts.append((subject_count, word_count, term_count, trigram_count))
    shape = np.array(counts, dtype=np.int64).reshape(-1, 4)
    row_numbers = np.arange(len(rows), dtype=np.int32)
    term_column, term_rows, tf = _sorted_postings(
        np.frombuffer(b"".join(terms), "<u4"),
        np.repeat(row_numbers, shape[:, 2]),
        np.frombuffer(b"".join(frequencies), np.uint8),
    )
    trigram_column, trigram_rows, _ = _sorted_postings(
        np.frombuffer(b"".join(trigrams), "<u2"), np.repeat(row_numbers, shape[:, 3])
    )
    return Segment(
        numbers=np.array([row.number for row in rows], dtype=np.int64),
        keys=np.array([hash(row.key) for row in rows], dtype=np.int64),
        threads=np.array(
            [_NO_THREAD if row.origin_thread is None else hash(row.origin_thread) for row in rows], dtype=np.int64
        ),
        times_ms=np.array([row.time_ms for row in rows], dtype=np.int64),
        word_counts=shape[:, 1].astype(np.float32),
        terms=term_column,
        term_rows=term_rows,
        term_frequencies=tf,
        trigrams=trigram_column,
        trigram_rows=trigram_rows,
        subjects=np.frombuffer(b"".join(subjects), "<u4"),
        subject_rows=np.repeat(row_numbers, shape[:, 0]),
        vectors=_vector_matrix([row.vector for row in rows]),
    )


def merge_segments(parts: Sequence[tuple[Segment, NDArray[np.bool_]]]) -> Segment:
    """One segment with the rows of several, in order, without those whose mask is false."""
    starts = np.cumsum([0, *(int(alive.sum()) for _, alive in parts)])
    moved = [
        np.where(alive, np.cumsum(alive) - 1 + start, -1).astype(np.int32)
        for (_, alive), start in zip(parts, starts[:-1], strict=True)
    ]

    def column(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(segment, name)[alive] for segment, alive in parts])

    def postings(hashes: str, rows: str, *, frequencies: bool = False) -> list[NDArray[Any]]:
        new_rows = [to[getattr(segment, rows)] for (segment, _), to in zip(parts, moved, strict=True)]
        kept = np.concatenate(new_rows) >= 0
        columns = [np.concatenate([getattr(segment, hashes) for segment, _ in parts]), np.concatenate(new_rows)]
        if frequencies:
            columns.append(np.concatenate([segment.term_frequencies for segment, _ in parts]))
        return [values[kept] for values in columns]

    terms, term_rows, term_frequencies = _sorted_postings(*postings("terms", "term_rows", frequencies=True))
    trigrams, trigram_rows, _ = _sorted_postings(*postings("trigrams", "trigram_rows"))
    subjects, subject_rows = postings("subjects", "subject_rows")
    return Segment(
        numbers=column("numbers"),
        keys=column("keys"),
        threads=column("threads"),
        times_ms=column("times_ms"),
        word_counts=column("word_counts"),
        terms=terms,
        term_rows=term_rows,
        term_frequencies=term_frequencies,
        trigrams=trigrams,
        trigram_rows=trigram_rows,
        subjects=subjects,
        subject_rows=subject_rows,
        vectors=_stacked([segment.vectors[alive] for segment, alive in parts]),
    )


def _sorted_postings(
    hashes: NDArray[Any], rows: NDArray[np.int32], frequencies: NDArray[np.uint8] | None = None
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.uint8]]:
    # Stable: rows come in ascending, and stay so within a hash.
    order = np.argsort(hashes, kind="stable")
    kept = frequencies[order] if frequencies is not None else np.zeros(0, dtype=np.uint8)
    return hashes[order], rows[order], kept


def _vector_matrix(vectors: Sequence[bytes | None]) -> NDArray[np.int8]:
    dimension = max((len(vector) for vector in vectors if vector), default=0)
    blank = bytes(dimension)
    joined = b"".join(vector if vector and len(vector) == dimension else blank for vector in vectors)
    return np.frombuffer(joined, dtype=np.int8).reshape(len(vectors), dimension)


def _stacked(matrices: Sequence[NDArray[np.int8]]) -> NDArray[np.int8]:
    """Matrices of one embedder under each other; those that have no vectors yet count as zeros."""
    dimension = max(matrix.shape[1] for matrix in matrices)
    return np.concatenate(
        [
            matrix if matrix.shape[1] == dimension else np.zeros((len(matrix), dimension), dtype=np.int8)
            for matrix in matrices
        ]
    )
