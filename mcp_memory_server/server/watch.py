"""Telling subscribers what changed, whichever process changed it, in both protocol eras.

A subscriber hears of a change only when they may read what changed (`service.audience`): even that something happened
elsewhere is nobody's business. The store's change feed is polled while anybody listens, and at once after a write of
our own.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from mcp_memory_server.errors import StoreError
from mcp_memory_server.providers.base import Change, ChangingProvider, MemoryProvider, reports_changes
from mcp_memory_server.service.audience import Audience, News

from .uris import is_touched

logger = logging.getLogger(__name__)

POLL_INTERVAL_S: Final = 0.25
_MOST_SUBSCRIBERS: Final = 1024
_MOST_OF_ONE: Final = 256
"""Subscribers to whom the same scopes apply, as those of one actor: who has many connections leaves room for others."""
_MOST_URIS: Final = 1000
# A client that does not read must not hold up the others.
_DELIVERY_TIMEOUT_S: Final = 2.0


@dataclass(eq=False, slots=True)
class _Subscriber:
    """Somebody who listens: to which URIs, what they may hear of, and how to tell them."""

    audience: Audience
    tell: Callable[[str], Awaitable[None]]
    uris: set[str] = field(default_factory=set[str])
    untold: dict[str, None] = field(default_factory=dict[str, None])
    """What is still to be told, in order: the same once, however often it changes before the subscriber reads."""
    is_being_told: bool = False

    async def touched(self, news: News, *, gap: bool) -> list[str]:
        """The subscribed URIs that may show something else now; all of them where changes were missed."""
        heard = await self.audience.heard(news)
        return sorted(uri for uri in self.uris if gap or _any_touches(uri, heard))


def _any_touches(uri: str, changes: Iterable[Change]) -> bool:
    return any(is_touched(uri, change) for change in changes)


class Watch:
    """The subscribers of one process, or of one connection over stdio, and the task that keeps them informed."""

    def __init__(self, provider: MemoryProvider) -> None:
        self._provider: ChangingProvider | None = provider if reports_changes(provider) else None
        self._subscribers: list[_Subscriber] = []
        self._listeners: set[ListenHandler] = set()
        self._by_connection: dict[Connection, _Subscriber] = {}
        self._cursor: int | None = None
        self._wanted = anyio.Event()
        self._poked = anyio.Event()

    @property
    def subscribers(self) -> int:
        return len(self._subscribers)

    # --- subscribing -------------------------------------------------------------------------------------

    async def subscribe(
        self, session: ServerSession, uri: str, find_audience: Callable[[], Awaitable[Audience]]
    ) -> None:
        """`resources/subscribe` of the handshake era; ends with `unsubscribe` or the connection.

        A connection serves one caller: their audience is looked up at its first subscription.
        """
        connection = connection_of(session)
        if connection not in self._by_connection:
            audience = await find_audience()
            await self._begin(audience)
            if connection not in self._by_connection:  # asked again: subscriptions may arrive together
                subscriber = _Subscriber(audience, connection.send_resource_updated)
                self._by_connection[connection] = subscriber
                self._subscribers.append(subscriber)
                connection.exit_stack.callback(self._drop_connection, connection)
        subscriber = self._by_connection[connection]
        if len(subscriber.uris) >= _MOST_URIS and uri not in subscriber.uris:
            raise MCPError(types.INVALID_REQUEST, f"More than {_MOST_URIS} subscriptions; unsubscribe from some first.")
        subscriber.uris.add(uri)

    def unsubscribe(self, session: ServerSession, uri: str) -> None:
        subscriber = self._by_connection.get(connection_of(session))
        if subscriber is not None:
            subscriber.uris.discard(uri)
            if not subscriber.uris:
                self._drop_connection(connection_of(session))

    def _drop_connection(self, connection: Connection) -> None:
        subscriber = self._by_connection.pop(connection, None)
        if subscriber is not None:
            self._subscribers.remove(subscriber)

    async def listen(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: types.SubscriptionsListenRequestParams,
        audience: Audience,
    ) -> types.SubscriptionsListenResult:
        """`subscriptions/listen` of the modern era: one stream, open until the client or the server ends it."""
        await self._begin(audience)
        bus = InMemorySubscriptionBus()  # one a stream: what it carries is for this caller
        handler = ListenHandler(bus)

        async def tell(uri: str) -> None:
            await bus.publish(ResourceUpdated(uri=uri))

        uris = set((params.notifications.resource_subscriptions or [])[:_MOST_URIS])
        subscriber = _Subscriber(audience, tell, uris)
        self._subscribers.append(subscriber)
        self._listeners.add(handler)
        try:
            return await handler(ctx, params)
        finally:
            self._subscribers.remove(subscriber)
            self._listeners.discard(handler)

    async def _begin(self, audience: Audience) -> None:
        """Make room for a subscriber, and start from the present when it is the first."""
        alike = sum(subscriber.audience.scopes == audience.scopes for subscriber in self._subscribers)
        if alike >= _MOST_OF_ONE or len(self._subscribers) >= _MOST_SUBSCRIBERS:
            raise MCPError(types.INTERNAL_ERROR, "Too many subscribers; try again later.")
        if not self._subscribers and self._provider is not None:
            self._cursor = (await self._provider.changes(None)).cursor
        self._wanted.set()

    def close(self) -> None:
        """End every open stream, telling its client that this is on purpose."""
        for handler in list(self._listeners):
            handler.close()

    # --- telling -----------------------------------------------------------------------------------------

    def poke(self) -> None:
        """Something was just written here: look now."""
        self._poked.set()

    async def run(self) -> None:
        """Poll while anybody listens. Runs until cancelled; a store that fails is tried again."""
        if self._provider is None:
            return
        async with anyio.create_task_group() as tasks:
            await self._poll(self._provider, tasks)

    async def _poll(self, provider: ChangingProvider, tasks: TaskGroup) -> None:
        healthy = True
        while True:
            await self._wanted.wait()
            with anyio.move_on_after(POLL_INTERVAL_S):
                await self._poked.wait()
            self._poked = anyio.Event()
            if not self._subscribers:
                self._wanted = anyio.Event()
                continue
            try:
                await self._tell_once(provider, tasks)
                healthy = True
            except Exception as error:  # whatever a provider raises: a session must outlive it
                if healthy:
                    reason = error.code if isinstance(error, StoreError) else type(error).__name__
                    logger.warning("changes cannot be read (%s); trying again", reason)
                healthy = False

    async def _tell_once(self, provider: ChangingProvider, tasks: TaskGroup) -> None:
        batch = await provider.changes(self._cursor)
        if batch.changes or batch.gap:
            scopes = frozenset[str]().union(*(subscriber.audience.scopes for subscriber in self._subscribers))
            news = await News.of(provider, (change for change in batch.changes if change.scope in scopes))
            for subscriber in list(self._subscribers):
                subscriber.untold |= dict.fromkeys(await subscriber.touched(news, gap=batch.gap))
                if subscriber.untold and not subscriber.is_being_told:
                    subscriber.is_being_told = True
                    tasks.start_soon(_tell, subscriber)
        self._cursor = batch.cursor


async def _tell(subscriber: _Subscriber) -> None:
    """Tell one subscriber all that there is, beside the others: nobody waits for one who does not read."""
    try:
        while subscriber.untold:
            uri = next(iter(subscriber.untold))
            del subscriber.untold[uri]
            if uri in subscriber.uris:
                with anyio.move_on_after(_DELIVERY_TIMEOUT_S) as limit:
                    await subscriber.tell(uri)
                if limit.cancelled_caught:
                    logger.warning("a subscriber does not read its notifications; it missed one")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        subscriber.untold.clear()  # it went away; its own clean-up removes it
    finally:
        subscriber.is_being_told = False


def connection_of(session: ServerSession) -> Connection:
    """The connection behind a request's session.

    The SDK offers no public way yet (a session is made anew for each request); this is the only place that
    reaches for it, and a test fails when it moves.
    """
    return session._connection  # pyright: ignore[reportPrivateUsage]
