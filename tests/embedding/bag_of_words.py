"""A small embedder that needs no model: texts that share words are near."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mcp_memory_server.embedding import Kind, Relevance, TokenVectors
from mcp_memory_server.embedding.calibration import relevance_of
from mcp_memory_server.embedding.sample import sample_sentences


class BagOfWords:
    """Adds up a fixed random direction for each word."""

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.id = f"bag-of-words:{dimension}"
        self.relevance: Relevance = relevance_of(self.embed(sample_sentences(60), "passage"))

    def embed(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        rows = [
            sum((self._direction(word) for word in text.lower().split()), np.zeros(self.dimension)) for text in texts
        ]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)

    def _direction(self, word: str) -> NDArray[np.float64]:
        return np.random.default_rng(crc32(word.encode())).normal(size=self.dimension)


class BagOfTokens(BagOfWords):
    """The same with a vector for each word."""

    def embed_both(self, texts: Sequence[str], kind: Kind) -> tuple[NDArray[np.float32], Sequence[TokenVectors]]:
        return self.embed(texts, kind), [
            TokenVectors(self.embed(text.lower().split(), kind), tuple(text.split())) for text in texts
        ]
