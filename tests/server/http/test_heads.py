"""A connection that does not come to the point is ended; one that does is not."""

import anyio
import pytest
from anyio.abc import SocketStream

from mcp_memory_server.server.http import heads

from .conftest import Serve, Site

HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HEAD + b"\r\n"
HANG_S = 10


async def _connected(site: Site) -> SocketStream:
    host, _, port = site.base.removeprefix("http://").partition(":")
    return await anyio.connect_tcp(host, int(port))


async def _is_ended(connection: SocketStream) -> bool:
    with anyio.fail_after(HANG_S):
        try:
            await connection.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return True
        return False


@pytest.mark.parametrize(("before", "said"), [(0, b""), (0, b"G"), (0, HEAD), (1, b"G"), (1, HEAD)])
async def test_a_head_that_does_not_come_in_ends_the_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, before: int, said: bytes
) -> None:
    monkeypatch.setattr(heads, "HEAD_S", 0.2)
    async with serve() as site, await _connected(site) as connection:
        for _ in range(before):
            await connection.send(WHOLE)
            assert b"200 OK" in await connection.receive()
        if said:
            await connection.send(said)
        assert await _is_ended(connection)


async def test_a_request_that_takes_longer_than_a_head_may_is_answered(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "HEAD_S", 0.2)
    async with serve() as site, await _connected(site) as connection:
        await connection.send(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n")
        await anyio.sleep(0.5)
        await connection.send(b"{}")
        with anyio.fail_after(HANG_S):
            assert (await connection.receive()).startswith(b"HTTP/1.1 4")
