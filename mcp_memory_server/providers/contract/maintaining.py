"""What a store tells its operator."""

from mcp_memory_server.providers.base import Group, PageRequest

from .registry import check
from .samples import ANN, minute, remember
from .store import Store, opened


@check(Group.WRITE, Group.MAINTAIN)
async def a_sound_store_has_no_fault_and_looking_changes_nothing(store: Store) -> None:
    async with opened(store) as provider:
        record = await remember(provider, "office", "Lyon")
        before = await provider.changes(None)
        condition = await provider.examine()
        assert condition.faults == ()
        assert await provider.changes(None) == before
        assert await provider.page(PageRequest(ANN, limit=9)) == (record,)


@check(Group.WRITE, Group.MAINTAIN)
async def the_condition_of_a_store_holds_no_text(store: Store) -> None:
    async with opened(store) as provider:
        await remember(provider, "office", "somewhere-in-Lyon")
        assert "somewhere-in-Lyon" not in repr(await provider.examine())


@check(Group.BROWSE, Group.MAINTAIN)
async def the_last_maintenance_is_remembered(store: Store) -> None:
    async with opened(store) as provider:
        for number in (3, 5):
            await provider.record_maintenance(minute(number))
            assert (await provider.stats((ANN,))).last_maintenance == minute(number)
