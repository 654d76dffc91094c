"""Settings that all tests share."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from .minilm import lay_out_minilm
from .providers.postgres_server import drop_databases, leave_nothing

# So that a check of the contract suite that fails shows what it compared, as a test does.
pytest.register_assert_rewrite("mcp_memory_server.providers.contract")

# The examples of a law are bounded by number, not by time: a busy machine is no failure.
settings.register_profile("suite", deadline=None)
# For a second run of the same code with other versions of its dependencies: what one of those breaks shows at once, and
# a law is searched for what we did wrong in the first run.
settings.register_profile("again", settings.get_profile("suite"), max_examples=20)
settings.load_profile("suite")

# Whoever starts the suite in the background may have it ignore Ctrl-C, and all that it starts with it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def minilm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a real embedder, for `onnx:FOLDER`."""
    return lay_out_minilm(tmp_path_factory.mktemp("models") / "minilm")


@pytest.fixture(autouse=True)
def _no_database_outlives_its_test() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    drop_databases()


def pytest_sessionfinish() -> None:
    leave_nothing()
