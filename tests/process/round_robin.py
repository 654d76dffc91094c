"""A proxy of the tests: each request goes to the next server, whoever sent it. It keeps nothing between requests."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import AsyncGenerator, MutableSequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

_LONGEST_HEAD: Final = 65_536
_ENDS: Final = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.IncompleteRead)
_NONE_ANSWERS: Final = (
    b"HTTP/1.1 502 Bad Gateway\r\nRetry-After: 1\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 17\r\nConnection: close\r\n\r\nno server answers"
)


class RoundRobin:
    """As nginx is by default: a server that takes no connection is passed over; one that was sent a request is not
    sent it twice, and if it goes before it answers, the client gets 502; an answer that breaks off, breaks off.

    Every connection is for one request, which the header `Connection: close` tells both sides.
    """

    def __init__(self, ports: MutableSequence[int]) -> None:
        self.ports = ports
        """Of the servers, on this machine; they may change while it runs."""
        self.sent: Counter[int] = Counter()
        """How many requests went to which of the servers, by position."""
        self._turns = count()

    async def handle(self, client: SocketStream) -> None:
        async with client:
            with contextlib.suppress(*_ENDS):
                reader = BufferedByteReceiveStream(client)
                head = await reader.receive_until(b"\r\n\r\n", _LONGEST_HEAD)
                await self._pass_on(_of_one_request(head), reader, client)

    async def _pass_on(self, head: bytes, reader: ByteReceiveStream, client: SocketStream) -> None:
        server = await self._connect()
        if server is None:
            await client.send(_NONE_ANSWERS)
            return
        async with server, anyio.create_task_group() as passing:

            async def ask() -> None:
                with contextlib.suppress(*_ENDS):
                    await server.send(head)
                await _pump(reader, server)
                passing.cancel_scope.cancel()  # the client went away, as nobody closes one half

            passing.start_soon(ask)
            if not await _pump(server, client):
                await client.send(_NONE_ANSWERS)
            passing.cancel_scope.cancel()

    async def _connect(self) -> SocketStream | None:
        first = next(self._turns)
        for turn in ((first + others) % len(self.ports) for others in range(len(self.ports))):
            with contextlib.suppress(OSError):
                connected = await anyio.connect_tcp("127.0.0.1", self.ports[turn])
                self.sent[turn] += 1
                return connected
        return None


async def _pump(source: ByteReceiveStream, sink: ByteSendStream) -> int:
    """How many bytes went over until either side ended, in whatever way."""
    passed = 0
    with contextlib.suppress(*_ENDS):
        while True:
            chunk = await source.receive()
            passed += len(chunk)
            await sink.send(chunk)
    return passed


def _of_one_request(head: bytes) -> bytes:
    head = re.sub(rb"(?i)\r\nconnection:[^\r]*", b"", head)
    return head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + b"\r\n\r\n"


@asynccontextmanager
async def round_robin(ports: MutableSequence[int]) -> AsyncGenerator[tuple[str, RoundRobin]]:
    """A running proxy and its address."""
    proxy = RoundRobin(ports)
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as serving,
    ):
        serving.start_soon(listener.serve, proxy.handle)
        port: int = listener.extra(SocketAttribute.local_port)
        yield f"http://127.0.0.1:{port}", proxy
        serving.cancel_scope.cancel()
