"""The store's file on disk: where a URL points, its permissions, and what its header tells without opening it."""

from __future__ import annotations

import contextlib
import os
import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mcp_memory_server.errors import ConfigurationError, StoreUnavailable, echo

from . import pages
from .descriptors import read_at, reading

URL_PREFIX: Final = "sqlite:///"
APPLICATION_ID: Final = 0x4D4D5331
"""Written into the header by the first migration: "MMS1"."""

_MAGIC: Final = b"SQLite format 3\x00"
_DAMAGED_SUFFIX: Final = ".corrupt-"
_UNFINISHED_SUFFIX: Final = ".mending-"


def path_of(url: str) -> Path:
    """The file that a `sqlite:///` URL names: everything after the prefix, verbatim, with `~` expanded.

    For a symbolic link it is the file behind it: SQLite keeps the log there, and mending must not put a second
    store in the link's place.

    Raises:
        ConfigurationError: no path, one that can only be a folder, or links that lead nowhere.
    """
    if not url.startswith(URL_PREFIX):
        raise ConfigurationError(f"A SQLite URL begins with {URL_PREFIX}, as in sqlite:///memory.db; got {echo(url)}.")
    raw = url.removeprefix(URL_PREFIX)
    if not raw.strip():
        raise ConfigurationError("The SQLite URL names no file. Example: sqlite:///memory.db")
    if "\x00" in raw:
        raise ConfigurationError("The SQLite URL holds a NUL character.")
    if raw.endswith(("/", os.sep)):
        raise ConfigurationError(f"The SQLite URL names a folder: {echo(raw)}. Add a file name, such as memory.db.")
    try:
        path = Path(os.path.abspath(Path(raw).expanduser()))
    except RuntimeError:
        raise ConfigurationError(f"The SQLite URL begins with a home folder that nobody has: {echo(raw)}.") from None
    try:
        path = path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError):
        raise ConfigurationError(f"The SQLite URL names links that go in a circle: {echo(str(path))}.") from None
    if path.is_dir():
        raise ConfigurationError(f"The SQLite URL names a folder: {echo(str(path))}. Add a file name to it.")
    return path


def create(path: Path) -> None:
    """Make the file and its missing parents, readable by their owner only. Leaves what exists as it is."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def identity(path: Path) -> tuple[int, int] | None:
    """What tells this file from another one under the same name; None when it is gone."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def refuse_foreign(path: Path) -> None:
    """Leave a file alone that is not ours.

    Raises:
        StoreUnavailable: it is no regular file, or not empty and no SQLite database, or another program's.
    """
    if not path.is_file():  # a pipe would be waited for
        raise StoreUnavailable(f"{path} is no regular file. It was left untouched: name another file.")
    with reading(path) as descriptor:
        header = read_at(descriptor, 0, 100)
    if not header:
        return
    if not header.startswith(_MAGIC):
        raise StoreUnavailable(
            f"{path} is no SQLite database, or its beginning is destroyed. It was left untouched: "
            "name another file, or move this one away to begin a new store."
        )
    (application_id,) = struct.unpack_from(">I", header, 68)
    if application_id not in (0, APPLICATION_ID):
        raise StoreUnavailable(
            f"{path} is another program's SQLite database. It was left untouched: name another file."
        )


def is_truncated(path: Path) -> bool:
    """Whether the file lacks pages that its own header counts.

    While the log is folded in, by whichever process, the header is ahead of the file: its page is written first. A
    process that is killed then leaves it so. What is missing stands in the log until all of it is folded in.
    """
    while True:
        size = path.stat().st_size
        with reading(path) as descriptor:
            header = read_at(descriptor, 0, 100)
        if len(header) < 100:
            return len(header) > 0
        raw_size, change_counter, count, valid_for = struct.unpack_from(">16xH6xII60xI", header)
        page_size = 65536 if raw_size == 1 else raw_size
        # Where the two differ, the count is not kept up to date by this writer.
        if change_counter != valid_for or count * page_size <= size:
            return False
        logged = pages.logged(log_of(path), page_size)
        if all(number in logged for number in range(size // page_size + 1, count + 1)):
            return False
        if path.stat().st_size == size:  # or it was being folded in meanwhile, and the log begun anew
            return True


def companions(path: Path) -> list[Path]:
    """The log and shared-memory files that belong to the store."""
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")]


def log_of(path: Path) -> Path:
    """The write-ahead log that belongs to the store at `path`."""
    return path.with_name(path.name + "-wal")


def set_log_aside(path: Path, identity_of_old: tuple[int, int] | None) -> None:
    """Keep the log of a store that was exchanged from being laid over the file that stands there now.

    SQLite goes by the name alone. The log is kept like a damaged copy: it may hold what was not folded in yet. One
    of another identity belongs to the new file, which another process has opened already.
    """
    log = log_of(path)
    if identity_of_old is not None and identity(log) == identity_of_old:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        kept = damaged_copy_name(path, stamp)
        log.replace(kept.with_name(kept.name + "-wal"))
        path.with_name(path.name + "-shm").unlink(missing_ok=True)


def damaged_copies(path: Path) -> list[Path]:
    """Copies of the store that were kept when it was mended, oldest first."""
    return sorted(path.parent.glob(glob_safe(path.name) + _DAMAGED_SUFFIX + "*"))


def damaged_copy_name(path: Path, stamp: str) -> Path:
    """Where the damaged file is kept. `stamp` is the time, in characters that every file system takes."""
    return path.with_name(f"{path.name}{_DAMAGED_SUFFIX}{stamp}")


def unfinished_stores(path: Path) -> list[Path]:
    """What a process left that ended in the middle of mending: new stores that never took the place of the old one."""
    return sorted(path.parent.glob(glob_safe(path.name) + _UNFINISHED_SUFFIX + "[0-9]*"))


def unfinished_store_name(path: Path, stamp: str) -> Path:
    """Where the new store is built while the damaged one is mended."""
    return path.with_name(f"{path.name}{_UNFINISHED_SUFFIX}{stamp}")


def glob_safe(name: str) -> str:
    """A file name as a glob pattern that matches only itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)
