"""One actor id in two tenants: two people, as far as anybody can know."""

import pytest

from mcp_memory_server import Actor, MemoryService, RequestContext, open_provider
from mcp_memory_server.errors import NotFound

ACME = RequestContext(Actor("ann", tenant_id="acme"))
GLOBEX = RequestContext(Actor("ann", tenant_id="globex"))


async def test_a_turn_of_one_tenant_is_not_replayed_to_another() -> None:
    async with open_provider("memory://") as provider, MemoryService(provider) as service:
        await service.state(ACME, "margin", "Acme's margin is thin", scope="tenant:acme", elevated=True)
        shown = await service.offer(ACME, turn_id="1")
        assert [entry.key for entry in shown.digest.entries] == ["margin"]
        assert (await service.offer(GLOBEX, turn_id="1")).digest.entries == ()
        assert shown.digest.digest_id is not None
        with pytest.raises(NotFound):
            await service.offer(GLOBEX, digest_id=shown.digest.digest_id)


async def test_looking_something_up_leaves_no_turn_behind() -> None:
    async with open_provider("memory://") as provider, MemoryService(provider) as service:
        await service.remember(ACME, "tea", "Drinks green tea")
        peeked = await service.peek(ACME, 200)
        assert [entry.key for entry in peeked.entries] == ["tea"]
        assert peeked.digest_id is None
