"""Who hears of which change, in both eras, whoever made it."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.client import Client
from mcp.server.lowlevel import Server

from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.base import Group
from mcp_memory_server.server.handlers import Handlers
from mcp_memory_server.server.identity import fixed_actor
from mcp_memory_server.server.state import ConnectionState
from mcp_memory_server.server.uris import record_uri, scope_uri
from mcp_memory_server.server.watch import Watch
from mcp_memory_server.service import MemoryService
from mcp_memory_server.service.review import Proposal
from tests.people import ANN, BOB
from tests.watched_provider import WatchedProvider

from .answers import called
from .conftest import Connect

ADMIN = RequestContext(Actor("rae", "acme", frozenset({"memory:admin"})))
Heard = MemoryObjectReceiveStream[str]

# The SDK warns of the handshake era's subscriptions, which we serve all the same.
pytestmark = pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed:UserWarning")


@asynccontextmanager
async def listening(connect: Connect, service: MemoryService, *uris: str) -> AsyncGenerator[tuple[Client, Heard]]:
    """A client that is subscribed to the URIs, and the URIs of the updates that it is told of."""
    send, heard = anyio.create_memory_object_stream[str](100)

    async def hear(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            await send.send(str(message.params.uri))

    async with connect(service, message_handler=hear) as client, AsyncExitStack() as subscribed, send, heard:
        await subscribed.enter_async_context(subscription(client, uris))
        yield client, heard


@asynccontextmanager
async def subscription(client: Client, uris: Sequence[str]) -> AsyncGenerator[None]:
    if client.protocol_version >= "2026":
        async with client.listen(resource_subscriptions=list(uris)):
            yield
        return
    for uri in uris:
        await client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]
    yield
    for uri in uris:
        await client.unsubscribe_resource(uri)  # pyright: ignore[reportDeprecated]


async def next_heard(heard: Heard, count: int = 1) -> list[str]:
    """The next updates, each of which has to arrive within a second."""
    uris: list[str] = []
    for _ in range(count):
        with anyio.fail_after(1):
            uris.append(await heard.receive())
    return uris


async def test_subscriptions_that_arrive_together_end_each_by_itself(
    connect_legacy: Connect, service: MemoryService
) -> None:
    uris = ["memory://block", "memory://digest", "memory://stats"]
    async with listening(connect_legacy, service) as (client, heard):
        async with anyio.create_task_group() as tasks:
            for uri in uris:
                tasks.start_soon(client.subscribe_resource, uri)  # pyright: ignore[reportDeprecated]
        await service.remember(ANN, "office", "Lyon")
        assert sorted(await next_heard(heard, 3)) == uris
        for uri in uris:
            await client.unsubscribe_resource(uri)  # pyright: ignore[reportDeprecated]
        await service.remember(ANN, "office", "Porto")
        with anyio.move_on_after(1):
            pytest.fail(f"still told of {await heard.receive()}")


async def test_every_change_of_our_own_is_told_within_a_second(connect: Connect, service: MemoryService) -> None:
    async with listening(connect, service, "memory://block") as (client, heard):
        office = (await called(client, "remember", key="office", fact="Lyon"))["record"]
        assert await next_heard(heard) == ["memory://block"]
        await service.pin(ANN, office["id"], pinned=True)
        assert await next_heard(heard) == ["memory://block"]
        await called(client, "forget", key="office")
        assert await next_heard(heard) == ["memory://block"]


async def test_only_resources_that_show_the_change_are_told_of(connect: Connect, service: MemoryService) -> None:
    office = (await service.remember(ANN, "office", "Lyon")).record
    editor = (await service.remember(ANN, "editor", "Helix")).record
    wanted = ["memory://digest", record_uri(office.id), scope_uri("actor:ann")]
    others = [record_uri(editor.id), scope_uri("global")]
    async with listening(connect, service, *wanted, *others) as (client, heard):
        await called(client, "remember", key="office", fact="Porto")
        assert sorted(await next_heard(heard, 3)) == sorted(wanted)
        await called(client, "remember", key="editor", fact="Vim")
        assert sorted(await next_heard(heard, 3)) == sorted(["memory://digest", record_uri(editor.id), wanted[2]])


async def test_a_write_by_another_instance_on_the_same_file_is_told_within_a_second(
    connect: Connect, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    async with (
        open_provider(url) as ours,
        open_provider(url) as theirs,
        listening(connect, MemoryService(ours), "memory://block") as (_, heard),
    ):
        for fact in ("Lyon", "Porto"):
            await MemoryService(theirs).remember(ANN, "office", fact)
            assert await next_heard(heard) == ["memory://block"]


async def test_a_change_at_a_scope_of_others_is_nobody_else_s_business(
    connect: Connect, service: MemoryService
) -> None:
    bobs = (await service.remember(BOB, "office", "Brno")).record
    uris = ["memory://block", record_uri(bobs.id), scope_uri("actor:bob")]
    async with listening(connect, service, *uris) as (client, heard):
        await service.remember(BOB, "office", "Perm")
        await service.forget(BOB, id=bobs.id)
        for fact in ("Lyon", "Porto"):
            await called(client, "remember", key="office", fact=fact)
            assert await next_heard(heard) == ["memory://block"]


async def test_a_wider_change_is_told_to_whom_it_applies(connect: Connect, service: MemoryService) -> None:
    async with listening(connect, service, "memory://block") as (_, heard):
        await service.state(BOB, "tone", "formal", scope="tenant:acme", elevated=True)
        assert await next_heard(heard) == ["memory://block"]


async def test_what_a_subscriber_may_not_read_is_not_told_of(connect: Connect, service: MemoryService) -> None:
    """Above the ceiling, or waiting for somebody else to decide: not even by whoever knows its id."""
    secret = (await service.state(ANN, "salary", "Earns forty", sensitivity="secret")).record
    proposed = (await service.review.propose(BOB, Proposal("year", "Ends in April", "tenant:acme"))).record
    uris = [record_uri(secret.id), record_uri(proposed.id), scope_uri("tenant:acme"), "memory://working/office"]
    async with listening(connect, service, *uris) as (client, heard):
        await service.pin(ANN, secret.id, pinned=True)
        await service.state(ANN, "salary", "Earns fifty", sensitivity="secret")
        await service.review.reject(ADMIN, proposed.id)
        await service.review.propose(BOB, Proposal("tone", "Formal", "tenant:acme"))
        await service.forget(ANN, id=secret.id)
        await called(client, "remember", key="office", fact="Lyon")
        assert await next_heard(heard) == ["memory://working/office"]
        await service.state(BOB, "tone", "Informal", scope="tenant:acme", elevated=True)
        assert sorted(await next_heard(heard, 2)) == sorted(uris[2:])
        assert heard.statistics().current_buffer_used == 0


async def test_who_does_not_listen_any_more_costs_nothing(connect: Connect) -> None:
    provider = WatchedProvider()
    async with connect(MemoryService(provider)) as client:
        async with subscription(client, ["memory://block"]):
            assert "changes" in provider.called()
        await _is_not_watched(client, provider)


async def _is_not_watched(client: Client, provider: WatchedProvider) -> None:
    """After a write of our own, which makes a watch that is on look at once."""
    provider.calls.clear()
    await called(client, "remember", key="office", fact="Lyon")
    await anyio.wait_all_tasks_blocked()
    assert "changes" not in provider.called()


async def test_subscriptions_end_with_their_connection_where_the_watch_outlives_it() -> None:
    """As over HTTP, where one lifespan serves every connection."""
    provider = WatchedProvider()
    watch = Watch(provider)
    service = MemoryService(provider)
    handlers = Handlers(service, fixed_actor(ANN.actor), {})

    @asynccontextmanager
    async def lifespan(_: Server[ConnectionState]) -> AsyncGenerator[ConnectionState]:
        yield ConnectionState(watch, "a thread")

    server = Server[ConnectionState]("shared", lifespan=lifespan, on_subscribe_resource=handlers.subscribe)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch.run)
        async with Client(server, mode="legacy") as client:
            await client.subscribe_resource("memory://block")  # pyright: ignore[reportDeprecated]
        provider.calls.clear()
        watch.poke()
        await anyio.wait_all_tasks_blocked()
        assert provider.called() == []
        tasks.cancel_scope.cancel()


async def test_a_watch_that_failed_tells_of_what_came_later(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    provider = WatchedProvider()
    async with listening(connect, MemoryService(provider), "memory://block") as (client, heard):
        provider.failing["changes"] = RuntimeError("Helix")
        await called(client, "remember", key="office", fact="Lyon")
        await anyio.wait_all_tasks_blocked()
        provider.failing.clear()
        await called(client, "remember", key="office", fact="Porto")
        assert await next_heard(heard) == ["memory://block"]
    assert "Helix" not in caplog.text


async def test_a_provider_without_a_change_feed_takes_subscriptions_and_stays_silent(connect: Connect) -> None:
    provider = WatchedProvider(without=[Group.CHANGES])
    async with listening(connect, MemoryService(provider), "memory://block") as (client, heard):
        await called(client, "remember", key="office", fact="Lyon")
        await anyio.wait_all_tasks_blocked()
        assert heard.statistics().current_buffer_used == 0


async def test_any_uri_may_be_subscribed_to(connect: Connect, service: MemoryService) -> None:
    async with listening(connect, service, "test://watched-resource", "memory://block") as (client, heard):
        await called(client, "remember", key="office", fact="Lyon")
        assert await next_heard(heard) == ["memory://block"]
