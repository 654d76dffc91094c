"""The way in over HTTP: who is let in, under which name, how much and how often."""

import logging
import socket
from collections.abc import AsyncGenerator
from contextlib import ExitStack, suppress

import anyio
import httpx2
import mcp_types as types
import pytest

from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.identity import Actor
from mcp_memory_server.server.http.running import check_exposure, listening
from tests.server.answers import called

from .conftest import ACCEPT, ENDPOINTS, INITIALIZE, Serve, settings_of

ANN = Actor("ann", "acme")


@pytest.mark.parametrize("how", ENDPOINTS)
async def test_every_kind_of_client_is_served(serve: Serve, how: str) -> None:
    async with serve() as site, site.client(how) as client:
        await called(client, "remember", key="office", fact="Lyon")
        assert [entry["text"] for entry in (await called(client, "recall_digest"))["entries"]] == ["Lyon"]


async def test_a_transport_that_was_not_asked_for_is_not_there(serve: Serve) -> None:
    async with serve(transport="streamable-http") as site, site.http() as http:
        assert (await http.get("/sse")).status_code == 404
        assert (await http.post("/messages/")).status_code == 404
    async with serve(transport="sse") as site, site.http() as http:
        assert (await http.post("/mcp", json=INITIALIZE, headers=ACCEPT)).status_code == 404


# --- tokens ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "mms_wrong", "a.b.c", "\xff"])
@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages/?session_id=0123456789abcdef0123456789abcdef"])
async def test_without_a_good_token_nothing_is_answered(serve: Serve, path: str, token: str | None) -> None:
    """H6: no token, a bad token: 401, and nothing listed."""
    async with serve(tokens=True) as site, site.http() as http:
        site.token(ANN)
        headers = [(b"accept", ACCEPT["Accept"].encode())]
        if token is not None:
            headers.append((b"authorization", f"Bearer {token}".encode("latin-1")))
        method = "GET" if path == "/sse" else "POST"
        answer = await http.request(method, path, headers=headers, json=INITIALIZE if method == "POST" else None)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer ")
        assert "resource_metadata" not in answer.headers["www-authenticate"]  # people hand these tokens out
        assert answer.json() == {"error": "invalid_token", "error_description": "Authentication required"}


async def test_a_revoked_token_lets_nobody_in_at_once(serve: Serve) -> None:
    async with serve(tokens=True) as site:
        token = site.token(ANN)
        async with site.http(token) as http:
            assert (await http.post("/mcp", json=INITIALIZE, headers=ACCEPT)).status_code == 200
            assert site.tokens.revoke("ann")
            assert (await http.post("/mcp", json=INITIALIZE, headers=ACCEPT)).status_code == 401


@pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed:UserWarning")
@pytest.mark.parametrize("how", ENDPOINTS)
async def test_the_token_that_lists_is_the_token_that_calls(serve: Serve, how: str) -> None:
    """H8: one rule for lists, calls, resources, subscriptions, prompts and completions."""
    async with serve(tokens=True) as site, site.client(how, site.token(ANN)) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"remember", "recall_digest", "forget"}
        await called(client, "remember", key="office", fact="Lyon")
        assert (await client.list_resources()).resources
        assert (await client.read_resource("memory://block")).contents
        assert (await client.list_prompts()).prompts
        assert (await client.get_prompt("load_memory")).messages
        scope = types.ResourceTemplateReference(uri="memory://scopes/{scope}")
        values = (await client.complete(scope, {"name": "scope", "value": ""})).completion.values
        assert values == ["actor:ann", "tenant:acme", "global"]
        if how == "auto":
            async with client.listen(resource_subscriptions=["memory://block"]):
                assert site.web.subscribers == 1
        else:
            await client.subscribe_resource("memory://block")  # pyright: ignore[reportDeprecated]
            assert site.web.subscribers == 1


async def test_a_token_file_that_is_broken_later_lets_nobody_in(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    async with serve(tokens=True) as site:
        token = site.token(ANN)
        site.tokens.path.write_text("{", "utf-8")
        async with site.http(token) as http:
            assert (await http.post("/mcp", json=INITIALIZE, headers=ACCEPT)).status_code == 401
    assert "Nobody is let in by it." in caplog.text


async def test_a_session_serves_the_credential_that_made_it_and_no_other(serve: Serve) -> None:
    async with serve(tokens=True) as site:
        ann, bob = site.token(ANN), site.token(Actor("bob", "acme"))
        async with site.http(ann) as hers, site.http(bob) as his:
            session = (await hers.post("/mcp", json=INITIALIZE, headers=ACCEPT)).headers["mcp-session-id"]
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            headers = {**ACCEPT, "Mcp-Session-Id": session}
            stolen = await his.post("/mcp", json=listing, headers=headers)
            unknown = await his.post("/mcp", json=listing, headers={**ACCEPT, "Mcp-Session-Id": "0" * 32})
            assert stolen.status_code == unknown.status_code == 404
            assert stolen.content == unknown.content
            assert (await hers.post("/mcp", json=listing, headers=headers)).status_code == 200


async def test_a_session_over_sse_serves_the_credential_that_made_it_and_no_other(serve: Serve) -> None:
    async with serve(tokens=True) as site:
        ann, bob = site.token(ANN), site.token(Actor("bob", "acme"))
        async with site.http(ann) as hers, site.http(bob) as his, hers.stream("GET", "/sse") as stream:
            lines = stream.aiter_lines()
            while not (line := await anext(lines)).startswith("data:"):
                pass
            endpoint = line.removeprefix("data:").strip()
            stolen = await his.post(endpoint, json=INITIALIZE)
            unknown = await his.post(f"/messages/?session_id={'0' * 32}", json=INITIALIZE)
            assert stolen.status_code == unknown.status_code == 404
            assert stolen.content == unknown.content
            assert (await hers.post(endpoint, json=INITIALIZE)).status_code == 202


async def test_an_open_stream_ends_when_its_token_is_revoked(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_memory_server.server.http.limits.RECHECK_S", 0.05)
    async with serve(tokens=True) as site, site.http(site.token(ANN)) as http, http.stream("GET", "/sse") as stream:
        lines = stream.aiter_lines()
        await anext(lines)
        site.tokens.revoke("ann")
        with anyio.fail_after(10), suppress(httpx2.RemoteProtocolError):  # the stream breaks off
            async for _ in lines:
                pass


# --- names, origins, sizes ------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [False, True])
@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages/", "/anything"])
async def test_a_foreign_name_or_page_is_refused(serve: Serve, path: str, tokens: bool) -> None:
    """H7: a page that makes its own name lead here (DNS rebinding), and a page of another origin."""
    async with serve(tokens=tokens) as site, site.http() as http:
        assert (await http.get(path, headers={"Host": "evil.example"})).status_code == 421
        assert (await http.get(path, headers={"Origin": "https://evil.example"})).status_code == 403
        assert (await http.get(path, headers={"Host": "127.0.0.1.evil.example:80"})).status_code == 421


async def test_a_named_host_and_origin_are_let_through(serve: Serve) -> None:
    given = {"allowed_host": "memory.example.com", "allowed_origin": "https://chat.example.com"}
    async with serve(**given) as site, site.http() as http:
        headers = {**ACCEPT, "Host": "memory.example.com", "Origin": "https://chat.example.com"}
        answer = await http.post("/mcp", json=INITIALIZE, headers=headers)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://chat.example.com"
        assert "mcp-session-id" in answer.headers["access-control-expose-headers"].lower()


async def test_a_page_of_an_allowed_origin_may_ask_before_it_sends(serve: Serve) -> None:
    """H9: the preflight of a browser, which carries no token, is answered; that of another page is not."""
    ask = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,mcp-session-id"}
    async with serve(tokens=True, allowed_origin="https://chat.example.com") as site, site.http() as http:
        good = await http.options("/mcp", headers={**ask, "Origin": "https://chat.example.com"})
        assert good.status_code == 200
        assert good.headers["access-control-allow-origin"] == "https://chat.example.com"
        assert "authorization" in good.headers["access-control-allow-headers"]
        local = await http.options("/mcp", headers={**ask, "Origin": "http://localhost:6274"})
        assert local.headers["access-control-allow-origin"] == "http://localhost:6274"
        for origin in ("https://evil.example", "http://localhost:6274.evil.example", "https://chat.example.com.evil"):
            bad = await http.options("/mcp", headers={**ask, "Origin": origin})
            assert bad.status_code == 400
            assert "access-control-allow-origin" not in bad.headers
        refused = await http.post("/mcp", json=INITIALIZE, headers={**ACCEPT, "Origin": "https://chat.example.com"})
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == "https://chat.example.com"


async def test_a_body_that_is_too_large_is_refused(serve: Serve) -> None:
    async with serve(max_body_bytes=2000) as site, site.http() as http:
        large = {**INITIALIZE, "padding": "x" * 3000}
        for path in ("/mcp", f"/messages/?session_id={'0' * 32}"):
            assert (await http.post(path, json=large, headers=ACCEPT)).status_code == 413

        async def chunks() -> AsyncGenerator[bytes]:
            for _ in range(30):
                yield b"x" * 100

        headers = {**ACCEPT, "Content-Type": "application/json"}
        assert (await http.post("/mcp", content=chunks(), headers=headers)).status_code == 413


async def test_no_more_sessions_than_allowed_are_open(serve: Serve) -> None:
    async with serve(max_sessions=1) as site, site.http() as http:
        first = await http.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        assert (await http.post("/mcp", json=INITIALIZE, headers=ACCEPT)).status_code == 503
        await http.delete("/mcp", headers={"Mcp-Session-Id": first.headers["mcp-session-id"]})
        assert (await http.post("/mcp", json=INITIALIZE, headers=ACCEPT)).status_code == 200
        async with http.stream("GET", "/sse") as stream:
            await anext(stream.aiter_lines())
            refused = await http.get("/sse")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")


async def test_who_sends_more_than_their_share_is_told_when_to_try_again(serve: Serve) -> None:
    """By caller, not by connection: Ann's flood is not Bob's business."""
    async with serve(tokens=True, requests_per_minute=30) as site:
        ann, bob = site.token(ANN), site.token(Actor("bob", "acme"))
        async with site.http(ann) as hers, site.http(bob) as his:
            answers = [await hers.post("/mcp", json=INITIALIZE, headers=ACCEPT) for _ in range(7)]
            assert [answer.status_code for answer in answers[:5]] == [200] * 5
            assert answers[-1].status_code == 429
            assert answers[-1].headers["retry-after"] in ("1", "2")
            assert (await his.post("/mcp", json=INITIALIZE, headers=ACCEPT)).status_code == 200
            assert (await hers.get("/readyz")).status_code == 200


# --- what runs beside -----------------------------------------------------------------------------------


async def test_health_is_told_to_everybody_and_readiness_follows_the_store(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(tokens=True) as site, site.http() as http:
        headers = {"Host": "10.1.2.3:8000"}  # as an orchestrator asks
        assert (await http.get("/healthz", headers=headers)).text == "ok\n"
        assert (await http.get("/readyz", headers=headers)).text == "ok\n"
        monkeypatch.setattr("mcp_memory_server.server.http.health._KEPT_S", 0.0)
        monkeypatch.setattr("mcp_memory_server.server.http.health._STORE_S", 0.05)
        monkeypatch.setattr(site.service.provider, "list", never)
        late = await http.get("/readyz", headers=headers)
        assert (late.status_code, late.text) == (503, "the store does not answer\n")
        assert (await http.get("/healthz", headers=headers)).status_code == 200


async def never(_: object) -> None:
    await anyio.sleep_forever()


async def test_the_log_of_requests_holds_no_secret(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with serve(tokens=True) as site:
        token = site.token(ANN)
        async with site.client("sse", token) as client:
            await called(client, "remember", key="office", fact="Lyon am Rhein")
        async with site.http(token) as http:
            await http.post("/mcp?query=Rhein", json={"bad": "Rhein"}, headers=ACCEPT)
    lines = [record.getMessage() for record in caplog.records if record.name == "mcp_memory_server.access"]
    assert any(line.startswith("POST /messages/ 202 ") for line in lines)
    assert any(line.startswith("POST /mcp 400 ") for line in lines)
    assert "session_id" not in "".join(lines)
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name != "httpx2")  # the client's
    assert token not in ours
    assert "Rhein" not in ours


# --- where it may be served -----------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "memory.example.com"])
def test_other_machines_are_not_served_without_asking_who_they_are(host: str) -> None:
    """H5: the default is loopback, and anything else refuses to start without tokens or a word."""
    assert settings_of({}).is_loopback
    with pytest.raises(ConfigurationError, match="--insecure"):
        check_exposure(settings_of({"host": host, "allowed_host": "memory.example.com"}))
    with pytest.raises(ConfigurationError, match="--allowed-host"):
        check_exposure(settings_of({"host": host, "insecure": "true"}))
    check_exposure(settings_of({"host": host, "insecure": "true", "allowed_host": "memory.example.com"}))
    check_exposure(settings_of({"host": host, "token_file": "x", "public_url": "https://memory.example.com/mcp"}))


def test_answers_do_not_wait_for_what_was_sent_before_to_be_confirmed() -> None:
    """Head and body of an answer are sent one after the other; together with a client that confirms late: 40 ms."""
    with listening("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()[:2]):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_that_is_taken_is_told() -> None:
    with ExitStack() as opened:
        port = opened.enter_context(listening("127.0.0.1", 0)).getsockname()[1]
        with pytest.raises(ConfigurationError, match="cannot listen"):
            opened.enter_context(listening("127.0.0.1", port))
