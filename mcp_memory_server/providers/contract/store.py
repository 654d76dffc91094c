"""What a check is given: a store of its own, and how to open it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from mcp_memory_server.providers.base import (
    BrowsingProvider,
    BulkProvider,
    CarryingProvider,
    ChangingProvider,
    EntityProvider,
    JournalingProvider,
    MaintainedProvider,
    MemoryProvider,
    RestoringProvider,
    ReviewingProvider,
    SurfacingProvider,
    VectorProvider,
)
from mcp_memory_server.providers.options import bind_write_options

OpenProvider = Callable[[], AbstractAsyncContextManager[MemoryProvider]]


@dataclass(frozen=True, slots=True)
class Store:
    """A store that was empty before the check and that nothing else uses.

    Args:
        open: opens the store, again and again, always the same one.
        durable: whether what was written is there when the store is opened again.
        shared: whether the store can be open several times at once, as several processes would hold it.
        files: the files that the store has at the moment; none when it keeps nothing in files.
    """

    open: OpenProvider
    durable: bool = True
    shared: bool = True
    files: Callable[[], Sequence[Path]] = tuple


class EveryGroup(
    BulkProvider,
    RestoringProvider,
    JournalingProvider,
    BrowsingProvider,
    ChangingProvider,
    MaintainedProvider,
    VectorProvider,
    ReviewingProvider,
    EntityProvider,
    SurfacingProvider,
    CarryingProvider,
    Protocol,
):
    """A provider as a check may use it: it runs only where its groups are declared."""


def opened(store: Store) -> AbstractAsyncContextManager[EveryGroup]:
    """The store, opened, for a check that names the groups it calls."""
    return cast("AbstractAsyncContextManager[EveryGroup]", store.open())


def bound(provider: MemoryProvider, **options: Any) -> EveryGroup:
    """The provider with write options bound, for a check that names the groups it calls."""
    return cast("EveryGroup", bind_write_options(provider, **options))
