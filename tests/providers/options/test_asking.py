"""Write options (spec 10.3): what may be asked for, and what is refused before anything is written."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from mcp_memory_server.errors import Conflict, InvalidOption, NotSupported, OptionNotHonoured
from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.base import Capabilities, Group, ListRequest, MemoryProvider, WriteOption
from mcp_memory_server.providers.contract.samples import ANN, writing
from mcp_memory_server.providers.in_memory import InMemoryProvider
from mcp_memory_server.providers.options import (
    NOTHING_ASKED,
    WriteOptions,
    assert_provider_honours,
    bind_write_options,
    put,
    put_many,
)

SKIP = WriteOptions(extraction="skip")
IN_ACME = WriteOptions(namespace_scope={"tenant": "acme"})


class HonoursNothing(InMemoryProvider):
    @property
    def capabilities(self) -> Capabilities:
        return Capabilities("plain", frozenset(Group))


class CannotWriteMany(InMemoryProvider):
    @property
    def capabilities(self) -> Capabilities:
        return Capabilities("one by one", frozenset(Group) - {Group.BULK})


async def texts_of(provider: MemoryProvider) -> list[str]:
    return [record.text for record in (await provider.list(ListRequest((ANN,)))).records]


@pytest.mark.parametrize("options", [SKIP, IN_ACME], ids=["extraction", "namespace_scope"])
async def test_what_is_not_honoured_is_refused_before_anything_is_written(options: WriteOptions) -> None:
    """10.3: "refused *before anything is written*, with an error that has a stable code, the provider's name, the
    option's name and the remedy, and never a value"."""
    provider = HonoursNothing()
    (option,) = options.asked
    for call in (put(provider, writing("key", "text"), options), put_many(provider, [writing("key", "text")], options)):
        with pytest.raises(OptionNotHonoured) as refused:
            await call
        assert (refused.value.code, refused.value.provider, refused.value.option) == (
            "option_not_honoured",
            "plain",
            option,
        )
        message = str(refused.value)
        assert "'plain'" in message
        assert option.value in message
        assert "leave the option unset" in message
        assert "acme" not in message
        assert "tenant" not in message
        assert "skip" not in message
    assert await texts_of(provider) == []


async def test_an_option_in_the_request_itself_counts_as_asked_for() -> None:
    """10.3: "A write may ask for options", however it asks."""
    provider = HonoursNothing()
    for call in (
        put(provider, writing("key", "text", extraction="allow")),
        put_many(provider, [writing("one", "text"), writing("two", "text", extraction="skip")]),
    ):
        with pytest.raises(OptionNotHonoured, match="extraction"):
            await call
    assert await texts_of(provider) == []


async def test_what_is_unset_asks_for_nothing() -> None:
    """10.3: "An option left unset, or an empty namespace, asks for nothing.\""""
    provider = HonoursNothing()
    for options in (NOTHING_ASKED, WriteOptions(), WriteOptions(namespace_scope={})):
        assert options.asked == frozenset()
        await put(provider, writing("key", "text"), options)
    assert bind_write_options(provider) is provider
    assert bind_write_options(provider, namespace={}) is provider
    assert await texts_of(provider) == ["text"]


@pytest.mark.parametrize("value", ["Skip", "none", 1, True, ["skip"], {"skip": "allow"}])
def test_a_wrong_extraction_is_a_type_error(value: Any) -> None:
    """10.3: "A wrong shape is a `TypeError` that names the option and not its value.\""""
    with pytest.raises(TypeError, match="extraction") as wrong:
        WriteOptions(extraction=value)
    assert repr(value) not in str(wrong.value)


@pytest.mark.parametrize(
    "value",
    [
        "xylocarp",
        ["tenant", "xylocarp"],
        {("tenant", "xylocarp")},
        {"tenant": 7},
        {7: "xylocarp"},
        {"tenant": None},
        {"tenant": ["xylocarp"]},
        {"tenant": ""},
        {"": "xylocarp"},
        {"tenant": " \t"},
        {"tenant": "xylocarp", "region": "\ud83d"},
        7,
    ],
)
def test_a_wrong_namespace_is_a_type_error(value: Any) -> None:
    """10.3: the same; and a blank is no name, for it would put everybody without one into one namespace."""
    for refused in (
        lambda: WriteOptions(namespace_scope=value),
        lambda: bind_write_options(InMemoryProvider(), namespace=value),
    ):
        with pytest.raises(TypeError, match="namespace_scope") as wrong:
            refused()
        assert isinstance(wrong.value, InvalidOption)
        assert "xylocarp" not in str(wrong.value)
        assert "tenant" not in str(wrong.value)


async def test_a_namespace_cannot_be_changed_behind_the_options() -> None:
    given = {"tenant": "acme"}
    options = WriteOptions(namespace_scope=given)
    given["tenant"] = "zenith"
    assert options.namespace_scope == {"tenant": "acme"}
    with pytest.raises(TypeError):
        cast("dict[str, str]", options.namespace_scope)["tenant"] = "zenith"


async def test_what_could_never_work_is_refused_at_start_up() -> None:
    """10.3: "`assert_provider_honours` refuses at start-up what could never work.\""""
    async with open_provider("memory://") as provider:
        assert_provider_honours(provider, *WriteOption)
        assert_provider_honours(provider, "extraction", "namespace_scope")
        assert_provider_honours(provider)
        with pytest.raises(InvalidOption, match=r"'tenancy' does not exist; there are extraction, namespace_scope"):
            assert_provider_honours(provider, "tenancy")
    assert_provider_honours(HonoursNothing())
    for name in WriteOption:
        with pytest.raises(OptionNotHonoured, match=name):
            assert_provider_honours(HonoursNothing(), name)


def test_binding_what_is_not_honoured_is_refused_at_once() -> None:
    """10.3: the same, for a provider that is bound; a function is refused before it is ever asked."""

    def namespace() -> Mapping[str, str]:
        raise AssertionError("nobody asks yet")

    for options in ({"extraction": "skip"}, {"namespace": {"tenant": "acme"}}, {"namespace": namespace}):
        with pytest.raises(OptionNotHonoured):
            bind_write_options(HonoursNothing(), **cast("Any", options))


async def test_put_many_writes_all_or_nothing() -> None:
    async with open_provider("memory://") as provider:
        one, two = await put_many(provider, [writing("one", "1"), writing("two", "2")], SKIP)
        assert (one.record.extraction, two.record.extraction) == ("skip", "skip")
        with pytest.raises(Conflict):
            await put_many(provider, [writing("one", "changed", at=1), writing("two", "2", at=1, if_version=7)], SKIP)
        assert sorted(await texts_of(provider)) == ["1", "2"]


async def test_a_conditional_put_goes_over_the_version_that_it_names() -> None:
    async with open_provider("memory://") as provider:
        await put(provider, writing("key", "first", if_version=0), IN_ACME)
        with pytest.raises(Conflict):
            await put(provider, writing("key", "second", if_version=0), IN_ACME)
        assert (await put(provider, writing("key", "second", if_version=1), IN_ACME)).record.version == 2
        # Outside the namespace there is no such key yet.
        assert (await put(provider, writing("key", "other", if_version=0))).status == "stored"


async def test_several_writes_are_not_passed_off_as_one_where_the_provider_cannot() -> None:
    provider = CannotWriteMany()
    with pytest.raises(NotSupported, match="write several at once"):
        await put_many(provider, [writing("one", "1"), writing("two", "2")])
    assert await texts_of(provider) == []


async def test_a_read_only_provider_is_not_put_to() -> None:
    class ReadOnly(InMemoryProvider):
        @property
        def capabilities(self) -> Capabilities:
            return Capabilities("read-only")

    with pytest.raises(NotSupported, match="be written to"):
        await put(ReadOnly(), writing("key", "text"))
