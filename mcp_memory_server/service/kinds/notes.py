"""Memories that are a line of text and a little more: episodes, and notes for one conversation or several agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.kinds import Form
from mcp_memory_server.kinds.episodes import normal_episode
from mcp_memory_server.service.remember import Remembered, RememberRequest
from mcp_memory_server.service.wiring import Wiring

from .recording import ASSISTANT, Writer, record

Audience = Literal["session", "shared"]


@dataclass(frozen=True, slots=True)
class Span:
    """When something took place; without an end it goes on."""

    started_at: str
    ended_at: str | None = None


@dataclass(frozen=True, slots=True)
class Notes:
    wiring: Wiring

    async def episode(
        self, context: RequestContext, key: str, summary: str, span: Span, writer: Writer = ASSISTANT
    ) -> Remembered:
        """Record the summary of what took place.

        Raises:
            InvalidInput: every wrong argument; an end before the start with both values.
            Refused, Conflict, NotSupported: as `remember` does.
        """
        form = Form("episodic", episode=normal_episode(span.started_at, span.ended_at))
        return await record(self.wiring, context, RememberRequest(key, summary, form=form), writer)

    async def note(
        self, context: RequestContext, key: str, fact: str, audience: Audience, writer: Writer = ASSISTANT
    ) -> Remembered:
        """Record what holds in this conversation only, or what several agents are to know.

        Raises:
            InvalidInput: every wrong argument; or a note for this conversation where the host names none.
            Refused, Conflict, NotSupported: as `remember` does.
        """
        if audience == "session" and context.thread_id is None:
            raise InvalidInput.of("audience", "is 'session', but this request belongs to no conversation")
        form = Form(audience, owner="shared" if audience == "shared" else None)
        return await record(self.wiring, context, RememberRequest(key, fact, form=form), writer)
