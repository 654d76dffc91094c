"""Calls that must fail."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from mcp_memory_server.errors import MemoryServerError

ErrorT = TypeVar("ErrorT", bound=MemoryServerError)


async def refusal(expected: type[ErrorT], call: Awaitable[object]) -> ErrorT:
    """The error that the call ends in.

    Raises:
        AssertionError: it came to an answer instead.
    """
    try:
        await call
    except expected as error:
        return error
    raise AssertionError(f"the call was answered instead of failing with {expected.__name__}")
