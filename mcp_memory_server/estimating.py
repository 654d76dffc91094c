"""Estimators of tokens that a deployment can put in place of `recall.estimate_tokens`, which no model is known to."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any, Final

from .errors import ConfigurationError, echo
from .recall import Estimator

_LEAST_CHARS: Final = 1.0
"""With less than a character a token, the smallest budget would not hold the beginning of a fact."""
_MOST_CHARS: Final = 10.0
_FORMS: Final = "chars:N, characters a token from 1 to 10, or tokenizer:FILE, a tokenizer.json"


def open_estimator(setting: str) -> Estimator:
    """The estimator that a setting names. It runs no code of the file that it reads.

    ``chars:N``          as many tokens as the text has characters, over N and rounded up
    ``tokenizer:FILE``   exactly, by a model's own tokenizer in the format of the library `tokenizers`

    Raises:
        ConfigurationError: any other form, a file that is no tokenizer, or the library is missing.
    """
    kind, _, value = setting.partition(":")
    match kind:
        case "chars":
            return _by_chars(setting, value)
        case "tokenizer" if value:
            return _by_tokenizer(value)
        case _:
            raise ConfigurationError(f"token_estimator {echo(setting)} is not of the form {_FORMS}.")


def _by_chars(setting: str, value: str) -> Estimator:
    try:
        chars = float(value)
    except ValueError:
        chars = 0.0
    if not _LEAST_CHARS <= chars <= _MOST_CHARS:
        raise ConfigurationError(f"token_estimator {echo(setting)} is not of the form {_FORMS}.")
    return lambda text: ceil(len(text) / chars)


def _by_tokenizer(path: str) -> Estimator:
    try:
        library: Any = import_module("tokenizers")
    except ImportError as error:
        raise ConfigurationError(
            "token_estimator needs the library tokenizers, which the extra onnx brings; install it."
        ) from error
    file = Path(path).expanduser()
    try:
        tokenizer: Any = library.Tokenizer.from_file(str(file))
        tokenizer.no_truncation()  # a file may ask for it, and every long text would look short
        tokenizer.no_padding()
    except Exception as error:  # the library's own, which share no other base
        raise ConfigurationError(f"token_estimator cannot read {echo(str(file))} as a tokenizer.") from error
    encode: Callable[..., Any] = tokenizer.encode

    def count(text: str) -> int:
        # Half of a surrogate pair, which a foreign record may hold, has no bytes to be counted by.
        return len(encode(text.encode(errors="replace").decode(), add_special_tokens=False).ids)

    return count
