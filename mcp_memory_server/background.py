"""Work beside other work: tasks that end with a block of code, and threads that nobody has to wait for."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import anyio
from anyio.from_thread import run_sync as run_in_loop
from anyio.lowlevel import current_token

T = TypeVar("T")


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


async def run_forsakable(work: Callable[[], T]) -> T:
    """Run what blocks in a thread of its own, for which neither a cancelled caller nor the end of the process waits.

    `anyio.to_thread` can abandon a thread too, but the process then stays until the thread is done.
    """
    outcome: Future[T] = Future()
    done = anyio.Event()
    token = current_token()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # handed to whoever waits
            outcome.set_exception(error)
        with suppress(RuntimeError, anyio.RunFinishedError):  # the loop has ended: nobody waits
            run_in_loop(done.set, token=token)

    threading.Thread(target=run, name="forsakable", daemon=True).start()
    await done.wait()
    return outcome.result()
