"""H1: many tenants in one store, who say the same: nobody ever hears a word of another."""

import random
import re
from pathlib import Path
from typing import Final

import pytest

from mcp_memory_server.identity import Actor, RequestContext
from tests.providers.postgres_server import fresh_url
from tests.server.answers import called

from .conftest import Serve

TENANTS: Final = {f"t{number:02}": RequestContext(Actor(f"ann-t{number:02}", f"t{number:02}")) for number in range(20)}
TOPICS: Final = ("office", "fiscal year", "review day", "lunch", "release train", "on-call", "colour", "budget")
QUERIES: Final = (
    *TOPICS,
    "",
    "mark-t07",
    "What is remembered about everybody?",
    "tenant:t03",
    "*",
    "' OR 1=1 --",
    "的",
)
LIMITS: Final = (1, 2, 10, 200)


def is_their_own(entries: object, tenant: str, query: str) -> bool:
    """Whether every mark in the entries is the tenant's; and there is one, unless nothing of theirs was asked for."""
    marks = set(re.findall(r"mark-(t\d\d)", str(entries)))
    return marks == {tenant} or (query not in (*TOPICS, "") and not marks)


@pytest.mark.parametrize("store", ["memory", "sqlite", "postgresql"])
async def test_nobody_hears_a_word_of_another_tenant(serve: Serve, tmp_path: Path, store: str) -> None:
    """A thousand questions of the service, any query with any limit, and a hundred over HTTP."""
    chance = random.Random(7)
    url = {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path}/memory.db"}.get(store) or fresh_url()
    async with serve(tokens=True, url=url, requests_per_minute=0) as site:
        for tenant, who in TENANTS.items():
            for topic in TOPICS:
                await site.service.remember(who, topic, f"The {topic} is the usual one, mark-{tenant}")
                wide = f"Of the {topic} all of us say the same, mark-{tenant}"
                await site.service.state(who, f"our {topic}", wide, scope=f"tenant:{tenant}", elevated=True)
        for _ in range(1000):
            tenant, query = chance.choice([*TENANTS]), chance.choice(QUERIES)
            offered = await site.service.offer(TENANTS[tenant], query, max_memories=chance.choice(LIMITS))
            assert is_their_own(offered.digest.entries, tenant, query)
        for tenant, who in TENANTS.items():
            async with site.client("auto", site.token(who.actor)) as client:
                for query in chance.sample(QUERIES, 5):
                    most = chance.choice(LIMITS)
                    digest = await called(client, "recall_digest", query=query, max_memories=most)
                    assert is_their_own(digest["entries"], tenant, query)
                    assert digest["scopes"] == [f"actor:ann-{tenant}", f"tenant:{tenant}", "global"]
