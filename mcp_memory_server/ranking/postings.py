"""Sorted postings: which rows hold a hash.

Array methods are called bare, and values are taken, not indexed: this is the innermost step of a recall, and for a few
hundred records the number of calls is what a question costs.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray


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


_ZERO: Final = np.zeros(1, dtype=np.int64)
# So many numbers are compared with all rows sooner than each row is looked up.
_FEW: Final = 4
_COUNTED: Final = np.arange(8_192)


def _counting(count: int) -> NDArray[np.int64]:
    """0, 1, 2 and so on."""
    return _COUNTED[:count] if count <= len(_COUNTED) else np.arange(count)


def row_type(count: int) -> type[np.integer[Any]]:
    """What a row is named by: two bytes in all but the largest sets, for there are a hundred postings a row."""
    return np.uint16 if count <= 0xFFFF else np.int32


def spread(first: NDArray[Any], second: NDArray[Any], places: NDArray[np.int64], dtype: DTypeLike) -> NDArray[Any]:
    """Two arrays as one: the values of the second stand at these places, those of the first around them, in order."""
    values = np.empty(len(first) + len(second), dtype=dtype)
    values[places] = second
    around = np.ones(len(values), dtype=np.bool_)
    around[places] = False
    values[around] = first
    return values


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

    def of_living(self, alive: NDArray[np.bool_]) -> "Part":
        """The postings of the living rows alone, which are numbered anew."""
        rows, kept = _renumbered(self.rows, alive)
        # A run starts earlier by as many postings as are gone before it.
        starts = self.starts - (~kept).nonzero()[0].searchsorted(self.starts)
        held = starts[1:] > starts[:-1]
        return Part(Postings(self.hashes[held], np.append(starts[:-1][held], len(rows)), rows), kept, held)

    def joined(self, others: "Postings", own_rows: int, all_rows: int) -> "Joined":
        """These postings, of so many rows, with others, whose rows come after ours; how many rows that makes.

        Nothing is sorted anew: in the run of each hash the others' rows stand behind ours.
        """
        places: NDArray[np.int64] = self.hashes.searchsorted(others.hashes)
        new = places == self.hashes.searchsorted(others.hashes, "right")
        places += new.cumsum() - new
        known = np.ones(len(self.hashes) + np.count_nonzero(new), dtype=np.bool_)
        known[places[new]] = False
        hashes = np.empty(len(known), dtype=self.hashes.dtype)
        hashes[known] = self.hashes
        hashes[places] = others.hashes
        holding = np.zeros(len(known), dtype=np.int64)
        holding[known] = np.diff(self.starts)
        others_holding = np.diff(others.starts)
        holding[places] += others_holding
        starts = np.concatenate([_ZERO, holding.cumsum()])
        # A run of the others ends where the joined one does.
        shifts = starts.take(places + 1) - others.starts[1:]
        theirs = shifts.repeat(others_holding) + _counting(len(others.rows))
        rows = spread(self.rows, others.rows.astype(np.int64) + own_rows, theirs, row_type(all_rows))
        return Joined(Postings(hashes, starts, rows), theirs, known.nonzero()[0], places)

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


def _renumbered(rows: NDArray[Any], alive: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Those of the rows that are alive, numbered without the dead ones, and for each row whether it is."""
    dead = (~alive).nonzero()[0].tolist()
    if len(dead) > _FEW:
        kept = alive.take(rows)
        return (alive.cumsum() - 1).astype(rows.dtype).take(rows[kept]), kept
    kept = np.ones(len(rows), dtype=np.bool_)
    for row in dead:
        kept &= rows != row
    living = rows[kept]
    for row in reversed(dead):
        living -= living > row
    return living, kept


class Part(NamedTuple):
    """Some of the postings of a set."""

    postings: Postings
    kept: NDArray[np.bool_]
    """For each posting of the set whether it is one of these."""
    held: NDArray[np.bool_]
    """For each hash of the set whether it is among these."""


class Joined(NamedTuple):
    """Two sets of postings as one."""

    postings: Postings
    theirs: NDArray[np.int64]
    """For each posting of the second set its place now; those of the first stand around them, in order."""
    places: NDArray[np.int64]
    """For each hash of the first set its place now."""
    others_places: NDArray[np.int64]
    """For each hash of the second set its place now."""
