"""One SQLite file: a writing and a reading connection, each with aiosqlite's thread of its own.

Every operation is one function that runs whole in the connection's thread. So it costs one hop, cancelling
the caller can not leave a transaction open or half done, and writers of this process queue instead of
committing each other's rows. Only a look at a page or two spares the hop, on a third connection (`glance`). Between
processes SQLite's own lock decides, within the busy timeout.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path
from typing import Final, Literal, TypeVar

import aiosqlite
import anyio

from mcp_memory_server.errors import StoreBusy, StoreDamaged, StoreUnavailable

from . import descriptors, files, migrate, salvage

logger = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

DEFAULT_BUSY_TIMEOUT_S: Final = 5.0
_HASTY_BUSY_MS: Final = 250
# Checking every page of a store up to this size costs less than a blink at opening; a larger one is checked by
# what it answers, and by `doctor`.
CHECKED_AT_OPEN_BYTES: Final = 8 * 1024 * 1024

_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})

Synchronous = Literal["FULL", "NORMAL"]


class _Exchanged(Exception):
    """The path names another file than the one that is open."""


class _Connection(aiosqlite.Connection):
    """An aiosqlite connection that runs whole functions in its thread."""

    async def run(self, work: Work[T]) -> T:
        # aiosqlite queues single statements only; the queue behind them takes any function. `work` goes in as
        # it is, never as a partial with arguments: aiosqlite logs what it runs, and that must hold no text.
        # The answer goes another way than by aiosqlite's: its thread holds the last one until the next.
        answer: list[T] = []
        await self._execute(lambda: answer.append(work(self._conn)))  # pyright: ignore[reportUnknownMemberType]
        return answer.pop()


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextlib.contextmanager
def mapped_errors(path: Path, busy_timeout_s: float) -> Generator[None]:
    """Turn the driver's errors into ours, at the one place where they leave this package."""
    try:
        yield
    except sqlite3.Error as error:
        code = _primary_code(error)
        if code in _BUSY:
            raise StoreBusy(busy_timeout_s) from error
        if code in _DAMAGE:
            raise StoreDamaged(
                f"The memory store {path} is damaged. Run `mcp-memory-server doctor`; it keeps a copy and saves "
                "what can be read."
            ) from error
        raise StoreUnavailable(f"The memory store {path} cannot be used: {error}.") from error
    except OSError as error:
        raise StoreUnavailable(f"The memory store {path} cannot be opened: {error.strerror or error}.") from error


def _transaction(begin: str, work: Work[T]) -> Work[T]:
    def run(db: sqlite3.Connection) -> T:
        db.execute(begin)
        try:
            result = work(db)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # SQLite ends the transaction itself on some errors, such as a full disk
                db.execute("ROLLBACK")
            raise
        return result

    return run


def _fold_log(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


class Database:
    """The store's file, opened. Use `open_database`."""

    def __init__(self, path: Path, busy_timeout_s: float, synchronous: Synchronous) -> None:
        self.path = path
        self.busy_timeout_s = busy_timeout_s
        self._synchronous: Synchronous = synchronous
        self._writer: _Connection | None = None
        self._reader: _Connection | None = None
        self._glancing: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._log_identity: tuple[int, int] | None = None
        self._held: tuple[int, int] | None = None
        """The file that `descriptors` closes nothing of."""
        self._opening = anyio.Lock()
        self._closed = False
        self._mended_epoch = -1
        self.epoch = 0
        """Rises when the file is opened anew; caches of an earlier epoch are worthless."""

    @property
    def is_there(self) -> bool:
        """Whether the path names a file, be it another one by now."""
        try:
            return files.identity(self.path) is not None
        except OSError:
            return False

    async def read(self, work: Work[T]) -> T:
        """Run `work` on one snapshot, in a read transaction that ends with it. Never waits for writers."""
        return await self._run(_transaction("BEGIN", work), writing=False)

    def glance(self, work: Work[T]) -> T | None:
        """Run `work` in this very thread, the event loop's; None when that cannot be done at once, for any reason.

        For one statement that reads a page or two, which SQLite nearly always has in memory: handing it to a thread
        would take twenty times as long. It never waits for a lock. What is wrong with the store `read` will tell.
        """
        if self._glancing is None:
            return None
        try:
            return work(self._glancing) if files.identity(self.path) == self._identity else None
        except (sqlite3.Error, OSError):
            return None

    async def write(self, work: Work[T]) -> T:
        """Run `work` in a transaction that holds SQLite's write lock from its start; durable on return.

        `work` may run again when the file is found damaged or exchanged, so it must not change what is outside.
        """
        return await self._run(_transaction("BEGIN IMMEDIATE", work), writing=True)

    async def write_unwaited(self, work: Work[T]) -> T:
        """The same for what nobody waits for: it soon gives way to another process's lock.

        Whoever calls or closes meanwhile is next, and would else wait for that lock twice.
        """
        return await self._run(self._hasty(_transaction("BEGIN IMMEDIATE", work)), writing=True)

    async def maintain(self, work: Work[T]) -> T:
        """Run `work` on the writing connection outside any transaction, as VACUUM and checkpoints need it."""
        return await self._run(work, writing=True)

    async def _run(self, work: Work[T], *, writing: bool) -> T:
        folded = False
        with mapped_errors(self.path, self.busy_timeout_s):
            while True:
                if self._writer is None or self._reader is None:
                    await self._reopen()
                    continue
                connection = self._writer if writing else self._reader
                epoch = self.epoch
                try:
                    return await connection.run(self._on_the_same_file(work, writing=writing))
                except _Exchanged:
                    await self._reopen(since=epoch)
                except sqlite3.DatabaseError as error:
                    if _primary_code(error) == sqlite3.SQLITE_FULL and not folded:
                        # The log may hold the room that is missing: forgetting must work on a full disk.
                        folded = True
                        await connection.run(_fold_log)
                        continue
                    if _primary_code(error) not in _DAMAGE or epoch == self._mended_epoch:
                        raise
                    logger.error("the store %s is damaged; saving what can be read", self.path)
                    await self._reopen(since=epoch, damaged=True)
                    self._mended_epoch = self.epoch

    def _hasty(self, work: Work[T]) -> Work[T]:
        """`work`, that waits for a lock no longer than a moment."""

        def run(db: sqlite3.Connection) -> T:
            db.execute(f"PRAGMA busy_timeout = {_HASTY_BUSY_MS}")
            try:
                return work(db)
            finally:
                db.execute(f"PRAGMA busy_timeout = {round(self.busy_timeout_s * 1000)}")

        return run

    def _on_the_same_file(self, work: Work[T], *, writing: bool) -> Work[T]:
        """`work`, unless the path names another file by now: a write into the old one would be lost with it."""
        identity = self._identity

        def run(db: sqlite3.Connection) -> T:
            if files.identity(self.path) != identity:
                raise _Exchanged
            result = work(db)
            if writing and files.identity(self.path) != identity:
                raise _Exchanged
            return result

        return run

    async def mend(self) -> None:
        """Look at every page now, and save what can be read where one is damaged."""
        with mapped_errors(self.path, self.busy_timeout_s):
            if await anyio.to_thread.run_sync(self._is_damaged):
                logger.error("the store %s is damaged; saving what can be read", self.path)
                await self._reopen(damaged=True)

    async def open(self) -> None:
        with mapped_errors(self.path, self.busy_timeout_s):
            await self._reopen()

    async def close(self) -> None:
        """Finish what is queued and close, for good. Folding the log into the file is left to the last process."""
        self._closed = True
        with anyio.CancelScope(shield=True):
            async with self._opening:
                await self._disconnect()

    async def _disconnect(self) -> None:
        # First, so that it is not the last: that one folds the log in, which takes its time.
        if self._glancing is not None:
            self._glancing.close()
            self._glancing = None
        with anyio.CancelScope(shield=True):
            for connection in (self._reader, self._writer):
                if connection is not None:
                    with contextlib.suppress(sqlite3.Error):
                        await connection.close()
            self._reader = self._writer = None
            if self._held is not None:
                descriptors.release(self._held)
                self._held = None

    async def _reopen(self, *, since: int | None = None, damaged: bool = False) -> None:
        """Close what is open and open the file that is there now, mending it first when it is damaged.

        `since` is the epoch in which the caller met a reason to; when another task has reopened it since, that does.
        """
        seen = self.epoch if since is None else since
        # Shielded: a cancelled `connect` leaks its thread.
        with anyio.CancelScope(shield=True):
            async with self._opening:
                if self._closed:
                    raise StoreUnavailable(f"The memory store {self.path} is closed.")
                if self.epoch != seen:
                    return  # another task did it meanwhile
                exchanged = self._identity is not None and not damaged
                await self._disconnect()
                if exchanged:
                    logger.warning("the store %s was exchanged or removed while open; opening it anew", self.path)
                    files.set_log_aside(self.path, self._log_identity)
                await anyio.to_thread.run_sync(self._prepare_file, damaged)
                self._held = files.identity(self.path)
                if self._held is not None:
                    descriptors.hold(self._held)
                self._writer = await self._connect()
                self._reader = await self._connect()
                self._glancing = await anyio.to_thread.run_sync(self._open_glancing)
                self._identity = files.identity(self.path)
                self.epoch += 1  # in one step with the identity: what runs on this file belongs to this epoch
                await self._reader.run(migrate.schema_version)  # the log is there once something was read
                self._log_identity = files.identity(files.log_of(self.path))

    def _prepare_file(self, damaged: bool) -> None:
        """Everything that has to be true of the file before connections are kept open on it."""
        files.create(self.path)
        files.refuse_foreign(self.path)
        if damaged or self._looks_damaged():
            salvage.mend(self.path, self._open_raw, self._is_damaged)
        with contextlib.closing(self._open_raw(self.path)) as db:
            _enter_wal(db, self.busy_timeout_s)
            migrate.migrate(db)

    def _looks_damaged(self) -> bool:
        """What can be told cheaply at opening."""
        small = self.path.stat().st_size <= CHECKED_AT_OPEN_BYTES
        return files.is_truncated(self.path) or (small and self._is_damaged())

    def _is_damaged(self) -> bool:
        """Look at every page."""
        if files.is_truncated(self.path):
            return True
        try:
            with contextlib.closing(self._open_raw(self.path)) as db:
                return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
        except sqlite3.DatabaseError as error:
            if _primary_code(error) in _DAMAGE:
                return True
            raise

    def _open_raw(self, path: Path) -> sqlite3.Connection:
        """A connection with our settings, in autocommit: only `_transaction` begins one."""
        db = sqlite3.connect(path, timeout=self.busy_timeout_s, isolation_level=None)
        db.execute(f"PRAGMA synchronous = {self._synchronous}")
        db.execute("PRAGMA secure_delete = ON")  # freed cells and pages are overwritten with zeros
        db.execute("PRAGMA temp_store = MEMORY")  # no copy of a text in a temporary file
        return db

    def _open_glancing(self) -> sqlite3.Connection:
        """The connection of `glance`, with the schema read."""
        db = sqlite3.connect(self.path, timeout=0, isolation_level=None, check_same_thread=False)
        migrate.schema_version(db)
        return db

    async def _connect(self) -> _Connection:
        connection = _Connection(lambda: self._open_raw(self.path), iter_chunk_size=64)
        await connection
        return connection


def _enter_wal(db: sqlite3.Connection, timeout_s: float) -> None:
    """Switch to the write-ahead log, once in the life of a file.

    SQLite does not wait for its lock here, and processes that start together all try: so wait ourselves.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if _primary_code(error) not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
            continue
        if mode != "wal":
            raise StoreUnavailable("The memory store's file system cannot hold a write-ahead log; use a local disk.")
        return


@contextlib.asynccontextmanager
async def open_database(
    path: Path, *, busy_timeout_s: float = DEFAULT_BUSY_TIMEOUT_S, synchronous: Synchronous = "FULL"
) -> AsyncGenerator[Database]:
    """Open (and create, mend and migrate where needed) the store at `path`.

    Raises:
        StoreUnavailable, StoreDamaged, StoreTooNew, StoreBusy, ConfigurationError
    """
    database = Database(path, busy_timeout_s, synchronous)
    try:
        await database.open()
        yield database
    finally:
        await database.close()
