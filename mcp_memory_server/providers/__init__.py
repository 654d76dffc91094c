"""Stores of memories, chosen by URL."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from mcp_memory_server.errors import ConfigurationError, echo

from .base import MemoryProvider

ENTRY_POINT_GROUP: Final = "mcp_memory_server.providers"

__all__ = ["ENTRY_POINT_GROUP", "open_provider", "provider_schemes"]


def provider_schemes() -> dict[str, EntryPoint]:
    """The URL schemes that can be opened: ours and those of installed packages, by name.

    A scheme is the name of an entry point in the group `mcp_memory_server.providers`. It points at a callable
    that takes the whole URL and returns an async context manager yielding a `MemoryProvider`.
    """
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}


def open_provider(url: str) -> AbstractAsyncContextManager[MemoryProvider]:
    """The store at `url`, opened by `async with`: `memory://`, `sqlite:///path` or an installed provider's scheme.

    Raises:
        ConfigurationError: the URL has no scheme, or one that no installed provider answers to.
    """
    scheme, separator, _ = url.partition("://")
    schemes = provider_schemes()
    if not separator or scheme not in schemes:
        known = ", ".join(f"{name}://" for name in sorted(schemes))
        # A URL may hold a password: only its scheme is shown.
        shown = echo(scheme) if separator else "without a scheme"
        raise ConfigurationError(f"No provider opens a store URL {shown}. Known: {known}. Example: sqlite:///memory.db")
    return schemes[scheme].load()(url)
