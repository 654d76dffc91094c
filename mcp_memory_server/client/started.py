"""How the process ended that a stdio transport started. The SDK keeps it to itself, so the event loop is asked."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any, Final

if sys.platform == "win32":
    from asyncio import ProactorEventLoop as _Loop
else:
    from asyncio import SelectorEventLoop as _Loop

_OURS: Final = (-signal.SIGTERM, -9)
"""By these the transport itself ends a server that stays when its input is closed."""


class RememberingLoop(_Loop):
    """An event loop that remembers the last process that it started."""

    started: asyncio.SubprocessTransport | None = None

    async def subprocess_exec(self, *args: Any, **kwargs: Any) -> tuple[asyncio.SubprocessTransport, Any]:
        """As it is in every loop, and remembered."""
        self.started, protocol = await super().subprocess_exec(*args, **kwargs)
        return self.started, protocol


def ending() -> str:
    """How the process that the running loop started last ended by itself, as the end of "It ..."; "" if unknown."""
    loop = asyncio.get_running_loop()
    started = loop.started if isinstance(loop, RememberingLoop) else None
    status = None if started is None else started.get_returncode()
    if status is None or status in _OURS:
        return ""
    if status >= 0:
        return f"ended with status {status}"
    return f"was ended by signal {-status} ({signal.strsignal(-status) or 'unknown'})"
