"""Our errors as a line on standard error and an exit status."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, Any

import click

from mcp_memory_server.errors import ConfigurationError, MemoryServerError

from .flags import Flags


class _Failure(click.ClickException):
    """The command failed: exit status 1."""

    def __init__(self, message: str, code: str, *, as_json: bool) -> None:
        super().__init__(message)
        self._document = {"error": {"code": code, "message": message}} if as_json else None

    def show(self, file: IO[Any] | None = None) -> None:
        if self._document is None:
            super().show(file)
        else:
            click.echo(json.dumps(self._document, ensure_ascii=False), err=True)


class _NeverBegan(_Failure):
    """A setting cannot work: as with wrong usage, exit status 2."""

    exit_code = 2


class Unreadable(_Failure):
    """What was to be checked cannot be read or reached: exit status 2, since 1 says that something was found."""

    exit_code = 2

    def __init__(self, message: str, *, as_json: bool) -> None:
        super().__init__(message, "unreadable", as_json=as_json)


@contextmanager
def told(flags: Flags) -> Generator[None]:
    """Tell our own errors without a traceback; every other one is a defect and shows where it is."""
    try:
        yield
    except ConfigurationError as error:
        raise _NeverBegan(str(error), error.code, as_json=flags.json) from error
    except MemoryServerError as error:
        raise _Failure(str(error), error.code, as_json=flags.json) from error
