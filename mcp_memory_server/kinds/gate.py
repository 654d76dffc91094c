"""Naming everything that is wrong with a write in one refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mcp_memory_server.errors import InvalidInput, Problem

T = TypeVar("T")


class Gate:
    """Collects what is wrong, so that one refusal names all of it."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def take(self, normal: Callable[[], T], otherwise: T) -> T:
        """What `normal` gives; `otherwise` where it refuses, which `close` tells."""
        try:
            return normal()
        except InvalidInput as error:
            self._problems.extend(error.problems)
            return otherwise

    def close(self) -> None:
        """Raise `InvalidInput` with all that was wrong, if anything was."""
        if self._problems:
            raise InvalidInput(*self._problems)
