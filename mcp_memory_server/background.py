"""Tasks that run beside a block of code and end with it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio


@asynccontextmanager
async def running_beside(*functions: Callable[[], Coroutine[Any, Any, None]]) -> AsyncGenerator[None]:
    """Run the functions as tasks while the body runs, and cancel them when it ends.

    An exception of the body comes out as it is, not wrapped in a group: the tasks are nobody's business but
    ours, so opening a store must not change which exceptions a caller has to catch.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        for function in functions:
            tasks.start_soon(function)
        try:
            yield
        except Exception as error:  # raised again below, outside the group
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
