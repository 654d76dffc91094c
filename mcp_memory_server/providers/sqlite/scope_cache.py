"""What is kept in memory of the scopes that were used last."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from typing import NamedTuple

from mcp_memory_server.providers.held import HeldScopes, Scope


class ScopeCache:
    """What search keeps of the scopes used last, and listing with it. Who uses it holds `lock`."""

    def __init__(self, language: str | None = None) -> None:
        self.language = language
        """Of the texts and questions; None where each one's own is detected."""
        self.lock = threading.Lock()
        self.scopes = HeldScopes[int, int]()
        self.looked_up = LookedUp(None, 0, {})

    def clear(self) -> None:
        self.scopes.clear()
        self.looked_up = LookedUp(None, 0, {})


class LookedUp(NamedTuple):
    """Scopes as a connection saw them, by what was asked for, while nobody else wrote to the file."""

    db: sqlite3.Connection | None
    data_version: int
    """What the connection gives by that name; told of this one only."""
    scopes: dict[tuple[str, ...], Sequence[Scope[int]]]
