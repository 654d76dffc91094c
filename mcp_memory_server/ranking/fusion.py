"""How signals of different kinds become one score."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts for, once scaled to 0..1 within the caller's records."""

    words: float = 0.6
    trigrams: float = 0.4
    subject: float = 0.2
    neighbours: float = 0.2
    date: float = 0.4
    feedback: float = 0.2
    vector: float = 1.0
    near: float = 0.3
    k1: float = 0.9
    b: float = 0.2


DEFAULT_WEIGHTS: Final = Weights()


def min_max(values: NDArray[np.float32], alive: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Scaled to 0..1 over the living rows; where all are equal, 1 for what is above nought.

    Sums of scaled scores beat reciprocal ranks, which throw away by how much one record is better.
    """
    if not alive.any():
        return np.zeros_like(values)
    living = values[alive]
    low, high = float(living.min()), float(living.max())
    if high - low <= 1e-9:
        return np.where(alive & (values > 0), np.float32(1), np.float32(0))
    return np.where(alive, (values - low) / (high - low), np.float32(0)).astype(np.float32)
