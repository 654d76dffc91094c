"""One Postgres database: a pool of connections, and transactions that say which scopes they are about.

Every operation is one function that runs whole in a transaction of its own. Once it has begun it is not cancelled,
only bounded in time: so a caller that goes away leaves the old state or the new one, and a write that was sent is
never left in doubt. A connection that breaks, as when the database is restarted, is replaced and the operation
runs again, within the busy timeout: as long as its commit was not sent nothing has happened, and afterwards the
database is asked what became of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import UUID

import anyio
import asyncpg  # pyright: ignore[reportMissingTypeStubs]
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from mcp_memory_server.errors import StoreBusy, StoreUnavailable

from .connecting import CONNECT_TIMEOUT_S, connecting

logger = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[["Transaction"], Awaitable[T]]

SCHEMA: Final = "mcp_memory"

_GONE: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    ConnectionError,
)
"""The connection is no more, or there was none to be had: another one may do."""
_AGAIN: Final = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)
"""Nothing happened, because another transaction was in the way."""
_BUSY: Final = (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError, *_AGAIN)
_ROLLBACK_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How long things may take, in seconds, and how many connections there may be."""

    busy_timeout_s: float = 5.0
    statement_timeout_s: float = 30.0
    pool_size: int = 10


class Transaction:
    """A transaction that runs, with the queries that the modules of this package ask."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.id: int | None = None
        """Of a write that noted it (`writing.advance`): by it the database tells what became of its commit."""
        self.changed: dict[tuple[str, str], None] = {}
        """The (scope, id) of records that it changes: told to all who listen when it commits."""

    async def rows(self, query: str, *values: object) -> list[Sequence[Any]]:
        return await self._connection.fetch(query, *values)

    async def row(self, query: str, *values: object) -> Sequence[Any] | None:
        return await self._connection.fetchrow(query, *values)

    async def value(self, query: str, *values: object) -> Any:
        """The first column of the first row; None where there is none."""
        return await self._connection.fetchval(query, *values)

    async def run(self, query: str, *values: object) -> int:
        """How many rows the statement touched."""
        tag: str = await self._connection.execute(query, *values)
        last = tag.rpartition(" ")[2]
        return int(last) if last.isdecimal() else 0

    async def remarks(self, query: str) -> list[str]:
        """The details that the server tells of a statement with VERBOSE while it runs."""
        told: list[str] = []

        def listen(_: object, message: Any) -> None:
            told.append(message.detail or "")

        self._connection.add_log_listener(listen)
        try:
            await self._connection.execute(query)
        finally:
            self._connection.remove_log_listener(listen)
        return told

    async def run_many(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        """The statement once for each row of values, in one go."""
        await self._connection.executemany(query, rows)


class _CommitInDoubt(Exception):
    """The connection broke between sending COMMIT and hearing of it."""

    def __init__(self, transaction_id: int | None) -> None:
        self.transaction_id = transaction_id


class _TooSlow(Exception):
    """The operation took longer than it may."""


_RETRIED: Final = (*_GONE, *_AGAIN)


@contextlib.contextmanager
def mapped_errors(limits: Limits) -> Generator[None]:
    """Turn the driver's errors into ours, at the one place where they leave this package."""
    try:
        yield
    except (*_BUSY, _TooSlow, TimeoutError) as error:
        raise StoreBusy(limits.busy_timeout_s) from error
    except (*_GONE, OSError, _CommitInDoubt) as error:
        reason = type(error).__name__
        raise StoreUnavailable(
            f"The memory database cannot be reached ({reason}); waited {limits.busy_timeout_s:g} s. Try again; what "
            "was acknowledged is kept."
        ) from error
    except asyncpg.PostgresError as error:
        # Only the SQLSTATE: the server's messages quote values.
        raise StoreUnavailable(
            f"The memory database refused what it was asked ({type(error).__name__}, SQLSTATE {error.sqlstate}). "
            "Run `mcp-memory-server doctor`."
        ) from error


class Database:
    """The database, opened. Use `open_database`."""

    def __init__(self, pool: Any, limits: Limits) -> None:
        self._pool = pool
        self._limits = limits
        self._closed = False

    async def read(self, places: Iterable[UUID] | None, work: Work[T]) -> T:
        """Run `work` on one snapshot, which never waits for writers.

        Args:
            places: of the scopes and actors whose rows it may meet (`names.places_of`); None for an operator's act over
                the whole store.
            work: may run again, so it must not change what is outside.
        """
        return await self._run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", places, work)

    async def write(self, places: Iterable[UUID] | None, work: Work[T], *, limit_s: float | None = None) -> T:
        """Run `work` in a transaction that is durable on return; `places` and `work` as in `read`.

        Writers of one scope queue at its row (`turns.begin`), so each sees what the one before it did.

        Args:
            limit_s: how long the whole may take, where that is more than one statement may.
        """
        return await self._run("BEGIN ISOLATION LEVEL READ COMMITTED", places, work, limit_s)

    async def glance(self, query: str, *values: object) -> list[Sequence[Any]] | None:
        """The rows of one statement that says itself which scopes it is about: one round trip in place of three.

        It is a transaction of its own. None where the connection breaks: `read` will try again.
        """
        with mapped_errors(self._limits), contextlib.suppress(*_GONE):
            async with self._connection() as connection:
                with anyio.move_on_after(self._limits.busy_timeout_s, shield=True):
                    return await connection.fetch(query, *values)
        return None

    async def maintain(self, work: Work[T]) -> T:
        """Run `work` outside any transaction, as VACUUM needs it."""
        with mapped_errors(self._limits):
            async with self._connection() as connection:
                return await work(Transaction(connection))

    async def close(self) -> None:
        """Finish what runs and close, for good."""
        self._closed = True
        with anyio.move_on_after(_ROLLBACK_S, shield=True) as limit:
            await self._pool.close()
        if limit.cancelled_caught:
            self._pool.terminate()

    async def _run(self, begin: str, places: Iterable[UUID] | None, work: Work[T], limit_s: float | None = None) -> T:
        opening = f"{begin}; SET LOCAL mcp_memory.scopes = '{_said(places)}'"
        attempts = AsyncRetrying(
            stop=stop_after_delay(self._limits.busy_timeout_s),
            wait=wait_random_exponential(multiplier=0.02, max=0.5),
            retry=retry_if_exception_type(_RETRIED),
            sleep=anyio.sleep,
            reraise=True,
        )
        with mapped_errors(self._limits):
            async for attempt in attempts:
                with attempt:
                    return await self._attempt(opening, work, limit_s)
        raise AssertionError("every attempt returns or raises")

    async def _attempt(self, opening: str, work: Work[T], limit_s: float | None) -> T:
        async with self._connection() as connection:
            limit_s = limit_s or self._limits.statement_timeout_s + self._limits.busy_timeout_s
            with anyio.move_on_after(limit_s, shield=True):
                return await _transact(connection, opening, work)
        raise _TooSlow

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncGenerator[Any]:
        if self._closed:
            raise StoreUnavailable("The memory database is closed.")
        connection = await self._pool.acquire(timeout=self._limits.busy_timeout_s)
        try:
            yield connection
        finally:
            with anyio.CancelScope(shield=True):
                await self._pool.release(connection)


async def _transact(connection: Any, opening: str, work: Work[T]) -> T:
    transaction = Transaction(connection)
    try:
        await connection.execute(opening)
        result = await work(transaction)
    except BaseException as error:
        await _roll_back(connection, error)
        raise
    try:
        await connection.execute("COMMIT")
    except (*_GONE, asyncio.CancelledError) as error:
        _end(connection)
        if isinstance(error, asyncio.CancelledError):
            raise
        raise _CommitInDoubt(transaction.id) from error
    return result


async def _roll_back(connection: Any, error: BaseException) -> None:
    """Leave the transaction; a connection that cannot is dropped, and so its transaction."""
    if isinstance(error, (asyncio.CancelledError, *_GONE)) or connection.is_closed():
        _end(connection)
        return
    try:
        await connection.execute("ROLLBACK")
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        _end(connection)


def _end(connection: Any) -> None:
    with contextlib.suppress(asyncpg.InterfaceError):
        connection.terminate()


def _said(places: Iterable[UUID] | None) -> str:
    """What a transaction is about as its setting: hashes alone, so nothing that could be taken for SQL."""
    return "*" if places is None else "{" + ",".join(map(str, places)) + "}"


async def _keep_as_it_is(connection: Any) -> None:
    """Nothing has to be reset when a connection goes back: all settings are a transaction's own."""


@contextlib.asynccontextmanager
async def open_database(url: str, limits: Limits) -> AsyncGenerator[Database]:
    """Connect to the database at `url`; its schema is looked at by `migrate`.

    Raises:
        StoreUnavailable, StoreBusy, ConfigurationError
    """
    milliseconds = {
        "lock_timeout": str(round(limits.busy_timeout_s * 1000)),
        "statement_timeout": str(round(limits.statement_timeout_s * 1000)),
    }
    with mapped_errors(limits), connecting(url):
        pool: Any = await asyncpg.create_pool(
            url,
            timeout=CONNECT_TIMEOUT_S,
            min_size=1,
            max_size=limits.pool_size,
            reset=_keep_as_it_is,
            server_settings={
                "application_name": "mcp-memory-server",
                "search_path": f"{SCHEMA}, public",
                "jit": "off",
                **milliseconds,
            },
        )
    database = Database(pool, limits)
    try:
        yield database
    finally:
        await database.close()
