"""Sorted postings: which rows hold a hash.

Array methods are called bare, and values are taken, not indexed: this is the innermost step of a recall, and for a few
hundred records the number of calls is what a question costs.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Hits(NamedTuple):
    """Rows that hold some of the wanted hashes; one entry for each pair, hash by hash, rows ascending.

    So what belongs to each hash is spread over its hits by `values.repeat(holding)`.
    """

    rows: NDArray[Any]
    holding: NDArray[np.int64]
    """For each hash looked for, how many rows hold it."""
    until: NDArray[np.int64]
    """For each of them, at which hit its own end: the running sum of `holding`."""
    places: NDArray[np.int64]
    """For each hit its place in the postings."""

    def of_first(self, hashes: int) -> int:
        """How many of the hits are those of the first so many hashes."""
        return int(self.until[hashes - 1]) if hashes else 0


_COUNTED: Final = np.arange(8_192)


def _counting(count: int) -> NDArray[np.int64]:
    """0, 1, 2 and so on."""
    return _COUNTED[:count] if count <= len(_COUNTED) else np.arange(count)


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The rows of each hash: those of `hashes[i]` begin at `rows[starts[i]]` and end before `rows[starts[i + 1]]`."""

    hashes: NDArray[Any]
    """Distinct, ascending."""
    starts: NDArray[np.int64]
    """One more than there are hashes."""
    rows: NDArray[Any]

    @classmethod
    def of(cls, hashes: NDArray[Any], rows: NDArray[Any]) -> tuple["Postings", NDArray[np.int64]]:
        """Postings of pairs that come in the order of their rows, and the order they were sorted into."""
        order = hashes.argsort(kind="stable")
        ordered = hashes[order]
        first = np.ones(len(ordered), dtype=np.bool_)
        first[1:] = ordered[1:] != ordered[:-1]
        starts = np.append(first.nonzero()[0], len(ordered))
        return cls(ordered[first], starts, rows[order]), order

    def followed_by(self, others: "Postings", first: int) -> "Postings":
        """These postings, and behind them others, whose hashes come on top of `first`; all of ours are below that."""
        hashes = np.concatenate([self.hashes, others.hashes.astype(np.uint64) + np.uint64(first)], dtype=np.uint64)
        starts = np.concatenate([self.starts[:-1], others.starts + len(self.rows)])
        return Postings(hashes, starts, np.concatenate([self.rows, others.rows]))

    def parted_at(self, first: int) -> tuple["Postings", "Postings"]:
        """What `followed_by` made one of."""
        ours = int(self.hashes.searchsorted(np.uint64(first)))
        end = int(self.starts[ours])
        return (
            Postings(self.hashes[:ours].astype(np.uint32), self.starts[: ours + 1], self.rows[:end]),
            Postings(
                (self.hashes[ours:] - np.uint64(first)).astype(np.uint16), self.starts[ours:] - end, self.rows[end:]
            ),
        )

    @property
    def nbytes(self) -> int:
        return self.hashes.nbytes + self.starts.nbytes + self.rows.nbytes

    def holding(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """For each wanted hash, how many rows hold it."""
        starts, ends = self._spans(wanted)
        return ends - starts

    def find(self, wanted: NDArray[Any]) -> Hits:
        """Where the wanted hashes stand."""
        starts, ends = self._spans(wanted)
        return self._hits(ends, ends - starts)

    def _hits(self, ends: NDArray[np.int64], holding: NDArray[np.int64]) -> Hits:
        # The last hit of a hash stands at its end in the postings, and at the running sum among the hits.
        until = np.add.accumulate(holding)
        places = (ends - until).repeat(holding)
        places += _counting(len(places))
        return Hits(self.rows.take(places), holding, until, places)

    def _spans(self, wanted: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each wanted hash where its rows start and end."""
        hashes, starts = self.hashes, self.starts
        return starts.take(hashes.searchsorted(wanted, "left")), starts.take(hashes.searchsorted(wanted, "right"))
