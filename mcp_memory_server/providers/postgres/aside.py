"""Work that would keep the event loop: a thread does it, unless it is so little that the way there costs more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import anyio

T = TypeVar("T")

_MOST_AT_ONCE: Final = 200
"""Records take some 20 microseconds each to be decoded."""


async def aside(count: int, work: Callable[[], T], most_at_once: int = _MOST_AT_ONCE) -> T:
    """Do work that is about so many records, and wait for it. It must not touch what the loop's tasks touch."""
    return work() if count <= most_at_once else await anyio.to_thread.run_sync(work)
