"""Text in and out of the process, whatever the terminal's encoding."""

from __future__ import annotations

import io
import sys
from typing import IO, Final, TextIO

import click

STDIN: Final = "-"
"""What stands for "read it from standard input" in place of an argument."""


def use_utf8(*streams: TextIO) -> None:
    """Pipes carry UTF-8 on every system; a terminal of another encoding shows what it can."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace" if stream.writable() else "strict")


def or_stdin(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Callback of an argument for which `-` stands for all of standard input.

    It reads while arguments are parsed: a read inside the event loop could not be interrupted.

    Raises:
        click.BadParameter: standard input is no UTF-8.
    """
    if value != STDIN:
        return value
    try:
        return sys.stdin.buffer.read().decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise click.BadParameter("standard input is no UTF-8.", ctx, parameter) from None


def all_of(ctx: click.Context, parameter: click.Parameter, value: IO[bytes]) -> bytes:
    """Callback of a file argument: its content, read while arguments are parsed."""
    return value.read()
