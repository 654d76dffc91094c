"""What can go wrong with a database: what may be tried again, and which of our errors becomes of the rest.

The driver's errors quote values, among them what records say. So none of their words gets into ours, and none of them
is chained to ours, where a traceback would tell them: only their class and SQLSTATE.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final

import anyio
import asyncpg  # pyright: ignore[reportMissingTypeStubs]
from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_random_exponential

from mcp_memory_server.errors import StoreBusy, StoreUnavailable


@dataclass(frozen=True, slots=True)
class Limits:
    """How long things may take, in seconds, and how many connections there may be."""

    busy_timeout_s: float = 5.0
    statement_timeout_s: float = 30.0
    pool_size: int = 10


class TooSlow(Exception):
    """The whole of an operation took longer than it may, so it was ended before its commit."""


class NoneFree(Exception):
    """All connections of the pool were in use for longer than the busy timeout."""


class CommitInDoubt(Exception):
    """The connection broke between sending COMMIT and hearing of it, and nobody can tell what became of it."""


_GONE: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TooManyConnectionsError,
    asyncpg.ReadOnlySQLTransactionError,  # a write, on what was the primary until a moment ago
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,  # TimeoutError too, of connecting
)
_OUR_FAULT: Final = (asyncpg.DataError, asyncpg.ClientConfigurationError)
"""Of the driver's interface errors those that have nothing to do with the connection."""
_IN_THE_WAY: Final = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)
_OUTDATED: Final = (asyncpg.InvalidCachedStatementError,)
"""The schema was changed under a prepared statement; the driver has forgotten those now."""


def is_gone(error: BaseException) -> bool:
    """Whether the connection is no more, or there was none to be had: another one may do."""
    return isinstance(error, _GONE) and not isinstance(error, _OUR_FAULT)


def retrying(limits: Limits, *also: type[Exception]) -> AsyncRetrying:
    """Attempts within the busy timeout, as long as what fails is the connection, or another transaction is in the way.

    Args:
        also: what else is worth another attempt.
    """
    again = (*_IN_THE_WAY, *_OUTDATED, *also)
    return AsyncRetrying(
        stop=stop_after_delay(limits.busy_timeout_s),
        wait=wait_random_exponential(multiplier=0.02, max=0.5),
        retry=retry_if_exception(lambda error: is_gone(error) or isinstance(error, again)),
        sleep=anyio.sleep,
        reraise=True,
    )


@contextlib.contextmanager
def mapped_errors(limits: Limits) -> Generator[None]:
    """Turn the driver's errors into ours, at the one place where they leave this package."""
    try:
        yield
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        raise _told(error, limits) from None
    except CommitInDoubt:
        raise StoreUnavailable(
            "The memory database went away while it was told to keep a change, and cannot say whether it did. Read "
            "what is stored before you try again."
        ) from None
    except NoneFree:
        raise StoreBusy(limits.busy_timeout_s, "has no connection free") from None
    except TooSlow:
        limit_s = limits.statement_timeout_s + limits.busy_timeout_s
        raise StoreBusy(limit_s, "did not answer in time") from None
    except OSError as error:
        raise _unreachable(error, limits) from error


def _told(error: Any, limits: Limits) -> StoreBusy | StoreUnavailable:
    match error:
        case asyncpg.LockNotAvailableError() | asyncpg.SerializationError() | asyncpg.DeadlockDetectedError():
            return StoreBusy(limits.busy_timeout_s)
        case asyncpg.QueryCanceledError():
            return StoreBusy(limits.statement_timeout_s, "did not answer in time")
        case asyncpg.InsufficientPrivilegeError():
            return StoreUnavailable(
                "The role in the URL may not do what a server has to (InsufficientPrivilegeError, SQLSTATE 42501). Run "
                "`mcp-memory-server migrate` with the owner's URL in MCP_MEMORY_ADMIN_URL."
            )
        case asyncpg.ReadOnlySQLTransactionError():
            return StoreUnavailable(
                f"The memory database takes no writes: it is a replica, or is set to read only; waited "
                f"{limits.busy_timeout_s:g} s. Nothing was written. Name the primary in the URL."
            )
        case _ if is_gone(error):
            return _unreachable(error, limits)
        case _:
            state = getattr(error, "sqlstate", None) or "none"
            return StoreUnavailable(
                f"The memory database refused what it was asked ({type(error).__name__}, SQLSTATE {state}). Run "
                "`mcp-memory-server doctor`."
            )


def _unreachable(error: BaseException, limits: Limits) -> StoreUnavailable:
    return StoreUnavailable(
        f"The memory database cannot be reached ({type(error).__name__}); waited {limits.busy_timeout_s:g} s. Try "
        "again; what was acknowledged is kept."
    )
