"""Vectors of texts as int8, and how near they are to a question's.

A vector is scaled so that its largest component is 127. Only its direction is kept, which is all a cosine needs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .text import Forms, forms_of_word

# Rows that are widened to single precision at a time: more would not stay in the processor's cache.
_CHUNK: Final = 256

TokenSource = Callable[[Sequence[tuple[int, int]]], Sequence[bytes | None]]
"""Reads the token vectors (`encode_tokens`) of records given as (block index, number); None for a record without."""


@dataclass(frozen=True, eq=False, slots=True)
class QueryVectors:
    """A question as seen by the embedder whose vectors the blocks hold."""

    pooled: NDArray[np.float32]
    """Shape (dimension,), any length."""
    tokens: NDArray[np.float32] | None = None
    """Shape (tokens, token dimension), for late interaction."""
    token_words: tuple[str, ...] = ()
    """For each token the word it is a piece of: how rare that word is among the caller's records is its weight."""
    token_source: TokenSource | None = None
    unrelated: float = 0.1
    """The usual cosine of texts that have nothing to do with each other, as the embedder gives it."""
    deviation: float = 0.08
    """The standard deviation of such cosines."""

    def near(self, count: int) -> float:
        """The cosine from which the best of so many records has to do with the question.

        The more records there are, the nearer the best of them comes by chance. Measured with MiniLM: of questions
        that have nothing to do with 250 facts one in ten reaches this, of those that have, all do, and with two
        dozen preferences that a question does not name, 23 of 24.
        """
        return self.unrelated + self.deviation * max(0.0, 0.55 * math.log(max(count, 1)) - 1.25)

    def token_forms(self) -> list[Forms]:
        """The forms of each token's word."""
        return [forms_of_word(word) for word in self.token_words]


def encode_vector(vector: NDArray[np.float32]) -> bytes:
    """The direction of one vector as int8 bytes, `dimension` of them."""
    return _as_int8(vector[np.newaxis, :]).tobytes()


def encode_tokens(vectors: NDArray[np.float32]) -> bytes:
    """Token vectors of one text, shape (tokens, dimension), as int8 bytes row by row."""
    return _as_int8(vectors).tobytes()


def _as_int8(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scale = np.divide(127, largest, out=np.zeros_like(largest), where=largest > 0)
    return np.rint(np.nan_to_num(vectors * scale)).astype(np.int8)


def lengths_of(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """The Euclidean length of each row."""
    found = np.empty(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), _CHUNK):
        chunk = vectors[start : start + _CHUNK].astype(np.float32)
        found[start : start + _CHUNK] = np.sqrt((chunk * chunk).sum(axis=1))
    return found


def cosines(
    vectors: NDArray[np.int8], lengths: NDArray[np.float32], pooled: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The cosine of each row to a vector; NaN for rows of length 0, or all if the dimensions differ."""
    length = float(np.linalg.norm(pooled))
    if vectors.shape[1] != len(pooled) or not length:
        return np.full(len(vectors), np.nan, dtype=np.float32)
    direction = (pooled / length).astype(np.float32)
    found = np.empty(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), _CHUNK):
        np.dot(vectors[start : start + _CHUNK].astype(np.float32), direction, out=found[start : start + _CHUNK])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(lengths > 0, found / lengths, np.float32(np.nan))


def max_similarity(
    documents: Sequence[bytes | None], tokens: NDArray[np.float32], weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Late interaction (Khattab and Zaharia, "ColBERT", 2020): each question token's best cosine, weighted mean.

    NaN for a document without token vectors.
    """
    found = np.full(len(documents), np.nan, dtype=np.float32)
    dimension = tokens.shape[1]
    having = [place for place, document in enumerate(documents) if document and len(document) % dimension == 0]
    if not having:
        return found
    joined = b"".join(documents[place] or b"" for place in having)
    matrix = np.frombuffer(joined, dtype=np.int8).reshape(-1, dimension)
    query = (tokens / np.maximum(np.linalg.norm(tokens, axis=1, keepdims=True), 1e-6)).T.astype(np.float32)
    cosine = np.empty((len(matrix), len(tokens)), dtype=np.float32)
    # In pieces, which also keeps the product below the size that a numeric library spreads over threads: those would
    # wait for the embedder's.
    for start in range(0, len(matrix), _CHUNK):
        piece = matrix[start : start + _CHUNK].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", piece, piece))[:, np.newaxis]
        cosine[start : start + _CHUNK] = (piece @ query) / np.maximum(lengths, np.float32(1e-6))
    counts = np.array([len(documents[place] or b"") // dimension for place in having])
    best = np.maximum.reduceat(cosine, np.cumsum(counts) - counts, axis=0)
    found[having] = best @ (weights / max(float(weights.sum()), 1e-6))
    return found
