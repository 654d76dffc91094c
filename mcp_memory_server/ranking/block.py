"""The records of one scope, held in memory in the form that ranking reads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bm25 import length_divisors, rarity, saturated
from .segment import Row, Segment, build_segment, join_segments, living_rows
from .threads import ThreadOrder

# Up to so many rows a block is one segment after every write, all of it alive: that is ranked in half of the time, so
# it pays with the second question. With more the first question after a write would wait too long: at 2,400 rows
# joining takes .5 ms, 1.1 ms where a row is replaced, and as much again in a server, which has to get fresh memory.
_ALWAYS_WHOLE = 1_000
# Beyond, a write adds a small segment; it is joined with the one before once that is not this many times larger. So a
# scope of 10,000 records has at most five segments, and a record is moved a few times in its life.
_GROWTH = 8

# Columns of eight bytes a row that the first ranking adds: joined columns, sorted keys, thread order. It adds four
# bytes for each posting of a term, what that is worth, and for each hash, how rare it is.
_LATER_COLUMNS = 14


@dataclass(frozen=True, eq=False)
class SignatureBlock:
    """An immutable value: a write gives a new block that shares all unchanged columns with the old one.

    Rows are numbered through the segments in order; `alive` is false for those replaced or deleted since.
    """

    segments: tuple[Segment, ...] = ()
    masks: tuple[NDArray[np.bool_], ...] = ()

    @classmethod
    def from_rows(cls, rows: Iterable[Row]) -> "SignatureBlock":
        """A block of these rows, each number at most once, in any order; best in the order of writing."""
        segment = build_segment(list(rows))
        return cls((segment,), (np.ones(len(segment), dtype=np.bool_),)) if len(segment) else cls()

    def with_changes(self, upserts: Iterable[Row] = (), deleted_numbers: Iterable[int] = ()) -> "SignatureBlock":
        """This block after a write: rows with a known number replace it, others are added."""
        added = build_segment(list(upserts))
        gone = [*added.numbers.tolist(), *deleted_numbers]
        if not gone:
            return self
        left = self.without(gone)
        parts = [(segment, mask) for segment, mask in zip(left.segments, left.masks, strict=True) if mask.any()]
        if len(added):
            parts.append(_all_of(added))
        is_small = sum(len(segment) for segment, _ in parts) <= _ALWAYS_WHOLE
        while len(parts) > 1 and (is_small or len(parts[-2][0]) < _GROWTH * len(parts[-1][0])):
            parts[-2:] = [_all_of(join_segments(*(living_rows(*part) for part in parts[-2:])))]
        if is_small and parts:
            parts = [_all_of(living_rows(*parts[0]))]
        return SignatureBlock(tuple(segment for segment, _ in parts), tuple(mask for _, mask in parts))

    def without(self, numbers: Iterable[int]) -> "SignatureBlock":
        """This block without these rows, for one question: made sooner than `with_changes`, and ranked slower."""
        gone = np.array([*numbers], dtype=np.int64)
        parts = zip(self.segments, self.masks, strict=True)
        return SignatureBlock(self.segments, tuple(mask & ~np.isin(segment.numbers, gone) for segment, mask in parts))

    def restricted_to(self, numbers: Iterable[int]) -> "SignatureBlock":
        """This block without any other rows, for one question."""
        kept = np.array([*numbers], dtype=np.int64)
        parts = zip(self.segments, self.masks, strict=True)
        return SignatureBlock(self.segments, tuple(mask & np.isin(segment.numbers, kept) for segment, mask in parts))

    def __len__(self) -> int:
        return self._living

    @cached_property
    def _living(self) -> int:
        return int(np.count_nonzero(self.alive))

    @property
    def row_count(self) -> int:
        """How many rows are numbered, dead ones included."""
        return sum(map(len, self.segments))

    @property
    def nbytes(self) -> int:
        """Memory of the columns in bytes, with those that the first ranking adds."""
        own = sum(segment.nbytes for segment in self.segments)
        fours = sum(len(part.frequencies) + len(part.postings.hashes) for part in self.segments)
        return own + self.row_count * 8 * _LATER_COLUMNS + 4 * fours

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        return _joined(self.masks, np.bool_)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        return _joined([segment.numbers for segment in self.segments], np.int64)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        return _joined([segment.keys for segment in self.segments], np.int64)

    @cached_property
    def times_ms(self) -> NDArray[np.int64]:
        return _joined([segment.times_ms for segment in self.segments], np.int64)

    @cached_property
    def word_counts(self) -> NDArray[np.float32]:
        return _joined([segment.word_counts for segment in self.segments], np.float32)

    @cached_property
    def length_divisors(self) -> NDArray[np.float32]:
        """`bm25.length_divisors` of the rows among themselves."""
        return length_divisors(self.word_counts, mean_length(self.word_counts, self.alive, len(self)))

    @cached_property
    def worths(self) -> NDArray[np.float32]:
        """`bm25.saturated` for each posting of a term; of a block of one segment."""
        (segment,) = self.segments
        rows = segment.postings.rows[: len(segment.frequencies)]
        return saturated(segment.frequencies.astype(np.float32), self.length_divisors.take(rows))

    @cached_property
    def rarities(self) -> NDArray[np.float32]:
        """`bm25.rarity` of each hash of the postings; of a block of one segment, all of it alive."""
        (segment,) = self.segments
        return rarity(np.diff(segment.postings.starts), len(self))

    @cached_property
    def keys_in_order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The keys of all rows, ascending, and the row of each."""
        order = self.keys.argsort(kind="stable")
        return self.keys[order], order

    @cached_property
    def has_distinct_keys(self) -> bool:
        """Whether no two living records share a key, as in a scope they should not."""
        keys = np.sort(self.keys[self.alive])
        return not bool((keys[1:] == keys[:-1]).any())

    @cached_property
    def has_threads(self) -> bool:
        """Whether any living record tells which conversation it comes from."""
        parts = zip(self.segments, self.masks, strict=True)
        return any(bool(segment.threads[mask].any()) for segment, mask in parts)

    @cached_property
    def has_subjects(self) -> bool:
        """Whether any living record tells what it is about."""
        parts = zip(self.segments, self.masks, strict=True)
        return any(bool(mask[segment.subjects.rows].any()) for segment, mask in parts)

    @cached_property
    def threads(self) -> ThreadOrder:
        """The order of writing within each thread; made at the first ranking and kept."""
        threads = _joined([segment.threads for segment in self.segments], np.int64)
        return ThreadOrder.of(threads, self.numbers, self.alive & (threads != 0))


def _all_of(segment: Segment) -> tuple[Segment, NDArray[np.bool_]]:
    return segment, np.ones(len(segment), dtype=np.bool_)


def mean_length(word_counts: NDArray[np.float32], alive: NDArray[np.bool_], living: int) -> float:
    """How many words a living row has on average; 0 where there is none."""
    counted = word_counts if living == len(alive) else word_counts[alive]
    return float(counted.sum()) / max(living, 1)


def _joined(columns: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    if len(columns) == 1:
        return columns[0]
    return np.concatenate(columns) if columns else np.zeros(0, dtype=dtype)
