"""A client for a server in this process, in both eras of the protocol."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from mcp.client import Client

from mcp_memory_server import build_server
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.service import MemoryService
from tests.people import ANN

Connect = Callable[..., Client]
"""Makes a client that `async with` attaches; a fixture that yields an attached one would fail at teardown."""


@pytest.fixture(params=["auto", "legacy"])
def connect(request: pytest.FixtureRequest) -> Connect:
    """Ann's client. Takes the service and what `build_server` takes besides.

    And a `message_handler`, and `asked`, which answers a question to the person in Ann's stead.
    """
    return partial(_client, request.param)


@pytest.fixture
def connect_legacy() -> Connect:
    """As `connect`, for what only the handshake era has."""
    return partial(_client, "legacy")


def _client(
    era: Any, service: MemoryService, *, message_handler: Any = None, asked: Any = None, **options: Any
) -> Client:
    options.setdefault("actor", ANN.actor)
    server = build_server(service, **options)
    return Client(server, mode=era, message_handler=message_handler, elicitation_callback=asked)


@pytest.fixture
def service() -> MemoryService:
    """A service over an empty store in this process."""
    return MemoryService(InMemoryProvider())
