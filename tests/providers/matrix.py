"""Every provider of this package, and how a test gets a fresh store of it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.contract import Store

from .postgres_server import files_of, fresh_store


def _in_memory(folder: Path) -> Store:
    return Store(lambda: open_provider("memory://"), durable=False, shared=False)


def _sqlite(folder: Path) -> Store:
    return Store(
        lambda: open_provider(f"sqlite:///{folder}/memory.db"),
        files=lambda: [path for path in folder.rglob("*") if path.is_file()],
    )


def _postgres(folder: Path) -> Store:
    store = fresh_store()
    return Store(lambda: open_provider(store.url), files=lambda: files_of(store))


STORES: Final[Mapping[str, Callable[[Path], Store]]] = {
    "memory": _in_memory,
    "sqlite": _sqlite,
    "postgresql": _postgres,
}
"""By URL scheme: makes an empty store that keeps its files, if any, in the folder it is given."""
