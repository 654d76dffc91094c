"""Reading a store's file beside SQLite, without letting go of SQLite's locks on it.

On POSIX a process that closes any descriptor of a file gives up all locks that it has on that file, also those taken by
way of other descriptors. SQLite keeps its own descriptors from that (https://www.sqlite.org/howtocorrupt.html, section
2.2), but not ours: the next process to close the store would take itself for the last one, delete the log that this one
goes on writing, and what was acknowledged would be lost. So while a store is open here, nothing closes its file.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Final

_Identity = tuple[int, int]

_guard: Final = threading.Lock()
_users: Final[Counter[_Identity]] = Counter()
"""How many databases of this process have the file open."""
_spare: Final[dict[_Identity, list[int]]] = {}
"""Descriptors that wait to be used again, or closed once the file has no users."""


def hold(identity: _Identity) -> None:
    """Close no descriptor of the file until `release`. To be called before SQLite opens it for good."""
    with _guard:
        _users[identity] += 1


def release(identity: _Identity) -> None:
    """Take a `hold` back. To be called after SQLite closed the file."""
    with _guard:
        _users[identity] -= 1
        if not _users[identity]:
            del _users[identity]
            for descriptor in _spare.pop(identity, ()):
                os.close(descriptor)


@contextlib.contextmanager
def reading(path: Path) -> Generator[int]:
    """A descriptor of the file for `read_at`, for nobody else meanwhile."""
    status = path.stat()
    with _guard:
        waiting = _spare.get((status.st_dev, status.st_ino))
        descriptor = waiting.pop() if waiting else None
    if descriptor is None:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    status = os.fstat(descriptor)
    try:
        yield descriptor
    finally:
        with _guard:
            if os.name == "posix" and _users[status.st_dev, status.st_ino]:
                _spare.setdefault((status.st_dev, status.st_ino), []).append(descriptor)
            else:
                os.close(descriptor)


def read_at(descriptor: int, place: int, size: int) -> bytes:
    """So many bytes from there on, fewer at the end of the file."""
    os.lseek(descriptor, place, os.SEEK_SET)
    return os.read(descriptor, size)
