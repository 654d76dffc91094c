"""The forms that values of settings come in, whatever source they have: a flag, a variable or a TOML file."""

from __future__ import annotations

from typing import Annotated, Final, cast

from pydantic import BeforeValidator
from pydantic_settings import NoDecode


def upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def split(value: object) -> object:
    """Names separated by commas; a configuration file may give a list."""
    names: object = value.split(",") if isinstance(value, str) else value
    if isinstance(names, (list, tuple)):
        return tuple(dict.fromkeys(str(name).strip() for name in cast("list[object]", names) if str(name).strip()))
    return value


def blank_is_none(value: object) -> object:
    return (value.strip() or None) if isinstance(value, str) else value


def _no_booleans(value: object) -> object:
    """`true` in a configuration file would otherwise count as 1."""
    if isinstance(value, bool):
        raise ValueError("is a truth value, not a number")
    return value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split)]
OptionalName = Annotated[str | None, BeforeValidator(blank_is_none)]
NUMBER: Final = BeforeValidator(_no_booleans)
