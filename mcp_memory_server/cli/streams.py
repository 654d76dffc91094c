"""Text in and out of the process, whatever the terminal's encoding."""

from __future__ import annotations

import errno
import io
import os
import sys
import threading
from contextlib import suppress
from typing import IO, Final, NoReturn, TextIO

import click

STDIN: Final = "-"
"""What stands for "read it from standard input" in place of an argument."""


_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EDQUOT})


def open_closed() -> None:
    """Put nothing in the place of streams that the process was started without, before a file of ours takes it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(nothing, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # for good


def output_fault(error: OSError) -> str:
    """Say that standard output takes no more, and give up what waits for it, which would fail again at the end.

    Raises:
        OSError: it was something else.
    """
    if error.errno not in _NO_ROOM:
        raise error
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
    return f"The answer cannot be written: {error.strerror}."


def use_utf8(*streams: TextIO) -> None:
    """Pipes carry UTF-8 on every system; a terminal of another encoding shows what it can."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace" if stream.writable() else "strict")


def leave(status: int) -> NoReturn:
    """End the process, with nothing left to be written.

    Threads that nobody waits for may still be inside native code, such as an embedder's. One that comes back while
    the interpreter is taken down is ended right there, and a library in C++ aborts the process at that.
    """
    if any(thread.daemon for thread in threading.enumerate()):
        import logging  # noqa: PLC0415  # there, if anything was logged; else `--help` need not wait for it

        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):  # nobody reads any more
                stream.flush()
        os._exit(status)
    sys.exit(status)


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
