"""The order of writing within each thread of conversation.

What was written just before and after a memory often holds what it is about: the question it answers, the name
it leaves out.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

FARTHEST: Final = 2
"""How many places away `best_beside` can look."""

_NONE: Final = np.zeros(1, dtype=np.float32)


@dataclass(frozen=True, eq=False, slots=True)
class ThreadOrder:
    """Rows in the order of their threads. A row that belongs to no thread is a thread of its own."""

    place: NDArray[np.int64]
    """For each row its place when all threads are laid one after the other, each in order of writing."""
    first: NDArray[np.int64]
    """For each row the first place of its thread."""
    last: NDArray[np.int64]
    """For each row the last place of its thread."""
    before: tuple[NDArray[np.int64], ...]
    """For each distance from 1 on, the row that many places before each row; the row count where there is none."""
    after: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, threads: NDArray[np.int64], numbers: NDArray[np.int64], told: NDArray[np.bool_]) -> "ThreadOrder":
        """`told` is true for the living rows that have a thread."""
        count = len(threads)
        order = np.lexsort((numbers, threads, told))
        place = np.empty(count, dtype=np.int64)
        place[order] = np.arange(count)
        begins = np.ones(count, dtype=np.bool_)
        begins[1:] = (threads[order[1:]] != threads[order[:-1]]) | ~told[order[:-1]]
        starts = np.flatnonzero(begins)
        thread = (np.cumsum(begins) - 1)[place]
        first, last = starts[thread], (np.append(starts[1:], count) - 1)[thread]

        def beside(distance: int) -> NDArray[np.int64]:
            wanted = place + distance
            return np.where((first <= wanted) & (wanted <= last), order[np.clip(wanted, first, last)], count)

        distances = range(1, FARTHEST + 1)
        return cls(
            place, first, last, tuple(beside(-far) for far in distances), tuple(beside(far) for far in distances)
        )

    def best_beside(self, scores: NDArray[np.float32], distance: int) -> NDArray[np.float32]:
        """For each row the higher score of the two rows at this distance, 0 where there is none.

        No score is below 0.
        """
        padded = np.concatenate((scores, _NONE))
        return np.maximum(padded.take(self.before[distance - 1]), padded.take(self.after[distance - 1]))

    def held_near(
        self, rows: NDArray[np.int64], terms: NDArray[np.int64], weights: NDArray[np.float32], radius: int
    ) -> NDArray[np.float32]:
        """For each row the summed weights of the terms held within `radius` places of it in its thread.

        Row `rows[i]` holds term `terms[i]`; a term counts once, however many rows around hold it. At most 127 hits
        of a term may lie within reach of one row.
        """
        place = self.place.take(rows)
        from_place = np.maximum(place - radius, self.first.take(rows))
        to_place = np.minimum(place + radius, self.last.take(rows)) + 1
        reach = np.zeros((len(weights), len(self.place) + 1), dtype=np.int8)
        np.add.at(reach, (terms, from_place), np.int8(1))
        np.subtract.at(reach, (terms, to_place), np.int8(1))
        held = np.add.accumulate(reach, axis=1, dtype=np.int8) > 0
        return np.add.reduce(weights[:, np.newaxis] * held, axis=0).take(self.place)
