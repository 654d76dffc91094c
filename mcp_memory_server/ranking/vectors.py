"""Vectors of texts as int8, and how near they are to a question's.

A vector is scaled so that its largest component is 127. Only its direction is kept, which is all a cosine needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .caller import Caller
from .signature import hash_term
from .text import forms_of_word

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
    near: float = 0.35
    """The cosine from which a record has to do with a question though they share no word; the embedder's own."""

    def token_forms(self) -> list[tuple[int, ...]]:
        """The hashed forms of each token's word."""
        return [tuple(hash_term(form) for form in forms_of_word(word)) for word in self.token_words]


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


def cosines(caller: Caller, pooled: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each row's vector to the question's; NaN for rows that have none of that dimension."""
    found = np.full(len(caller), np.nan, dtype=np.float32)
    length = float(np.linalg.norm(pooled))
    if not length:
        return found
    direction = (pooled / length).astype(np.float32)
    for segment, start in caller.parts:
        if segment.vectors.shape[1] != len(direction):
            continue
        matrix = segment.vectors.astype(np.float32)
        norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
        with np.errstate(invalid="ignore"):
            found[start : start + len(segment)] = np.where(norms > 0, (matrix @ direction) / norms, np.nan)
    return found


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
    matrix = np.frombuffer(joined, dtype=np.int8).reshape(-1, dimension).astype(np.float32)
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-6)
    query = tokens / np.maximum(np.linalg.norm(tokens, axis=1, keepdims=True), 1e-6)
    lengths = np.array([len(documents[place] or b"") // dimension for place in having])
    starts = np.cumsum(lengths) - lengths
    best = np.maximum.reduceat(matrix @ query.T, starts, axis=0)
    found[having] = best @ (weights / max(float(weights.sum()), 1e-6))
    return found
