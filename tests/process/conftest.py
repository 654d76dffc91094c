"""Server processes for the tests, each ended with its test."""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest

from .session import Session, environment

Launch = Callable[..., Session]
"""Starts a server without waiting for it. Takes settings, and whole environment variables in capitals."""


@contextmanager
def servers_in(folder: Path) -> Generator[Launch]:
    numbers = count(1)
    sessions: list[Session] = []

    def launch(**settings: str) -> Session:
        whole = {name: settings.pop(name) for name in list(settings) if name.isupper()}
        settings = {"url": f"sqlite:///{folder / 'memory.db'}", "actor": "ann"} | settings
        session = Session(environment(folder, **settings) | whole, folder, folder / f"server-{next(numbers)}.log")
        sessions.append(running.enter_context(session))
        return session

    with ExitStack() as running:
        yield launch
        for session in sessions:  # all of them, so that they end beside each other
            session.close_input()


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """Servers on the store `memory.db` in the test's own folder, which is their home and working directory."""
    with servers_in(tmp_path) as servers:
        yield servers


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """One server for every test of a module that asks what needs no fresh one."""
    with servers_in(tmp_path_factory.mktemp("shared")) as servers:
        yield servers().ready()
