"""The library's write API: one write, or several that happen together, each with the options it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mcp_memory_server.errors import NotSupported
from mcp_memory_server.providers.base import (
    MemoryProvider,
    WriteOption,
    WriteRequest,
    Written,
    can_write,
    can_write_many,
)

from .asking import NOTHING_ASKED, WriteOptions, assert_provider_honours
from .binding import bind_write_options

_NOTHING_WRITTEN: Final = "Nothing was written. Configure a store that can."


async def put(provider: MemoryProvider, request: WriteRequest, options: WriteOptions = NOTHING_ASKED) -> Written:
    """Write, over the version that `request.if_version` names where it names one.

    Raises:
        OptionNotHonoured: an option that the provider does not honour is asked for; nothing was written.
        NotSupported: the provider is read-only.
        Conflict, InvalidInput: as `WritingProvider.write` does.
    """
    target = _asked_of(provider, (request,), options)
    if not can_write(target):
        raise NotSupported(target.capabilities.provider, "be written to", _NOTHING_WRITTEN)
    return await target.write(request)


async def put_many(
    provider: MemoryProvider, requests: Sequence[WriteRequest], options: WriteOptions = NOTHING_ASKED
) -> tuple[Written, ...]:
    """Write all of them or none, in order, as `BulkProvider.write_many` does.

    Raises:
        OptionNotHonoured: an option that the provider does not honour is asked for; nothing was written.
        NotSupported: the provider cannot write several at once.
        Conflict, InvalidInput: of one of them; nothing was written.
    """
    target = _asked_of(provider, requests, options)
    if not can_write_many(target):
        raise NotSupported(target.capabilities.provider, "write several at once", _NOTHING_WRITTEN)
    return await target.write_many(requests)


def _asked_of(provider: MemoryProvider, requests: Sequence[WriteRequest], options: WriteOptions) -> MemoryProvider:
    """The provider as the options have it, when it honours all that is asked for."""
    asked = set(options.asked)
    if any(request.extraction for request in requests):
        asked.add(WriteOption.EXTRACTION)
    assert_provider_honours(provider, *asked)
    return bind_write_options(provider, extraction=options.extraction, namespace=options.namespace_scope)
