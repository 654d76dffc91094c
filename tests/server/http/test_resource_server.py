"""The server as an OAuth 2.1 resource server: what clients are told, and which JWTs come in."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import AnyHttpUrl

from mcp_memory_server.server.auth import Addresses, Authentication
from mcp_memory_server.server.auth.jwt_verifier import JwtRules
from tests.server.answers import called
from tests.server.auth.test_jwt import AUDIENCE, ISSUER, Issuer, signed

from .conftest import ACCEPT, INITIALIZE, Serve, Site

METADATA = "https://memory.example.com/.well-known/oauth-protected-resource/mcp"


@asynccontextmanager
async def resource_server(serve: Serve, *scopes: str) -> AsyncGenerator[Site]:
    addresses = Addresses(AnyHttpUrl(AUDIENCE), AnyHttpUrl(ISSUER + "/realm"))
    verifier = Issuer().verifier(JwtRules(ISSUER, AUDIENCE))
    async with serve(authentication=Authentication(verifier, addresses, scopes)) as site:
        yield site


async def test_who_is_turned_away_is_told_where_to_get_a_token(serve: Serve) -> None:
    """H9: the 401 leads to the metadata, which leads to the issuer; both need no token."""
    async with resource_server(serve, "memory") as site, site.http() as http:
        refused = await http.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        assert refused.status_code == 401
        assert f'resource_metadata="{METADATA}"' in refused.headers["www-authenticate"]
        told = (await http.get("/.well-known/oauth-protected-resource/mcp")).json()
        assert told["resource"] == AUDIENCE
        assert told["authorization_servers"] == [ISSUER + "/realm"]
        assert told["scopes_supported"] == ["memory"]


async def test_a_token_without_the_scope_is_not_enough(serve: Serve) -> None:
    async with resource_server(serve, "memory") as site:
        for token, status in ((signed(), 403), (signed(scope="memory"), 200), (signed(aud="https://other"), 401)):
            async with site.http(token) as http:
                answer = await http.post("/mcp", json=INITIALIZE, headers=ACCEPT)
                assert answer.status_code == status
                if status == 403:
                    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


async def test_the_actor_the_tenant_and_the_roles_are_those_of_the_token(serve: Serve) -> None:
    async with resource_server(serve) as site:
        for how in ("auto", "legacy", "sse"):
            async with site.client(how, signed(sub="zoe", tenant="initech", roles=["memory:reader"])) as client:
                listed = {tool.name for tool in (await client.list_tools()).tools}
                assert "recall_digest" in listed
                assert not {"remember", "forget"} & listed
                scopes = (await called(client, "recall_digest"))["scopes"]
                assert scopes == ["actor:zoe", "tenant:initech", "global"]


async def test_threads_are_told_apart_where_one_process_serves_many(serve: Serve) -> None:
    """Two sessions of one person are two conversations; requests without a session belong to none."""
    async with serve() as site:
        threads: list[Any] = []
        for how in ("legacy", "legacy", "sse", "auto"):
            async with site.client(how) as client:
                record = (await called(client, "remember", key=f"key {len(threads)}", fact="Lyon"))["record"]
                (held,) = await site.service.find(("actor:ann",), id=record["id"])
                threads.append(held.origin.thread_id)
        assert threads.pop() is None
        assert len(set(threads)) == 3
        assert all(thread.startswith("session-") for thread in threads)
