"""All the records a caller may see, as one table."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block import SignatureBlock
from .segment import Segment
from .threads import ThreadOrder


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
    def threads(self) -> ThreadOrder:
        """Threads do not reach from one block into another."""
        if len(self.blocks) == 1:
            return self.blocks[0].threads
        parts = [block.threads.shifted(start) for block, start in zip(self.blocks, self.starts.tolist(), strict=False)]
        columns = ("order", "place", "first", "last")
        return ThreadOrder(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))

    @cached_property
    def count(self) -> int:
        return int(self.alive.sum())

    def relative_lengths(self, b: float) -> NDArray[np.float32]:
        """The divisor of BM25 for a row's length against the mean: 1 for a row of mean length, or if b is 0."""
        mean = max(float(self.word_counts[self.alive].mean()), 1.0)
        return 1 - b + b * self.word_counts / mean

    def __len__(self) -> int:
        return int(self.starts[-1])

    def _column(self, name: str) -> NDArray[Any]:
        columns = [getattr(block, name) for block in self.blocks]
        return columns[0] if len(columns) == 1 else np.concatenate(columns)
