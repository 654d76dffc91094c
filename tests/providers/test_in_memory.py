"""The in-memory provider, where it is more than the contract asks of every provider."""

import anyio
import pytest

from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.base import AuditLine, Change, ForgetRequest, RestoreRequest
from mcp_memory_server.providers.contract.samples import ANN, minute, raw_record, remember
from mcp_memory_server.providers.in_memory import InMemoryProvider, open_in_memory


async def test_each_open_is_a_fresh_store() -> None:
    async with open_in_memory("memory://") as first, open_in_memory("memory://") as second:
        await remember(first, "office", "Lyon")
        assert await first.scopes() == (ANN,)
        assert await second.scopes() == ()


@pytest.mark.parametrize("url", ["memory://name", "memory:///path", "memory://?a=b"])
async def test_a_url_with_more_than_the_scheme_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="memory://"):
        async with open_provider(url):
            pass


async def test_what_was_forgotten_leaves_an_audit_line_without_content() -> None:
    async with open_in_memory("memory://") as provider:
        record = await remember(provider, "office", "Lyon")
        await provider.forget(ForgetRequest(ANN, record.id, by="bob", at=minute(5), reason="asked to"))
        assert list(provider.audit) == [AuditLine(ANN, record.id, "bob", minute(5), "asked to")]


async def test_the_change_feed_keeps_the_newest_and_says_when_that_is_not_enough() -> None:
    async with open_in_memory("memory://") as provider:
        records = tuple((raw_record(f"id-{number}", f"key {number}", "text"),) for number in range(10_001))
        await provider.restore(RestoreRequest(records, minute(1)))
        assert (await provider.changes(0)).gap
        batch = await provider.changes(1)
        assert not batch.gap
        assert len(batch.changes) == 10_000
        assert batch.changes[-1] == Change(ANN, "id-10000")


async def test_a_call_that_was_cancelled_before_it_began_has_done_nothing() -> None:
    provider = InMemoryProvider()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await remember(provider, "office", "Lyon")
    assert scope.cancelled_caught
    assert await provider.scopes() == ()
