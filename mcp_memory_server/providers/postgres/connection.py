"""One Postgres database: a pool of connections, and transactions that say which scopes they are about.

Every operation is one function that runs whole in a transaction of its own. Once it has begun it is not cancelled,
only bounded in time: so a caller that goes away leaves the old state or the new one. A connection that breaks, as when
the database is restarted, is replaced and the operation runs again, within the busy timeout: as long as its commit was
not sent nothing has happened, and afterwards the database is asked what became of it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Sequence
from functools import partial
from typing import Any, Final, TypeVar
from uuid import UUID

import anyio
import asyncpg  # pyright: ignore[reportMissingTypeStubs]

from mcp_memory_server.errors import StoreUnavailable

from .connecting import CONNECT_TIMEOUT_S, connecting
from .failures import CommitInDoubt, Limits, NoneFree, TooSlow, is_gone, mapped_errors, retrying
from .transaction import Seal, Transaction, Unfinished, was_committed

__all__ = ["SCHEMA", "Database", "Limits", "Transaction", "Work", "drop", "end", "mapped_errors", "open_database"]

T = TypeVar("T")
Work = Callable[[Transaction], Awaitable[T]]

SCHEMA: Final = "mcp_memory"

_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_ASK: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
_END_S: Final = 2.0
_GLANCE_S: Final = 1.0
"""What a glance may take at least, where the busy timeout is less."""
_ORIGIN: Final = """
SELECT pg_postmaster_start_time(), oid FROM pg_database WHERE datname = current_database()
"""


class _NotCommitted(ConnectionError):
    """The connection broke at the commit, and the transaction with it: it may run again."""


class Origin:
    """Which server connections lead to, as each of them is made."""

    def __init__(self) -> None:
        self.epoch = 0
        self._seen: object = None

    async def note(self, connection: Any) -> None:
        seen = tuple(await connection.fetchrow(_ORIGIN))
        if seen != self._seen:
            self._seen = seen
            self.epoch += 1


class Database:
    """The database, opened. Use `open_database`."""

    def __init__(self, pool: Any, connect: Callable[[], Awaitable[Any]], limits: Limits, origin: Origin) -> None:
        self._pool = pool
        self._origin = origin
        self._connect = connect
        self._free = anyio.Semaphore(limits.pool_size)
        self._closed = False
        self.limits = limits

    @property
    def epoch(self) -> int:
        """Rises when a connection is made to a server that was started anew, or another one: it may be a backup's.

        What is held in memory by the state of the store is then good no more.
        """
        return self._origin.epoch

    async def read(self, places: Iterable[UUID] | None, work: Work[T], *, limit_s: float | None = None) -> T:
        """Run `work` on one snapshot, which never waits for writers.

        Args:
            places: of the scopes and actors whose rows it may meet (`names.places_of`); None for an operator's act over
                the whole store.
            work: may run again, so it must not change what is outside.
            limit_s: how long the whole may take, where that is more than one statement may.
        """
        return await self.retried(partial(self._ran, _opening(_READ, places), work, limit_s))

    async def write(self, places: Iterable[UUID] | None, work: Work[T], *, limit_s: float | None = None) -> T:
        """Run `work` in a transaction that is durable on return; the arguments as in `read`.

        Writers of one scope queue at its row (`turns.begin`), so each sees what the one before it did. What is neither
        a change of a record nor has a `Transaction.place` may be done twice.
        """
        return await self.retried(partial(self._ran, _opening(_WRITE, places), work, limit_s))

    async def glance(self, query: str, *values: object) -> list[Sequence[Any]] | None:
        """The rows of one statement that says itself which scopes it is about: one round trip in place of three.

        It is a transaction of its own. None where the connection breaks: `read` will try again.
        """
        with mapped_errors(self.limits):
            try:
                async with self._connection() as connection:
                    with anyio.move_on_after(max(self.limits.busy_timeout_s, _GLANCE_S), shield=True):
                        return await connection.fetch(query, *values)
            except Exception as error:
                if not is_gone(error):
                    raise
        return None

    async def maintain(self, work: Work[T]) -> T:
        """Run `work` outside any transaction and without a limit of time, as VACUUM and CHECKPOINT need it."""
        with mapped_errors(self.limits):
            async with self._connection() as connection:
                well = False
                try:
                    await connection.execute("SET statement_timeout = 0")
                    result = await work(Transaction(connection))
                    await connection.execute("RESET statement_timeout")
                    well = True
                finally:
                    if not well:
                        drop(connection)
                return result

    async def connect(self) -> Any:
        """A connection beside the pool, for what needs one of its own. Whoever asks ends it."""
        if self._closed:
            raise StoreUnavailable("The memory database is closed.")
        return await self._connect()

    async def retried(self, act: Callable[[], Awaitable[T]]) -> T:
        """What `act` gives. It is tried again within the busy timeout while the database is away.

        Raises:
            StoreBusy, StoreUnavailable
        """
        with mapped_errors(self.limits):
            async for attempt in retrying(self.limits):
                with attempt:
                    return await act()
        raise AssertionError("every attempt returns or raises")

    async def close(self) -> None:
        """Finish what runs and close, for good."""
        self._closed = True
        with anyio.move_on_after(_END_S, shield=True) as limit:
            await self._pool.close()
        if limit.cancelled_caught:
            self._pool.terminate()

    async def _ran(self, opening: str, work: Work[T], limit_s: float | None = None) -> T:
        result, unheard = await self._attempt(opening, work, limit_s)
        if unheard is not None and not await self._was_committed(unheard):
            raise _NotCommitted
        return result

    async def _was_committed(self, seal: Seal) -> bool:
        try:
            async for attempt in retrying(self.limits, Unfinished):
                with attempt:
                    opening = _opening(_ASK, [seal.place])
                    found, _ = await self._attempt(opening, lambda db: was_committed(db, seal), None)
                    return found
        except Exception:
            # Whatever keeps it from being asked leaves it in doubt, and anything else that was said would be untrue.
            raise CommitInDoubt from None
        raise AssertionError("every attempt returns or raises")

    async def _attempt(self, opening: str, work: Work[T], limit_s: float | None) -> tuple[T, Seal | None]:
        """What `work` gives; and, where the connection broke at a commit that matters, by what that is found again."""
        async with self._connection() as connection:
            with _shielded():
                result, seal = await self._prepare(connection, opening, work, limit_s)
                return result, await self._commit(connection, seal)

    async def _commit(self, connection: Any, seal: Seal | None) -> Seal | None:
        """None; or the seal, where no answer came."""
        try:
            await connection.execute("COMMIT", timeout=self.limits.statement_timeout_s)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as error:
            if not is_gone(error):
                raise
            drop(connection)
            if seal is None:
                raise
            return seal
        except asyncio.CancelledError:
            drop(connection)
            raise
        return None

    async def _prepare(
        self, connection: Any, opening: str, work: Work[T], limit_s: float | None
    ) -> tuple[T, Seal | None]:
        """All but the commit."""
        transaction = Transaction(connection)
        with anyio.move_on_after(limit_s or self.limits.statement_timeout_s + self.limits.busy_timeout_s):
            try:
                await connection.execute(opening)
                result = await work(transaction)
                return result, await transaction.seal()
            except BaseException as error:
                await _roll_back(connection, error)
                raise
        raise TooSlow

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncGenerator[Any]:
        if self._closed:
            raise StoreUnavailable("The memory database is closed.")
        await self._take_turn()
        try:
            connection = await self._pool.acquire()
            try:
                yield connection
            finally:
                with _shielded():
                    await self._give_back(connection)
        finally:
            self._free.release()

    async def _take_turn(self) -> None:
        """Wait for a connection to be free, also where the busy timeout is 0 and one is."""
        with contextlib.suppress(anyio.WouldBlock):
            self._free.acquire_nowait()
            return
        with anyio.move_on_after(self.limits.busy_timeout_s) as waiting:
            await self._free.acquire()
        if waiting.cancelled_caught:
            raise NoneFree

    async def _give_back(self, connection: Any) -> None:
        """What fails here ends the connection, and is nothing to who has got what they asked for."""
        with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            await self._pool.release(connection, timeout=_END_S)


@contextlib.contextmanager
def _shielded() -> Generator[None]:
    """Nobody cancels what is done in this block: it has limits of its own."""
    with anyio.CancelScope(shield=True):
        yield


async def _roll_back(connection: Any, error: BaseException) -> None:
    """Leave the transaction; a connection that cannot is dropped, and so its transaction."""
    if isinstance(error, asyncio.CancelledError) or is_gone(error) or connection.is_closed():
        drop(connection)
        return
    try:
        await connection.execute("ROLLBACK", timeout=_END_S)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        drop(connection)


def drop(connection: Any) -> None:
    """End a connection at once, whatever it is at."""
    with contextlib.suppress(asyncpg.InterfaceError):
        connection.terminate()


async def end(connection: Any) -> None:
    """Take leave of the server, if that can be done soon."""
    try:
        await connection.close(timeout=_END_S)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        drop(connection)


def _opening(begin: str, places: Iterable[UUID] | None) -> str:
    """What begins a transaction and says what it is about: hashes alone, so nothing that could be taken for SQL."""
    said = "*" if places is None else "{" + ",".join(map(str, places)) + "}"
    return f"{begin}; SET LOCAL mcp_memory.scopes = '{said}'"


async def _keep_as_it_is(connection: Any) -> None:
    """Nothing has to be reset when a connection goes back: all settings are a transaction's own."""


def _milliseconds(limit_s: float) -> str:
    """As Postgres reads it, to which 0 would be no limit."""
    return str(max(1, round(limit_s * 1000)))


@contextlib.asynccontextmanager
async def open_database(url: str, limits: Limits) -> AsyncGenerator[Database]:
    """Connect to the database at `url`; its schema is looked at by `migrate`.

    Raises:
        StoreUnavailable, StoreBusy, ConfigurationError
    """
    connection_settings = {
        "timeout": CONNECT_TIMEOUT_S,
        "server_settings": {
            "application_name": "mcp-memory-server",
            "search_path": f"{SCHEMA}, public",
            "jit": "off",
            # A plan that is kept goes to all partitions, and may be one for the few rows that there were at first.
            "plan_cache_mode": "force_custom_plan",
            "lock_timeout": _milliseconds(limits.busy_timeout_s),
            "statement_timeout": _milliseconds(limits.statement_timeout_s),
            # Who vanished within a transaction, and with its host, must not hold a scope's lock for hours.
            "idle_in_transaction_session_timeout": _milliseconds(limits.statement_timeout_s + limits.busy_timeout_s),
        },
    }
    driver: Any = asyncpg
    origin = Origin()
    with mapped_errors(limits), connecting(url):
        pool: Any = await driver.create_pool(
            url, min_size=1, max_size=limits.pool_size, init=origin.note, reset=_keep_as_it_is, **connection_settings
        )
    database = Database(pool, lambda: driver.connect(url, **connection_settings), limits, origin)
    try:
        yield database
    finally:
        await database.close()
