"""A server over HTTP ends in good order, and another one takes over without a loss."""

import json
import signal
import subprocess
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.to_thread import run_sync
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.shared.exceptions import MCPError

from tests.server.answers import called

from .session import HANG_S
from .web import SERVE, settings, web_process

pytestmark = [
    pytest.mark.process,
    pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed:UserWarning"),
]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_server_with_open_streams_ends_within_five_seconds(tmp_path: Path, number: signal.Signals) -> None:
    """Streams of both eras and of SSE; the clients that listen are told that this is on purpose."""
    with web_process(tmp_path) as web:
        async with AsyncExitStack() as clients:
            modern = await clients.enter_async_context(Client(f"{web.base}/mcp"))
            legacy = await clients.enter_async_context(Client(f"{web.base}/mcp", mode="legacy"))
            old = await clients.enter_async_context(Client(sse_client(f"{web.base}/sse"), mode="legacy"))
            await clients.enter_async_context(modern.listen(resource_subscriptions=["memory://block"]))
            for client in (legacy, old):
                await client.subscribe_resource("memory://block")  # pyright: ignore[reportDeprecated]
            await called(modern, "remember", key="office", fact="Lyon")
            status, took_s = await run_sync(web.stop, number)
        assert status == 0
        assert took_s < 5
        assert "Traceback" not in web.logged()
        assert "Lyon" not in web.logged()


async def test_a_server_whose_client_stopped_reading_ends_all_the_same(tmp_path: Path) -> None:
    with web_process(tmp_path) as web:
        host, port = web.base.removeprefix("http://").split(":")
        async with await anyio.connect_tcp(host, int(port)) as stuck:
            await stuck.send(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
            async with await anyio.connect_tcp(host, int(port)) as silent:
                await silent.send(b"GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                await silent.receive(1)
                status, took_s = await run_sync(web.stop)
        assert (status, took_s < 5.5) == (0, True), web.logged()


async def _write_until_it_ends(base: str, name: str, acked: dict[str, str]) -> None:
    with suppress(MCPError, httpx2.HTTPError, ExceptionGroup):  # the server has gone
        async with Client(f"{base}/mcp") as client:
            for number in range(10_000):
                key, fact = f"{name}-{number}", f"number {number}"
                await called(client, "remember", key=key, fact=fact)
                acked[key] = fact


async def _grown_by(acked: dict[str, str], more: int) -> None:
    enough = len(acked) + more
    with anyio.fail_after(HANG_S):
        while len(acked) < enough:  # noqa: ASYNC110  # several tasks add to it
            await anyio.sleep(0.02)


async def test_in_a_rolling_restart_no_acknowledged_write_is_lost(tmp_path: Path) -> None:
    """The new one is written to before the old one ends, and goes on; what was under way ends as old or new."""
    acked: dict[str, str] = {}
    with web_process(tmp_path, "old") as old, web_process(tmp_path, "new") as new:
        async with anyio.create_task_group() as tasks:
            for name, base in (("a", old.base), ("b", old.base), ("c", new.base), ("d", new.base)):
                tasks.start_soon(_write_until_it_ends, base, name, acked)
            await _grown_by(acked, 60)
            assert (await run_sync(old.stop))[0] == 0
            await _grown_by(acked, 20)
            tasks.cancel_scope.cancel()
        assert {key[0] for key in acked} == set("abcd")
        async with Client(f"{new.base}/mcp") as client:
            held: dict[str, str] = {}
            uri = "memory://scopes/actor%3Aann"
            while uri:
                contents: Any = (await client.read_resource(uri)).contents[0]
                page = json.loads(contents.text)
                held |= {record["key"]: record["text"] for record in page["records"]}
                uri = page.get("next", "")
    assert acked.items() <= held.items()
    assert len(held) <= len(acked) + 4  # one each may have been written and not acknowledged


async def test_a_change_by_one_process_is_told_by_the_other(tmp_path: Path) -> None:
    with web_process(tmp_path, "one") as one, web_process(tmp_path, "other") as other:
        async with (
            Client(f"{one.base}/mcp") as hears,
            Client(f"{other.base}/mcp", mode="legacy") as writes,
            hears.listen(resource_subscriptions=["memory://block"]) as heard,
        ):
            await called(writes, "remember", key="office", fact="Lyon")
            with anyio.fail_after(5):
                await anext(aiter(heard))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"host": "0.0.0.0"}, "--insecure"),
        ({"host": "0.0.0.0", "insecure": "true"}, "--public-url"),
        ({"host": "203.0.113.9", "insecure": "true", "allowed_host": "x"}, "cannot listen"),
        ({"jwt_issuer": "https://id.example.com"}, "jwt_keys_url"),
        ({"jwt_issuer": "me", "jwt_keys_url": "https://id.example.com/keys"}, "no http address"),
        ({"jwt_issuer": "https://id.example.com", "jwt_keys_url": "http://id.example.com/keys"}, "https"),
        (
            {"jwt_issuer": "https://x.example", "jwt_keys_url": "https://x.example/k", "jwt_algorithms": "HS256"},
            "HS256",
        ),
    ],
)
def test_settings_that_cannot_work_end_it_at_once(tmp_path: Path, given: dict[str, str], said: str) -> None:
    """H5: nothing listens where strangers can reach it without a word about who they are."""
    done = subprocess.run(
        SERVE, env=dict(settings(tmp_path, **given)), capture_output=True, text=True, timeout=HANG_S, check=False
    )
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "memory.db").exists()


async def test_logs_are_json_on_request(tmp_path: Path) -> None:
    with web_process(tmp_path, log_format="json") as web:
        async with httpx2.AsyncClient(base_url=web.base) as http:
            await http.post("/messages/?session_id=secret", json={})
        assert web.stop()[0] == 0
        lines = [json.loads(line) for line in web.logged().splitlines()]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    access = next(line for line in lines if line["logger"] == "mcp_memory_server.access")
    assert (access["method"], access["path"], access["status"]) == ("POST", "/messages/", 400)
    assert "secret" not in web.logged()
