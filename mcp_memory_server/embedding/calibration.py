"""How to read a model's cosines: some put unrelated texts at 0, others at 0.7."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .sample import sample_frames


@dataclass(frozen=True, slots=True)
class Relevance:
    """The cosines of texts that have nothing to do with each other."""

    unrelated: float
    """Their mean."""
    deviation: float
    """Their standard deviation."""


def relevance_of(vectors: NDArray[np.float32]) -> Relevance:
    """What a model's vectors of `sample_sentences` tell of its cosines; only sentences of different build count."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    frames = np.array(sample_frames(len(vectors)))
    between = (unit @ unit.T)[frames[:, np.newaxis] != frames]
    if not len(between):
        return Relevance(1.0, 0.0)
    return Relevance(float(between.mean()), float(between.std()))
