"""The guard: whatever a selector does, the turn goes on in time, and only the turn's own cancellation gets out."""

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import anyio
import pytest

from mcp_memory_server.recall import Degrade, SelectionRequest, build_manifest
from mcp_memory_server.service.selector_guard import SelectorGuard
from tests.recall.notes import NOW, header

REQUEST = SelectionRequest("where does she work?", build_manifest([header()], NOW))
SHORT_S = 0.05


class Does:
    """A selector that does what it is given to do, and tells when it has begun."""

    def __init__(self, act: Callable[[], Awaitable[Any]]) -> None:
        self._act = act
        self.begun = threading.Event()

    async def select(self, request: SelectionRequest) -> Any:
        self.begun.set()
        return await self._act()


def returns(value: Any) -> Does:
    async def act() -> Any:
        return value

    return Does(act)


def raises(error: BaseException) -> Does:
    async def act() -> Any:
        raise error

    return Does(act)


def hanging(release: threading.Event) -> dict[str, Does]:
    """Selectors that end only once they are released, each ill-behaved in its own way."""

    async def awaits() -> None:
        await asyncio.Event().wait()

    async def swallows_cancellation() -> None:
        while not release.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    async def blocks_its_thread() -> None:
        release.wait(60)

    async def shields_itself() -> None:
        with anyio.CancelScope(shield=True):
            await awaits()

    async def leaves_a_task_behind() -> None:
        asyncio.create_task(swallows_cancellation()).add_done_callback(lambda task: None)
        await asyncio.sleep(0)

    return {act.__name__: Does(act) for act in (awaits, swallows_cancellation, blocks_its_thread, shields_itself)} | {
        "leaves_a_task_behind": Does(leaves_a_task_behind)
    }


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Set at the end, so that no thread of a test outlives it for long."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        (["n1", "n2"], ("n1", "n2")),
        (("n1",), ("n1",)),
        ([], ()),
        ({"n1": 1}, ("n1",)),
        (["n1", 3, None], ("n1",)),
    ],
    ids=["list", "tuple", "none", "mapping", "partly ids"],
)
async def test_an_answer_is_handed_on_as_ids(answer: Any, ids: tuple[str, ...], trusted: bool) -> None:
    assert await SelectorGuard(returns(answer), trusted=trusted).select(REQUEST) == ids


async def test_of_an_endless_answer_only_the_beginning_is_read() -> None:
    answer = (f"n{number}" for number in count())
    ids = await SelectorGuard(returns(answer)).select(REQUEST)
    assert ids == tuple(f"n{number}" for number in range(1_000))


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("rubbish", [None, "n1", b"n1", 7, [7, None], [["n1"]], object()])
async def test_rubbish_is_a_failure(rubbish: Any, trusted: bool) -> None:
    assert await SelectorGuard(returns(rubbish), trusted=trusted).select(REQUEST) == Degrade("selector_failed")


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("boom"),
        TimeoutError(),
        SystemExit(3),
        KeyboardInterrupt(),
        asyncio.CancelledError(),
        GeneratorExit(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_selector_raises_is_a_failure(error: BaseException) -> None:
    assert await SelectorGuard(raises(error)).select(REQUEST) == Degrade("selector_failed")


async def test_an_answer_whose_items_cannot_be_had_is_a_failure() -> None:
    def broken() -> Iterator[str]:
        yield "n1"
        raise ValueError("no more")

    assert await SelectorGuard(returns(broken())).select(REQUEST) == Degrade("selector_failed")


async def test_a_selector_that_is_no_coroutine_is_a_failure() -> None:
    class Plain:
        def select(self, request: SelectionRequest) -> list[str]:
            return ["n1"]

    selector: Any = Plain()
    assert await SelectorGuard(selector).select(REQUEST) == Degrade("selector_failed")


@pytest.mark.parametrize("how", sorted(hanging(threading.Event())))
async def test_a_selector_that_hangs_costs_the_time_limit_and_no_more(how: str, release: threading.Event) -> None:
    guard = SelectorGuard(hanging(release)[how], SHORT_S)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(SHORT_S / 10)
            ticks += 1

    with anyio.fail_after(30):
        async with anyio.create_task_group() as beside:
            beside.start_soon(tick)
            assert await guard.select(REQUEST) == Degrade("selector_timed_out")
            beside.cancel_scope.cancel()
    assert ticks > 0, "the server's own loop stood still"


async def test_our_own_selectors_are_cancelled_at_the_limit() -> None:
    cancelled = anyio.Event()

    async def act() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    with anyio.fail_after(30):
        assert await SelectorGuard(Does(act), SHORT_S, trusted=True).select(REQUEST) == Degrade("selector_timed_out")
    assert cancelled.is_set()


async def test_a_well_behaved_selector_is_cancelled_and_its_thread_ends() -> None:
    ended = threading.Event()

    async def act() -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            ended.set()

    assert await SelectorGuard(Does(act), SHORT_S).select(REQUEST) == Degrade("selector_timed_out")
    assert await anyio.to_thread.run_sync(ended.wait, 30)


@pytest.mark.parametrize("trusted", [True, False])
async def test_the_cancellation_of_the_turn_gets_out_at_once(trusted: bool, release: threading.Event) -> None:
    selector = hanging(release)["awaits"]
    guard = SelectorGuard(selector, 3_600, trusted=trusted)
    answered = False

    async def turn() -> None:
        nonlocal answered
        await guard.select(REQUEST)
        answered = True

    with anyio.fail_after(30):
        async with anyio.create_task_group() as turns:
            turns.start_soon(turn)
            await anyio.to_thread.run_sync(selector.begun.wait, 30)
            turns.cancel_scope.cancel()
    assert not answered


async def test_after_eight_calls_that_never_ended_further_ones_fail_at_once(release: threading.Event) -> None:
    calls = 0

    async def act() -> list[str]:
        nonlocal calls
        calls += 1
        release.wait(60)
        return ["n1"]

    guard = SelectorGuard(Does(act), SHORT_S)
    for _ in range(8):
        assert await guard.select(REQUEST) == Degrade("selector_timed_out")
    assert await guard.select(REQUEST) == Degrade("selector_overdue")
    assert calls == 8
    release.set()
    with anyio.fail_after(30):
        while (answer := await guard.select(REQUEST)) == Degrade("selector_overdue"):
            await anyio.lowlevel.checkpoint()
    assert answer == ("n1",)


async def test_many_turns_at_once_are_each_answered() -> None:
    both = threading.Barrier(8)

    async def act() -> list[str]:
        both.wait(30)
        return ["n1"]

    guard = SelectorGuard(Does(act), 60)
    answers: list[object] = []

    async def turn() -> None:
        answers.append(await guard.select(REQUEST))

    async with anyio.create_task_group() as turns:
        for _ in range(8):
            turns.start_soon(turn)
    assert answers == [("n1",)] * 8


async def test_the_log_names_the_reason_and_nothing_that_is_remembered(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        await SelectorGuard(raises(ValueError("a secret note"))).select(REQUEST)
    assert [record.getMessage() for record in caplog.records] == [
        "selector_failed (ValueError): the whole block is shown instead"
    ]


def test_a_selector_that_never_ends_does_not_hold_up_the_end_of_the_process() -> None:
    program = """
import threading, time, anyio
from mcp_memory_server.recall import SelectionRequest, build_manifest
from mcp_memory_server.service.selector_guard import SelectorGuard
class Blocks:
    async def select(self, request):
        while True:
            time.sleep(1)
print(anyio.run(SelectorGuard(Blocks(), 0.05).select, SelectionRequest("x", build_manifest([], None))))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert "selector_timed_out" in done.stdout
