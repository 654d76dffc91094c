"""The MCP server over a `MemoryService`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from importlib.metadata import version
from typing import Final
from uuid import uuid4

import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server

from mcp_memory_server.background import running_beside
from mcp_memory_server.config import default_actor_id
from mcp_memory_server.errors import MemoryServerError
from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.service import MemoryService

from .asking import answers_boundary
from .handlers import Handlers
from .identity import Identify, fixed_actor
from .state import ConnectionState
from .structured import StructuredContent
from .telemetry import Metrics
from .tools import served_tools
from .watch import Watch

SERVER_NAME: Final = "mcp-memory-server"

INSTRUCTIONS: Final = """\
Long-term memory about the user and their organisation. Call recall_digest at the start of a task, with the user's \
question as query, and when they refer to something from before. Call remember when they state or correct a lasting \
preference, decision or circumstance: one short line under a stable key. Never store secrets, or what matters only \
now. Call forget when they ask for it. Tell the user when a memory shaped your answer."""

READ_ONLY_INSTRUCTIONS: Final = """\
Long-term memory about the user and their organisation, which cannot be added to here. Call recall_digest at the start \
of a task, with the user's question as query, and when they refer to something from before. Call forget when they ask \
for it. Tell the user when a memory shaped your answer."""

_PRIVATE: Final = CacheHint(ttl_ms=0, scope="private")


def build_server(  # noqa: PLR0913  # each has a default
    service: MemoryService,
    *,
    actor: Actor | None = None,
    project: str | None = None,
    identify: Identify | None = None,
    toolsets: Sequence[str] = (),
    elevated: bool = False,
    roles_required: bool = False,
    watch: Watch | None = None,
    state_keys: Sequence[str] = (),
) -> Server[ConnectionState]:
    """A server that offers what the service's provider can do. Run it, or attach a client to it in memory.

    Args:
        service: over an open provider; it stays the caller's to close.
        actor: whose requests these are when nothing else says so; the operating-system user by default.
        project: the project that requests belong to; with one, `remember` gains `where`.
        identify: who asks, from a request; replaces `actor` and `project` where callers differ.
        toolsets: names out of `server.tools.TOOLSETS`, whose tools are offered besides the default ones.
        elevated: the host's word that whoever answers a question of the server's may act as an administrator.
        roles_required: whether an actor without a role of ours may do nothing; see `policy.may`.
        watch: who tells subscribers, where several lifespans share one, as over HTTP; it stays the caller's to run.
        state_keys: secrets of 32 bytes or more, which servers share where the answer to a question of one may reach
            another: the first one seals, all of them open. Without any it is a random one.

    Raises:
        ConfigurationError: there is no toolset of one of these names.
    """
    of = actor or Actor(default_actor_id())
    who = identify or fixed_actor(of, project)
    served = served_tools(service, project, toolsets)
    handlers = Handlers(service, who, served, elevated, roles_required)

    async def warm_up() -> None:
        # Once a client has been greeted: neither the handshake nor the first recall waits for ranking to be loaded.
        await handlers.greeted.wait()
        await anyio.to_thread.run_sync(import_module, "mcp_memory_server.ranking.engine")
        if identify is None:  # one actor: what is held about them is read ahead, too
            with suppress(MemoryServerError):
                await service.read_ahead(RequestContext(of, project))

    @asynccontextmanager
    async def lifespan(_: Server[ConnectionState]) -> AsyncGenerator[ConnectionState]:
        own = watch or Watch(service.provider)
        async with running_beside(warm_up, *(() if watch else (own.run,))):
            try:
                yield ConnectionState(own, None if watch else f"connection-{uuid4()}")
            finally:
                if watch is None:
                    own.close()

    # What is listed depends on who asks, where callers differ.
    listing = CacheHint(ttl_ms=60_000, scope="public" if identify is None else "private")
    server = Server[ConnectionState](
        SERVER_NAME,
        version=version("mcp-memory-server"),
        title="Memory",
        description="Long-term memory: attributed, inspectable, correctable, forgettable.",
        instructions=INSTRUCTIONS if service.writable else READ_ONLY_INSTRUCTIONS,
        lifespan=lifespan,
        cache_hints={
            "tools/list": listing,
            "prompts/list": listing,
            "resources/templates/list": listing,
            "resources/list": CacheHint(ttl_ms=60_000, scope="private"),
            "resources/read": _PRIVATE,
        },
        # Else the SDK would list all tools at each call over HTTP, to see whether an argument belongs into a header.
        get_tool_input_schema=lambda name: served[name].definition.input_schema if name in served else None,
        on_list_tools=handlers.list_tools,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_subscribe_resource=handlers.subscribe,
        on_unsubscribe_resource=handlers.unsubscribe,
        on_subscriptions_listen=handlers.listen,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
    )
    # Not `on_call_tool`, which takes no answer that is JSON already.
    server.add_request_handler("tools/call", types.CallToolRequestParams, handlers.call_tool)
    server.middleware.append(Metrics(served))
    server.middleware.append(answers_boundary(SERVER_NAME, state_keys))
    server.middleware.append(StructuredContent())
    return server


__all__ = ["INSTRUCTIONS", "READ_ONLY_INSTRUCTIONS", "SERVER_NAME", "build_server"]
