"""Sorted postings: which rows hold a hash."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Hits(NamedTuple):
    """Rows that hold some of the wanted hashes; one entry for each pair, hash by hash, rows ascending."""

    rows: NDArray[np.int64]
    wanted: NDArray[np.int64]
    """For each hit the number of the hash among those looked for."""
    holding: NDArray[np.int64]
    """For each hash looked for, how many rows hold it."""
    places: NDArray[np.int64]
    """For each hit its place in the postings."""


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Pairs of a hash and a row, sorted by hash and then by row."""

    hashes: NDArray[Any]
    rows: NDArray[Any]

    @classmethod
    def of(cls, hashes: NDArray[Any], rows: NDArray[Any]) -> tuple["Postings", NDArray[np.int64]]:
        """Postings of pairs that come in the order of their rows, and the order they were sorted into."""
        order = hashes.argsort(kind="stable")
        return cls(hashes[order], rows[order]), order

    @property
    def nbytes(self) -> int:
        return self.hashes.nbytes + self.rows.nbytes

    def find(self, wanted: NDArray[Any]) -> Hits:
        """Where the wanted hashes stand. Array methods are called bare: this is the innermost step of a recall."""
        starts = self.hashes.searchsorted(wanted, "left")
        holding = self.hashes.searchsorted(wanted, "right") - starts
        ends = holding.cumsum()
        total = int(ends[-1]) if len(ends) else 0
        places = np.arange(total) + (starts - ends + holding).repeat(holding)
        return Hits(self.rows[places].astype(np.int64), np.arange(len(wanted)).repeat(holding), holding, places)
