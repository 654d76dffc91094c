"""Sorted postings: which rows hold a hash.

Array methods are called bare, and values are taken, not indexed: this is the innermost step of a recall, and for a few
hundred records the number of calls is what a question costs.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Hits(NamedTuple):
    """Rows that hold some of the wanted hashes; one entry for each pair, hash by hash, rows ascending.

    So what belongs to each hash is spread over its hits by `values.repeat(holding)`.
    """

    rows: NDArray[Any]
    holding: NDArray[np.int64]
    """For each hash looked for, how many rows hold it."""
    places: NDArray[np.int64]
    """For each hit its place in the postings."""


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
        holding = ends - starts
        # The last hit of a hash stands at its end in the postings, and at the running sum among the hits.
        places = (ends - holding.cumsum()).repeat(holding)
        places += np.arange(len(places))
        return Hits(self.rows.take(places), holding, places)

    def _spans(self, wanted: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each wanted hash where its rows start and end."""
        hashes, starts = self.hashes, self.starts
        return starts.take(hashes.searchsorted(wanted, "left")), starts.take(hashes.searchsorted(wanted, "right"))
