"""The write API for hosts (spec 10.3): `service.writes`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from mcp_memory_server.errors import Conflict, InvalidInput, OptionNotHonoured, Refused
from mcp_memory_server.policy import derivation_verdict
from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.base import Capabilities, Group, MemoryProvider
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.providers.options import WriteOptions, bind_write_options
from mcp_memory_server.service import MemoryService, RememberRequest
from tests.people import ANN, ANN_IN_SHOP, Membership

SKIP = WriteOptions(extraction="skip")
IN_ACME = WriteOptions(namespace_scope={"tenant": "acme"})


@asynccontextmanager
async def serving() -> AsyncGenerator[MemoryService]:
    async with open_provider("memory://") as provider, MemoryService(provider) as service:
        yield service


def asked(key: str, fact: str, if_version: int | None = None) -> RememberRequest:
    return RememberRequest(key, fact, if_version=if_version)


async def facts(service: MemoryService) -> list[str]:
    return [entry.text for entry in (await service.offer(ANN)).digest.entries]


async def test_a_put_is_a_conclusion_like_any_other() -> None:
    async with serving() as service:
        done = await service.writes.put(ANN, asked(" office ", "Lyon\n"), SKIP)
        record = done.record
        assert (done.status, record.key, record.text, record.scope) == ("stored", "office", "Lyon", "actor:ann")
        assert (record.origin.author, record.origin.actor_ref, record.extraction) == ("agent", "ann", "skip")
        assert await facts(service) == ["Lyon"]


async def test_several_puts_are_answered_one_by_one() -> None:
    async with serving() as service:
        await service.remember(ANN, "office", "Lyon")
        replaced, stored = await service.writes.put_many(
            ANN_IN_SHOP, [asked("office", "Porto"), RememberRequest("office", "Nice", where="project")]
        )
        assert (replaced.status, replaced.previous and replaced.previous.text) == ("replaced", "Lyon")
        assert (stored.record.scope, [override.text for override in stored.overrides]) == ("actor:ann#shop", ["Porto"])


async def test_several_puts_happen_all_or_none() -> None:
    """10.3: `put_many`; and every wrong argument of every write is named at once."""
    async with serving() as service:
        await service.remember(ANN, "office", "Lyon")
        with pytest.raises(Conflict):
            await service.writes.put_many(ANN, [asked("tz", "UTC"), asked("office", "Porto", if_version=7)])
        with pytest.raises(InvalidInput) as wrong:
            await service.writes.put_many(ANN, [asked("tz", "UTC"), asked("a:b", "x"), asked("key", " ")])
        assert [problem.argument for problem in wrong.value.problems] == ["write 2: key", "write 3: fact"]
        with pytest.raises(InvalidInput, match="no project is configured"):
            await service.writes.put_many(ANN, [asked("tz", "UTC"), RememberRequest("key", "x", where="project")])
        assert await facts(service) == ["Lyon"]


async def test_puts_go_where_policy_lets_the_actor_write() -> None:
    async with open_provider("memory://") as provider:
        service = MemoryService(provider, resolver=Membership(["tenant:acme"]))
        with pytest.raises(Refused):
            await service.writes.put_many(ANN, [asked("tz", "UTC")])


async def test_a_put_in_a_namespace_is_read_by_a_service_that_is_bound_to_it() -> None:
    async with serving() as service:
        await service.writes.put(ANN, asked("office", "Lyon"), IN_ACME)
        again = await service.writes.put(ANN, asked("office", "Porto", if_version=1), IN_ACME)
        assert again.status == "replaced"
        assert await facts(service) == []
        assert await facts(MemoryService(bind_write_options(service.provider, namespace={"tenant": "acme"}))) == [
            "Porto"
        ]


async def test_what_the_provider_does_not_honour_is_refused_and_nothing_is_written() -> None:
    class Plain(InMemoryProvider):
        @property
        def capabilities(self) -> Capabilities:
            return Capabilities("plain", frozenset(Group))

    provider: MemoryProvider = Plain()
    service = MemoryService(provider)
    for options in (SKIP, IN_ACME):
        with pytest.raises(OptionNotHonoured):
            await service.writes.put(ANN, asked("office", "Lyon"), options)
        with pytest.raises(OptionNotHonoured):
            await service.writes.put_many(ANN, [asked("office", "Lyon")], options)
    assert await facts(service) == []


async def test_nothing_is_derived_from_what_was_written_with_skip() -> None:
    """10.3: `extraction="skip"`: "keep it, derive nothing from it"."""
    async with serving() as service:
        kept = (await service.writes.put(ANN, asked("health", "on leave"), SKIP)).record
        plain = (await service.remember(ANN, "office", "Lyon")).record
    assert derivation_verdict([])
    assert derivation_verdict([plain])
    refused = derivation_verdict([plain, kept])
    assert not refused
    assert kept.id in refused.reason
    assert kept.text not in refused.reason
