"""Models of the fastembed catalogue, for those who use it already."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mcp_memory_server.errors import EmbedderUnavailable

from .base import Kind, missing
from .calibration import relevance_of
from .sample import sample_sentences

_SAMPLE: Final = 240


class FastEmbedEmbedder:
    """A model by the name the catalogue lists it under; fastembed fetches it once and keeps it."""

    def __init__(self, name: str) -> None:
        try:
            library: Any = import_module("fastembed")
        except ImportError as error:
            raise missing("fastembed") from error
        try:
            self._model = library.TextEmbedding(model_name=name)
            sample = np.stack(list(self._model.passage_embed(sample_sentences(_SAMPLE)))).astype(np.float32)
        except Exception as error:  # whatever the library and the hub client behind it raise
            raise EmbedderUnavailable(f"fastembed cannot load {name}: {type(error).__name__}.") from error
        self.id = f"fastembed:{name}"
        self.dimension = sample.shape[1]
        self.relevance = relevance_of(sample)

    def embed(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        """One vector for each text, with the prompt the model wants for its kind."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        read = self._model.query_embed if kind == "query" else self._model.passage_embed
        try:
            return np.stack(list(read(list(texts)))).astype(np.float32)
        except Exception as error:  # onnxruntime raises types of its own
            raise EmbedderUnavailable(f"{self.id} failed: {type(error).__name__}.") from error
