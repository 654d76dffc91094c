"""Stores of memories, chosen by URL."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any, Final

from mcp_memory_server.errors import ConfigurationError, echo

from .base import MemoryProvider

ENTRY_POINT_GROUP: Final = "mcp_memory_server.providers"

__all__ = ["ENTRY_POINT_GROUP", "Opener", "open_provider", "provider_schemes"]

Opener = Callable[[str], AbstractAsyncContextManager[MemoryProvider]]
"""Takes the whole URL and returns an async context manager that yields the open provider."""

# Not entry points: looking those up reads the metadata of every installed package, which would cost a prompt
# hook more than everything else it does.
_BUILT_IN: Final = {
    "memory": ("in_memory", "open_in_memory"),
    "sqlite": ("sqlite", "open_sqlite"),
    "postgresql": ("postgres", "open_postgres"),
}
_OTHER_NAMES: Final = {"postgres": "postgresql"}
"""Spellings that are about as common, each with the one that is documented."""


def provider_schemes() -> dict[str, Callable[[], Opener]]:
    """The URL schemes that can be opened, ours and those of installed packages, each with what loads its opener.

    A package registers one as an entry point in the group `mcp_memory_server.providers`, named like the scheme.
    Ours cannot be replaced.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415  # see _BUILT_IN

    installed: dict[str, Callable[[], Opener]] = {
        entry.name: entry.load for entry in entry_points(group=ENTRY_POINT_GROUP)
    }
    return installed | {scheme: lambda scheme=scheme: _built_in(scheme) for scheme in _BUILT_IN}


def _built_in(scheme: str) -> Opener:
    module, name = _BUILT_IN[scheme]
    opener: Any = getattr(import_module(f"{__name__}.{module}"), name)
    return opener


def open_provider(url: str) -> AbstractAsyncContextManager[MemoryProvider]:
    """The store at `url`, opened by `async with`: a `memory://`, `sqlite:///path`, `postgresql://host/database` or
    another URL whose scheme an installed provider answers to.

    Raises:
        ConfigurationError: the URL has no scheme, or one that no installed provider answers to.
    """
    scheme, separator, _ = url.partition("://")
    scheme = _OTHER_NAMES.get(scheme, scheme)
    if separator and scheme in _BUILT_IN:
        return _built_in(scheme)(url)
    schemes = provider_schemes()
    if not separator or scheme not in schemes:
        known = ", ".join(f"{name}://" for name in sorted(schemes))
        # A URL may hold a password: only its scheme is shown.
        shown = echo(scheme) if separator else "without a scheme"
        raise ConfigurationError(f"No provider opens a store URL {shown}. Known: {known}. Example: sqlite:///memory.db")
    return schemes[scheme]()(url)
