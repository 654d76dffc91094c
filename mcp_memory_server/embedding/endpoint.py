"""Any service that answers `POST …/embeddings` as OpenAI's does, on this machine or another.

Texts leave this process: whoever names such an embedder decides that the service may read what is remembered.
"""

from collections.abc import Sequence
from typing import Any, Final

import httpx2
import numpy as np
from numpy.typing import NDArray

from mcp_memory_server.errors import EmbedderUnavailable

from .base import Kind
from .calibration import relevance_of
from .sample import sample_sentences

# Less than for a local model: each sentence may be paid for.
_SAMPLE: Final = 60
_BATCH: Final = 64
_TIMEOUT_S: Final = 20.0


class EndpointEmbedder:
    """A model behind an endpoint. `base_url` ends before `/embeddings`."""

    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, transport: httpx2.BaseTransport | None = None
    ) -> None:
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx2.Client(
            base_url=base_url.rstrip("/"), headers=headers, timeout=_TIMEOUT_S, transport=transport
        )
        self._model = model
        self.id = f"endpoint:{self._client.base_url.host}:{model}"
        self.dimension = 0
        sample = self.embed(sample_sentences(_SAMPLE), "passage")
        self.dimension = sample.shape[1]
        self.relevance = relevance_of(sample)

    def embed(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        """One vector for each text. Such services read questions and stored texts alike."""
        parts = [self._request(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), dtype=np.float32)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _request(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            answer = self._client.post("/embeddings", json={"model": self._model, "input": list(texts)})
            answer.raise_for_status()
            return _vectors_in(answer.json(), len(texts))
        except httpx2.HTTPError as error:
            raise EmbedderUnavailable(f"{self.id} did not answer: {type(error).__name__}.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderUnavailable(f"{self.id} answered something else than {len(texts)} vectors.") from error


def _vectors_in(answer: Any, count: int) -> NDArray[np.float32]:
    """The vectors of an answer in the order of the texts, which the answer may have changed."""
    entries = sorted(answer["data"], key=lambda entry: entry["index"])
    matrix = np.array([entry["embedding"] for entry in entries], dtype=np.float32)
    if matrix.ndim != 2 or len(matrix) != count or not np.isfinite(matrix).all():
        raise ValueError("not one finite vector for each text")
    return matrix
