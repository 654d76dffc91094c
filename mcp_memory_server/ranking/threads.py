"""The order of writing within each thread of conversation.

What was written just before and after a memory often holds what it is about: the question it answers, the name
it leaves out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class ThreadOrder:
    """Rows in the order of their threads. A row that belongs to no thread is a thread of its own."""

    order: NDArray[np.int64]
    """Row numbers, thread by thread, in order of writing."""
    place: NDArray[np.int64]
    """For each row its place in `order`."""
    first: NDArray[np.int64]
    """For each row the first place of its thread."""
    last: NDArray[np.int64]
    """For each row the last place of its thread."""

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
        thread_of_place = np.cumsum(begins) - 1
        ends = np.append(starts[1:], count) - 1
        return cls(order, place, starts[thread_of_place[place]], ends[thread_of_place[place]])

    def beside(self, distance: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """For each row the row so many places on (back if negative), and whether its thread reaches there."""
        wanted = self.place + distance
        reached = (self.first <= wanted) & (wanted <= self.last)
        return self.order[np.clip(wanted, self.first, self.last)], reached

    def shifted(self, rows: int) -> "ThreadOrder":
        """The same order for rows that are numbered from `rows` on."""
        return ThreadOrder(self.order + rows, self.place + rows, self.first + rows, self.last + rows)

    def best_beside(self, scores: NDArray[np.float32], distance: int) -> NDArray[np.float32]:
        """For each row the higher score of the two rows at this distance, 0 where there is none."""
        found = np.zeros(len(scores), dtype=np.float32)
        for step in (-distance, distance):
            rows, reached = self.beside(step)
            np.maximum(found, np.where(reached, scores[rows], 0), out=found)
        return found

    def held_near(
        self, rows: NDArray[np.int64], terms: NDArray[np.int64], weights: NDArray[np.float32], radius: int
    ) -> NDArray[np.float32]:
        """For each row the summed weights of the terms held within `radius` places of it in its thread.

        Row `rows[i]` holds term `terms[i]`; a term counts once, however many rows around hold it.
        """
        from_place = np.maximum(self.place[rows] - radius, self.first[rows])
        to_place = np.minimum(self.place[rows] + radius, self.last[rows]) + 1
        reach = np.zeros((len(weights), len(self.place) + 1), dtype=np.int32)
        np.add.at(reach, (terms, from_place), 1)
        np.subtract.at(reach, (terms, to_place), 1)
        held = (reach.cumsum(axis=1)[:, :-1] > 0).astype(np.float32)
        return (weights @ held)[self.place]
