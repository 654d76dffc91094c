"""The way to a database: what its URL may look like, and what is said when it does not lead there.

No message holds a password, nor a part of the URL that could be one: a URL is taken apart first, and is refused
without being shown where that cannot be done.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

import anyio
import asyncpg  # pyright: ignore[reportMissingTypeStubs]

from mcp_memory_server.errors import ConfigurationError, StoreUnavailable, echo

driver: Any = asyncpg
"""The driver, which has no types."""

CONNECT_TIMEOUT_S: Final = 10.0
_FORM: Final = (
    "A Postgres URL looks like postgresql://user:password@host:5432/database?sslmode=verify-full; in a user name or "
    "password write each of / ? # @ : % in its percent form, such as %2F. This one cannot be read."
)
_FILES: Final = ("sslrootcert", "sslcert", "sslkey", "sslcrl")


@dataclass(frozen=True, slots=True)
class Address:
    """What a URL says about where it leads, as it may be shown. Parts that it leaves out come from elsewhere."""

    host: str | None
    database: str | None
    role: str | None

    @property
    def place(self) -> str:
        return f"at {echo(self.host)}" if self.host else "at its default address"


def address_of(url: str) -> Address:
    """Take a URL apart as asyncpg does.

    Raises:
        ConfigurationError: it has no such parts, or a part of a password may have got into another one.
    """
    try:
        parts = urlsplit(url)
        port = parts.port if "," not in parts.netloc else None
        options = parse_qs(parts.query, strict_parsing=True) if parts.query else {}
    except ValueError:
        raise ConfigurationError(_FORM) from None
    known = parts.scheme in ("postgresql", "postgres") and port != 0
    if not known or parts.fragment or parts.netloc.count("@") > 1 or "@" in parts.path or parts.path.count("/") > 1:
        raise ConfigurationError(_FORM)
    user, _, _ = parts.netloc.rpartition("@")[0].partition(":")
    host = parts.netloc.rpartition("@")[2]

    def option(*names: str) -> str | None:
        return next((options[name][-1] for name in names if name in options), None)

    for name in _FILES:
        if (path := option(name)) and path != "system" and not os.path.isfile(path):
            raise ConfigurationError(f"The file {echo(path)}, which the URL names as {name}, is not there.")
    return Address(
        unquote(host) or option("host"),
        unquote(parts.path.removeprefix("/")) or option("dbname", "database"),
        unquote(user) or option("user"),
    )


@contextlib.contextmanager
def connecting(url: str) -> Generator[None]:
    """Turn what is raised while the first connection is made into ours.

    Raises:
        ConfigurationError: what the URL says cannot be right: a role, a database or a certificate.
        StoreUnavailable: nothing answers, or not now.
    """
    address = address_of(url)
    try:
        yield
    except asyncpg.PostgresError as error:
        raise _refused(error, address) from error
    except (ssl.SSLError, ssl.CertificateError) as error:
        raise ConfigurationError(
            f"The certificate of the Postgres {address.place} is not trusted. Name the authority that signed it with "
            "sslrootcert=FILE in the URL, and the host as the certificate calls it."
        ) from error
    except (asyncpg.InterfaceError, ValueError, TypeError) as error:
        raise ConfigurationError(f"{_FORM} ({type(error).__name__})") from error
    except driver.TargetServerAttributeNotMatched as error:
        raise StoreUnavailable(
            f"No Postgres {address.place} is what target_session_attrs in the URL asks for."
        ) from error
    except asyncpg.InternalClientError as error:
        raise StoreUnavailable(f"What answers {address.place} does not speak the protocol of Postgres.") from error
    except TimeoutError as error:
        raise StoreUnavailable(
            f"Nothing that speaks the protocol of Postgres answers {address.place} within {CONNECT_TIMEOUT_S:g} s."
        ) from error
    except OSError as error:
        raise _unreachable(error, address) from error


def _refused(error: asyncpg.PostgresError, address: Address) -> ConfigurationError | StoreUnavailable:
    """What the server says no to. Its own words are not passed on: they quote what was sent."""
    role = f"the role {echo(address.role)}" if address.role else "this user"
    database = echo(address.database) if address.database else "of this name"
    match error:
        case asyncpg.InvalidAuthorizationSpecificationError():  # a wrong password among them
            return ConfigurationError(
                f"Postgres {address.place} does not let {role} in: there is no such role, the password is wrong or "
                "missing, or its pg_hba.conf does not allow it from here."
            )
        case asyncpg.InvalidCatalogNameError():
            return ConfigurationError(
                f"Postgres {address.place} has no database {database}. Create it first: CREATE DATABASE."
            )
        case asyncpg.InsufficientPrivilegeError():
            return ConfigurationError(
                f"{role[:1].upper()}{role[1:]} may not connect to the database {database} {address.place}. Its owner "
                "has to GRANT CONNECT ON DATABASE."
            )
        case asyncpg.UndefinedObjectError():
            return ConfigurationError("Behind the ? the URL has a name that neither the driver nor Postgres knows.")
        case asyncpg.TooManyConnectionsError():
            return StoreUnavailable(
                f"Postgres {address.place} has no connection left. Lower the setting pool_size of the servers, or "
                "raise max_connections."
            )
        case asyncpg.CannotConnectNowError() | asyncpg.AdminShutdownError() | asyncpg.CrashShutdownError():
            return StoreUnavailable(f"Postgres {address.place} is starting or stopping. Try again.")
        case asyncpg.PostgresConnectionError():
            return StoreUnavailable(
                f"What answers {address.place} closed the connection: it is no Postgres, or is being restarted."
            )
        case _:
            state = getattr(error, "sqlstate", None)
            return StoreUnavailable(
                f"Postgres {address.place} refused the connection ({type(error).__name__}, SQLSTATE {state})."
            )


def _unreachable(error: OSError, address: Address) -> ConfigurationError | StoreUnavailable:
    if isinstance(error, socket.gaierror):
        return StoreUnavailable(f"No host of the name in the URL is known, {address.place}.")
    if type(error) is ConnectionError:  # the driver's own; the others of the family say which
        return ConfigurationError(
            f"What answers {address.place} does not offer TLS as sslmode in the URL asks for it, or is no Postgres."
        )
    if isinstance(error, ConnectionResetError | BrokenPipeError):
        return StoreUnavailable(
            f"What answers {address.place} closed the connection: it is no Postgres, or is being restarted."
        )
    return StoreUnavailable(f"No Postgres answers {address.place} ({type(error).__name__}). Is it running?")


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncGenerator[Any]:
    """One connection of the driver's, without any limit of time on what it is asked.

    Raises:
        ConfigurationError, StoreUnavailable
    """
    with connecting(url):
        connection = await driver.connect(
            url, timeout=CONNECT_TIMEOUT_S, server_settings={"application_name": "mcp-memory-server"}
        )
    try:
        yield connection
    finally:
        with anyio.CancelScope(shield=True):
            await connection.close(timeout=2)
