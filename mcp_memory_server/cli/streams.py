"""Text in and out of the process, whatever the terminal's encoding."""

from __future__ import annotations

import io
import sys
from typing import Final, TextIO

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


def argument_or_stdin(value: str, name: str) -> str:
    """The argument itself, or all of standard input where the argument is `-`.

    Raises:
        click.UsageError: standard input is no UTF-8.
    """
    if value != STDIN:
        return value
    try:
        return sys.stdin.buffer.read().decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise click.UsageError(f"{name} was read from standard input, which is no UTF-8.") from None
