"""Optional vectors: the seam, its adapters, and the form in which stores keep what they give.

Names are resolved at first use: importing the package loads neither numpy nor any embedder.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .base import Embedder, Kind, TokenEmbedder, TokenVectors, gives_tokens
    from .calibration import Relevance
    from .encoding import EncodedVectors, embedded_text, encode_question, encode_records
    from .opening import check_embedder_setting, open_embedder

__all__ = [
    "Embedder",
    "EncodedVectors",
    "Kind",
    "Relevance",
    "TokenEmbedder",
    "TokenVectors",
    "check_embedder_setting",
    "embedded_text",
    "encode_question",
    "encode_records",
    "gives_tokens",
    "open_embedder",
]

_HOMES: Final = {
    "Embedder": "base",
    "EncodedVectors": "encoding",
    "Kind": "base",
    "Relevance": "calibration",
    "TokenEmbedder": "base",
    "TokenVectors": "base",
    "check_embedder_setting": "opening",
    "embedded_text": "encoding",
    "encode_question": "encoding",
    "encode_records": "encoding",
    "gives_tokens": "base",
    "open_embedder": "opening",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
