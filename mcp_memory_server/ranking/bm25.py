"""The formula of BM25: what it tells that a record of some length holds a word so many times.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf that stays above
nought, so that a word which most records hold still counts for those that hold it.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

# Facts are short: saturation comes early, and a longer fact is rarely padded, so length counts little.
_K1: Final = np.float32(0.9)
_K1_PLUS_1: Final = np.float32(1.9)
_B: Final = 0.2

# Up to this many records the rarity of every word that they can hold is worked out once: 4 bytes each.
_MOST_TABLED: Final = 8_192


def rarity(holding: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """The idf of terms that so many of `count` records hold."""
    return _rarities(count).take(holding) if count <= _MOST_TABLED else _rarity(holding, count)


def length_divisors(word_counts: NDArray[np.float32], mean: float) -> NDArray[np.float32]:
    """For each record what its length divides by: 1 for the mean, a little more for longer ones."""
    relative = np.divide(word_counts, max(mean, 1.0), dtype=np.float32)
    return np.add(1 - _B, np.multiply(_B, relative, dtype=np.float32), dtype=np.float32)


def saturated(frequencies: NDArray[np.float32], divisors: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a count is worth in records with these `length_divisors`."""
    return np.divide(frequencies * _K1_PLUS_1, frequencies + divisors * _K1, dtype=np.float32)


def saturated_at_mean(frequencies: NDArray[np.uint8]) -> NDArray[np.float32]:
    """What a count is worth in a record of mean length."""
    return _AT_MEAN.take(frequencies)


_AT_MEAN: Final = saturated(np.arange(256, dtype=np.float32), np.ones(256, dtype=np.float32))


@lru_cache(maxsize=128)
def _rarities(count: int) -> NDArray[np.float32]:
    return _rarity(np.arange(count + 1), count)


def _rarity(holding: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    return np.log1p((count - holding + 0.5) / (holding + 0.5)).astype(np.float32)
