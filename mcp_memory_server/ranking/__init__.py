"""The ranking engine: pure functions over compact signatures, the same for every store.

Names are resolved at first use: importing the package loads neither numpy nor the stemmers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .block import SignatureBlock
    from .engine import Question, Ranked, rank
    from .fusion import WITH_POOLED, WITH_TOKENS, WORDS_ALONE, Weights
    from .languages import known_languages
    from .segment import Row
    from .signature import SIGNATURE_VERSION, encode_signature
    from .text import forms_of_text, read_query, terms
    from .vectors import QueryVectors, TokenSource, encode_tokens, encode_vector

__all__ = [
    "SIGNATURE_VERSION",
    "WITH_POOLED",
    "WITH_TOKENS",
    "WORDS_ALONE",
    "QueryVectors",
    "Question",
    "Ranked",
    "Row",
    "SignatureBlock",
    "TokenSource",
    "Weights",
    "encode_signature",
    "encode_tokens",
    "encode_vector",
    "forms_of_text",
    "known_languages",
    "rank",
    "read_query",
    "terms",
]

_HOMES: Final = {
    "WITH_POOLED": "fusion",
    "WITH_TOKENS": "fusion",
    "WORDS_ALONE": "fusion",
    "SIGNATURE_VERSION": "signature",
    "QueryVectors": "vectors",
    "Question": "engine",
    "Ranked": "engine",
    "Row": "segment",
    "SignatureBlock": "block",
    "TokenSource": "vectors",
    "Weights": "fusion",
    "encode_signature": "signature",
    "encode_tokens": "vectors",
    "encode_vector": "vectors",
    "forms_of_text": "text",
    "known_languages": "languages",
    "rank": "engine",
    "read_query": "text",
    "terms": "text",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
