"""The seam for embedders: what turns texts into vectors.

An embedder is synchronous and may be slow: it is loaded and called in a worker thread, never on the event loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mcp_memory_server.errors import EmbedderUnavailable

from .calibration import Relevance

Kind = Literal["query", "passage"]
"""Some models read a question and a stored text differently, by a prefix or a prompt."""


def missing(packages: str) -> EmbedderUnavailable:
    """The error for an adapter whose library is not installed."""
    return EmbedderUnavailable(f"This embedder needs {packages}: install the extra `embeddings`.")


class Embedder(Protocol):
    """What every embedder can do. Each call raises `EmbedderUnavailable` when it fails."""

    @property
    def id(self) -> str:
        """Names model and settings: vectors of one id, and only those, can be compared. Stored beside them."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def relevance(self) -> Relevance:
        """How to read a cosine of this model's vectors."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        """One row for each text, shape (texts, dimension), not necessarily of length 1."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class TokenVectors:
    """A text token by token, without those that the model adds."""

    vectors: NDArray[np.float32]
    """Shape (tokens, dimension)."""
    words: tuple[str, ...]
    """For each token the word of the text that it is a piece of."""


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that can also give a vector for each token, for late interaction."""

    def embed_both(self, texts: Sequence[str], kind: Kind) -> tuple[NDArray[np.float32], Sequence[TokenVectors]]:
        """What `embed` gives, and the token vectors, from one run of the model."""
        ...


def gives_tokens(embedder: Embedder) -> TypeGuard[TokenEmbedder]:
    """Whether this embedder has token vectors too."""
    return isinstance(embedder, TokenEmbedder)
