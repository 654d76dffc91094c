"""From a setting to an embedder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from mcp_memory_server.errors import ConfigurationError, echo

from .base import Embedder


def open_embedder(setting: str, api_key: str | None = None) -> Embedder:
    """Load the embedder that a setting names; takes seconds, so call it in a worker thread.

    ``onnx:FOLDER``            a folder with model.onnx and tokenizer.json
    ``model2vec:FOLDER``       a static model, by folder or by name
    ``fastembed:NAME``         a model of the fastembed catalogue
    ``openai:MODEL@BASE_URL``  a service; `api_key` is sent to it

    ConfigurationError for any other form, `EmbedderUnavailable` when what is named cannot be loaded.
    """
    kind, rest = _parts(setting)
    return _KINDS[kind](rest, api_key)


def check_embedder_setting(setting: str) -> None:
    """Refuse what no adapter answers to, without loading anything.

    Raises:
        ConfigurationError: the setting has none of the forms of `open_embedder`.
    """
    _parts(setting)


def _parts(setting: str) -> tuple[str, str]:
    kind, colon, rest = setting.partition(":")
    if not colon or not rest or kind not in _KINDS:
        raise ConfigurationError(
            f"embedder {echo(setting)} is not one of {', '.join(f'{known}:…' for known in _KINDS)}."
        )
    return kind, rest


# Each adapter is imported only when it is named: together they would load three frameworks.


def _open_onnx(folder: str, api_key: str | None) -> Embedder:
    from .onnx import OnnxEmbedder  # noqa: PLC0415

    return OnnxEmbedder(Path(folder).expanduser())


def _open_model2vec(name: str, api_key: str | None) -> Embedder:
    from .model2vec import Model2VecEmbedder  # noqa: PLC0415

    return Model2VecEmbedder(name)


def _open_fastembed(name: str, api_key: str | None) -> Embedder:
    from .fastembed import FastEmbedEmbedder  # noqa: PLC0415

    return FastEmbedEmbedder(name)


def _open_endpoint(place: str, api_key: str | None) -> Embedder:
    from .endpoint import EndpointEmbedder  # noqa: PLC0415

    model, at, base_url = place.partition("@")
    if not at or not model or not base_url.startswith(("http://", "https://")):
        raise ConfigurationError(f"embedder openai:{echo(place)} is not of the form openai:MODEL@BASE_URL.")
    return EndpointEmbedder(base_url, model, api_key)


_KINDS: Final[Mapping[str, Callable[[str, str | None], Embedder]]] = MappingProxyType(
    {"onnx": _open_onnx, "model2vec": _open_model2vec, "fastembed": _open_fastembed, "openai": _open_endpoint}
)
