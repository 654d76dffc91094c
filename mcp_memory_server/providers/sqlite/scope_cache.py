"""What is kept in memory of the scopes that were used last."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mcp_memory_server.providers.held import HeldScopes, Scope


class ScopeCache:
    """What search keeps of the scopes used last, and listing with it. Who uses it holds `lock`, and then renews it."""

    def __init__(self, epoch: Callable[[], int], language: str | None, note_outdated: Callable[[str], None]) -> None:
        self.language = language
        """Of the texts and questions; None where each one's own is detected."""
        self.note_outdated = note_outdated
        """Told the id of each record whose signature is met outdated, so that it is stored (backlog.py)."""
        self.lock = threading.Lock()
        self.scopes = HeldScopes[int, int]()
        self.looked_up = LookedUp(None, 0, {})
        self._current_epoch = epoch
        self._epoch = epoch()

    def renew(self) -> None:
        """Let go of everything when the file was opened anew: it may be another one, at the same generations.

        Asked where the file is read, not before: it may be opened anew in order to read it.
        """
        epoch = self._current_epoch()
        if epoch != self._epoch:
            self._epoch = epoch
            self.scopes.clear()
            self.looked_up = LookedUp(None, 0, {})


class LookedUp(NamedTuple):
    """Scopes as a connection saw them, by what was asked for, while nobody else wrote to the file."""

    db: sqlite3.Connection | None
    data_version: int
    """What the connection gives by that name; told of this one only."""
    scopes: dict[tuple[str, ...], Sequence[Scope[int]]]
