"""Where relevance begins for a model: some put unrelated texts at a cosine of 0, others at 0.7."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .sample import sample_frames

# One deviation, not three: a question and the fact that answers it without sharing a word are often hardly nearer
# than chance, and losing the answer costs more than showing a record too many. Measured with MiniLM: the best of 250
# facts reaches this for 3 of 10 questions that have nothing to do with them, and for all that have.
_DEVIATIONS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Relevance:
    """Cosines as one model gives them."""

    near: float
    """From here on two texts have to do with each other."""
    unrelated: float
    """What texts that have nothing to do with each other usually have."""


def relevance_of(vectors: NDArray[np.float32]) -> Relevance:
    """What a model's vectors of `sample_sentences` tell of its cosines; only sentences of different build count."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    frames = np.array(sample_frames(len(vectors)))
    between = (unit @ unit.T)[frames[:, np.newaxis] != frames]
    if not len(between):
        return Relevance(1.0, 1.0)
    return Relevance(float(between.mean() + _DEVIATIONS * between.std()), float(between.mean()))
