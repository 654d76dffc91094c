"""URLs that lead nowhere are told in a sentence of ours, without anything of a password in it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final
from urllib.parse import quote

import pytest

from mcp_memory_server.errors import ConfigurationError, MemoryServerError, StoreUnavailable
from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.postgres.connecting import Address, address_of
from tests.providers.postgres_server import cluster, fetch, fresh_store, run, url_of

PASSWORD: Final = "s3/cr?t#@%"


async def _open(url: str) -> None:
    async with open_provider(url):
        pass


def fault(url: str) -> MemoryServerError:
    """What opening the store at a URL says."""
    with pytest.raises(MemoryServerError) as told:
        asyncio.run(_open(url))
    assert "s3" not in str(told.value)
    assert "s3" not in str(told.value.__cause__)
    return told.value


@contextmanager
def answering(reply: bytes | None) -> Generator[int]:
    """A server that answers everybody with these bytes and hangs up, or with nothing; its port."""
    done = threading.Event()

    def serve() -> None:
        with listening:
            while True:
                client, _ = listening.accept()
                with client:
                    if done.is_set():
                        return
                    client.recv(1024)
                    if reply is None:
                        done.wait()
                    else:
                        client.sendall(reply)

    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield port
    finally:
        done.set()
        socket.create_connection(("127.0.0.1", port)).close()
        thread.join()


@pytest.fixture
def guarded() -> Generator[str]:
    """A role that has to show `PASSWORD`."""
    name = "guarded"
    run(cluster().url, f"CREATE ROLE needs_password; CREATE ROLE {name} LOGIN IN ROLE needs_password")
    run(cluster().url, f"ALTER ROLE {name} PASSWORD '{PASSWORD}'")
    yield name
    run(cluster().url, f"DROP ROLE {name}, needs_password")


def test_a_password_is_taken_from_the_url_the_environment_or_a_password_file(
    guarded: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    database = fresh_store().url
    encoded = url_of(database, "postgres", user=guarded, password=quote(PASSWORD, safe=""))
    without = encoded.replace(":" + quote(PASSWORD, safe=""), "")
    let_in = "the database holds none"
    assert let_in in str(fault(encoded))
    assert let_in in str(fault(f"{without}&password={quote(PASSWORD, safe='')}"))
    assert "does not let the role 'guarded' in" in str(fault(without))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert let_in in str(fault(without))
    monkeypatch.delenv("PGPASSWORD")
    file = tmp_path_factory.mktemp("home") / "pgpass"
    file.write_text("*:*:*:guarded:" + PASSWORD + "\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert let_in in str(fault(without))


def test_a_role_that_is_not_let_in_is_told(guarded: str) -> None:
    wrong = url_of(cluster().url, "postgres", user=guarded, password="s3cret")
    unknown = url_of(cluster().url, "postgres", user="nobody_here", password="s3cret")
    for url, role in ((wrong, guarded), (unknown, "nobody_here")):
        told = fault(url)
        assert isinstance(told, ConfigurationError)
        assert f"does not let the role '{role}' in" in str(told)


def test_a_database_that_is_not_there_or_is_closed_to_the_role_is_told() -> None:
    missing = fault(url_of(fresh_store().url, "no_such_database", user="postgres", password="s3cret"))
    assert isinstance(missing, ConfigurationError)
    assert "has no database 'no_such_database'" in str(missing)
    store = fresh_store()
    database = fetch(store.admin_url, "SELECT quote_ident(current_database()) AS name")[0]["name"]
    run(store.admin_url, f"REVOKE CONNECT ON DATABASE {database} FROM PUBLIC")
    closed = fault(store.url)
    assert isinstance(closed, ConfigurationError)
    assert "GRANT CONNECT" in str(closed)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://ann:s3cret@no-such-host.invalid/db", "No host of the name"),
        ("postgresql://ann:s3cret@127.0.0.1:1/db", "No Postgres answers at '127.0.0.1:1' (ConnectionRefusedError)"),
        ("postgresql://ann:s3cret@/db?host=/no/such/folder", "No Postgres answers at '/no/such/folder'"),
    ],
)
def test_a_server_that_is_not_there_is_told(url: str, says: str) -> None:
    told = fault(url)
    assert isinstance(told, StoreUnavailable)
    assert says in str(told)


@pytest.mark.parametrize("reply", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_what_is_no_postgres_is_told(reply: bytes) -> None:
    with answering(reply) as port:
        for mode in ("disable", "prefer", "require"):
            assert "is no Postgres" in str(fault(f"postgresql://ann:s3cret@127.0.0.1:{port}/db?sslmode={mode}"))


def test_what_never_answers_is_told_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_memory_server.providers.postgres.connection.CONNECT_TIMEOUT_S", 0.2)
    with answering(None) as port:
        told = fault(f"postgresql://ann:s3cret@127.0.0.1:{port}/db")
    assert isinstance(told, StoreUnavailable)
    assert "Nothing that speaks the protocol of Postgres answers" in str(told)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3/cret@host/db",
        "postgresql://ann:s3#cret@host/db",
        "postgresql://ann:s3@cret@host/db",
        "postgresql://ann:s3?cret@host/db",
        "postgresql://ann:s3[cret@host/db",
        "postgresql://ann:s3cret@host:port/db",
        "postgresql://ann:s3cret@host:70000/db",
        "postgresql://ann:s3cret@host/db?sslmode=s3",
        "postgresql://ann:s3cret@host/db?s3",
        "postgresql://ann:s3cret@host/a/s3",
    ],
)
def test_a_url_that_cannot_be_read_is_refused_with_its_form(url: str) -> None:
    told = fault(url)
    assert isinstance(told, ConfigurationError)
    assert "percent form" in str(told)


def test_options_that_cannot_work_are_told() -> None:
    url = fresh_store().url
    assert "neither the driver nor Postgres knows" in str(fault(f"{url}&no_such_option=1"))
    assert "names as sslrootcert, is not there" in str(fault("postgresql://host/db?sslrootcert=/no/such/file"))


def test_servers_of_which_none_is_of_the_kind_asked_for_are_told() -> None:
    told = fault(f"{fresh_store().url}&target_session_attrs=standby")
    assert isinstance(told, StoreUnavailable)
    assert "target_session_attrs" in str(told)


def test_the_other_spelling_of_the_scheme_is_the_same_store() -> None:
    asyncio.run(_open(fresh_store().url.replace("postgresql://", "postgres://", 1)))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("postgresql://ann:pw@db.test:5433/memory", Address("db.test:5433", "memory", "ann")),
        ("postgresql://a%2Fnn@/me%20mory?host=/run", Address("/run", "me mory", "a/nn")),
        ("postgres:///?user=ann&dbname=memory", Address(None, "memory", "ann")),
        ("postgresql://one:1,two:2/memory", Address("one:1,two:2", "memory", None)),
        ("postgresql://[::1]:5432/memory", Address("[::1]:5432", "memory", None)),
    ],
)
def test_a_url_is_taken_apart_as_the_driver_does(url: str, address: Address) -> None:
    assert address_of(url) == address


def test_an_address_never_holds_a_password() -> None:
    assert "s3" not in repr(address_of("postgresql://ann:s3@host/db?password=s3"))
