"""Static embedders: a table of word vectors and no network to run. Weak, but fast and small."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mcp_memory_server.errors import EmbedderUnavailable

from .base import Kind, missing
from .calibration import relevance_of
from .sample import sample_sentences

_SAMPLE: Final = 240


class Model2VecEmbedder:
    """A model of the model2vec library, by the path of its folder or by its name."""

    def __init__(self, name: str) -> None:
        try:
            library: Any = import_module("model2vec")
        except ImportError as error:
            raise missing("model2vec") from error
        # A folder is read as it stands; only a name that is no folder may be fetched.
        source = Path(name).expanduser()
        try:
            self._model = library.StaticModel.from_pretrained(
                str(source) if source.is_dir() else name, normalize=True, force_download=False
            )
            sample = self._encode(sample_sentences(_SAMPLE))
        except Exception as error:  # whatever the library and the hub client behind it raise
            raise EmbedderUnavailable(f"model2vec cannot load {name}: {type(error).__name__}.") from error
        self.id = f"model2vec:{source.name}:{sample.shape[1]}"
        self.dimension = sample.shape[1]
        self.relevance = relevance_of(sample)

    def embed(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        """One vector for each text; questions and stored texts are read alike."""
        return self._encode(texts) if texts else np.zeros((0, self.dimension), dtype=np.float32)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(self._model.encode(list(texts), use_multiprocessing=False), dtype=np.float32)
