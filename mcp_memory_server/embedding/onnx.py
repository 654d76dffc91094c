"""A sentence embedder in a local folder, run by onnxruntime: no download, no framework."""

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mcp_memory_server.errors import EmbedderUnavailable

from .base import Kind, TokenVectors, missing
from .calibration import relevance_of
from .projection import TokenProjection
from .sample import sample_sentences

_MODEL_FILES: Final = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_BATCH: Final = 32
_MOST_TOKENS: Final = 256
_SAMPLE: Final = 240
# Two threads halve the time of a batch; more would take the host's cores for little.
_THREADS: Final = 2


class OnnxEmbedder:
    """A folder with `model.onnx` and `tokenizer.json`, as sentence embedders are published.

    Read as well, where they are there: `1_Pooling/config.json` (mean or first token) and
    `config_sentence_transformers.json` (prompts for questions and texts).
    """

    def __init__(self, folder: Path) -> None:
        model = next((folder / name for name in _MODEL_FILES if (folder / name).is_file()), None)
        tokenizer = folder / "tokenizer.json"
        if model is None or not tokenizer.is_file():
            raise EmbedderUnavailable(f"{folder} holds no model.onnx with a tokenizer.json; name a folder that does.")
        self._session, self._tokenizer = _load(model, tokenizer)
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._first_token = bool(_read_json(folder / "1_Pooling/config.json").get("pooling_mode_cls_token"))
        self._prompts = _prompts(_read_json(folder / "config_sentence_transformers.json").get("prompts") or {})
        self.dimension = 0
        self.id = f"onnx:{folder.name}:{_digest(model)}"
        pooled, tokens = self._run(sample_sentences(_SAMPLE))
        self.dimension = pooled.shape[1]
        self.relevance = relevance_of(pooled)
        self._projection = TokenProjection.fitted(np.concatenate([part.vectors for part in tokens]))

    def embed(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        """One vector of length 1 for each text; what lies beyond the model's limit of tokens is not read."""
        return self._run(self._prompted(texts, kind), with_tokens=False)[0]

    def embed_both(self, texts: Sequence[str], kind: Kind) -> tuple[NDArray[np.float32], Sequence[TokenVectors]]:
        """As `embed`, and the projected vector of each token."""
        pooled, tokens = self._run(self._prompted(texts, kind))
        return pooled, [TokenVectors(self._projection(part.vectors), part.words) for part in tokens]

    def _prompted(self, texts: Sequence[str], kind: Kind) -> list[str]:
        return [self._prompts[kind] + text for text in texts]

    def _run(self, texts: Sequence[str], *, with_tokens: bool = True) -> tuple[NDArray[np.float32], list[TokenVectors]]:
        encoded = self._tokenizer.encode_batch(list(texts))
        # Texts of like length together: a batch is as slow as its longest.
        order = sorted(range(len(texts)), key=lambda place: len(encoded[place].ids))
        pooled: dict[int, NDArray[np.float32]] = {}
        tokens: dict[int, TokenVectors] = {}
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            states, mask = self._states([encoded[place] for place in places])
            vectors = states[:, 0] if self._first_token else _mean(states, mask)
            for row, place in enumerate(places):
                pooled[place] = vectors[row]
                if with_tokens:
                    tokens[place] = _tokens_of(states[row], encoded[place], texts[place])
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32), []
        matrix = np.stack([pooled[place] for place in range(len(texts))])
        unit = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
        return unit.astype(np.float32), [tokens[place] for place in range(len(tokens))]

    def _states(self, encoded: Sequence[Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The last hidden states of a batch, shape (texts, tokens, dimension), and which tokens are real."""
        longest = max(len(entry.ids) for entry in encoded)
        ids = np.zeros((len(encoded), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, entry in enumerate(encoded):
            ids[row, : len(entry.ids)] = entry.ids
            mask[row, : len(entry.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            states = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        except Exception as error:  # onnxruntime raises types of its own, which cannot be imported without it
            raise EmbedderUnavailable(f"{self.id} failed: {type(error).__name__}.") from error
        return states, mask


def _load(model: Path, tokenizer: Path) -> tuple[Any, Any]:
    try:
        runtime: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
    except ImportError as error:
        raise missing("onnxruntime and tokenizers") from error
    options = runtime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    # Threads that spin while they wait would take the processor from whoever ranks meanwhile.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        loaded = tokenizers.Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # see `_states`
        raise EmbedderUnavailable(f"{model.parent} cannot be loaded: {type(error).__name__}.") from error
    loaded.no_padding()
    loaded.enable_truncation(_MOST_TOKENS)
    return session, loaded


def _mean(states: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    real = mask[..., np.newaxis].astype(np.float32)
    return (states * real).sum(axis=1) / np.maximum(real.sum(axis=1), 1)


def _tokens_of(states: NDArray[np.float32], encoded: Any, text: str) -> TokenVectors:
    kept = [place for place, added in enumerate(encoded.special_tokens_mask) if not added]
    words = tuple(_word_at(text, *encoded.offsets[place]) for place in kept)
    return TokenVectors(states[kept].astype(np.float32), words)


def _word_at(text: str, start: int, end: int) -> str:
    """The word that this piece of the text belongs to."""
    while start > 0 and text[start - 1].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1 : end].isalnum():
        end += 1
    return text[start:end].strip()


def _prompts(found: dict[str, str]) -> dict[Kind, str]:
    query = found.get("query") or found.get("s2p_query") or ""
    return {"query": query, "passage": found.get("passage") or found.get("document") or ""}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise EmbedderUnavailable(f"{path} cannot be read: {type(error).__name__}.") from error


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()[:16]
