"""What lives as long as the server's lifespan: once a process, or once a connection over SSE."""

from __future__ import annotations

from dataclasses import dataclass

from .watch import Watch


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """Who listens for changes here, and the thread of requests that name none.

    `thread_id` is None where one lifespan serves many clients: what they say is not one conversation.
    """

    watch: Watch
    thread_id: str | None
