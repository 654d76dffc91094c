"""The resources: the block for the prompt, and everything that a person may want to see behind it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import mcp_types as types

from mcp_memory_server.identity import RequestContext
from mcp_memory_server.service import Form, MemoryService, Offered

from .arguments import whole_number
from .tools import digest_json
from .uris import (
    BLOCK,
    DIGEST,
    PENDING,
    RECORDS,
    SCOPES,
    STATS,
    WORKING,
    Address,
    page_cursor,
    parse,
    require_known_variables,
    scope_uri,
)

_TEXT: Final = "text/plain"
_JSON: Final = "application/json"

_FOR_MODELS = types.Annotations(audience=["assistant"], priority=1.0)
_FOR_PEOPLE = types.Annotations(audience=["user"], priority=0.5)

LISTED: Final = (
    types.Resource(
        uri=BLOCK,
        name="memory-block",
        title="Memory block",
        description="What is remembered about the user and their organisation, ready for a prompt.",
        mime_type=_TEXT,
        annotations=_FOR_MODELS,
    ),
    types.Resource(
        uri=DIGEST,
        name="memory-digest",
        title="Memory digest",
        description="The facts of the block as data: ids, scopes, who said them, what they override.",
        mime_type=_JSON,
        annotations=_FOR_PEOPLE,
    ),
    types.Resource(
        uri=STATS,
        name="memory-stats",
        title="Memory statistics",
        description="Your scopes, in order of precedence, and how much is held at each.",
        mime_type=_JSON,
        annotations=_FOR_PEOPLE,
    ),
    types.Resource(
        uri=PENDING,
        name="memory-pending",
        title="Waiting for review",
        description="What waits for the user's decision: who recorded it, when and where, and why it is held.",
        mime_type=_JSON,
        annotations=_FOR_PEOPLE,
    ),
)

TEMPLATES: Final = (
    types.ResourceTemplate(
        uri_template=BLOCK + "{?query,as_of,known_at,max_tokens}",
        name="memory-block-for-query",
        title="Memory block for a question",
        description="The facts that answer a question best, or were true or known at another time, ready for a prompt.",
        mime_type=_TEXT,
        annotations=_FOR_MODELS,
    ),
    types.ResourceTemplate(
        uri_template=DIGEST + "{?query,as_of,known_at,max_tokens}",
        name="memory-digest-for-query",
        title="Memory digest for a question",
        description="The facts of such a block as data, each with why it is there.",
        mime_type=_JSON,
        annotations=_FOR_PEOPLE,
    ),
    types.ResourceTemplate(
        uri_template=RECORDS + "{id}",
        name="memory-record",
        title="One memory",
        description="A fact with everything known about it, and its earlier versions.",
        mime_type=_JSON,
        annotations=_FOR_PEOPLE,
    ),
    types.ResourceTemplate(
        uri_template=SCOPES + "{scope}",
        name="memory-scope",
        title="Everything at a scope",
        description="All that is held at one of your scopes, page by page: `next` is the URI of the next page.",
        mime_type=_JSON,
        annotations=_FOR_PEOPLE,
    ),
    types.ResourceTemplate(
        uri_template=WORKING + "{label}",
        name="memory-working-block",
        title="One working block",
        description="The value of a working block, as it stands in the memory block.",
        mime_type=_TEXT,
        annotations=_FOR_MODELS,
    ),
)


async def read_resource(service: MemoryService, context: RequestContext, uri: str) -> types.ReadResourceResult:
    """The resource at `uri`, as it is for whoever asks.

    Raises:
        NotFound: there is no such resource, or none that the caller may see: the two look the same.
        InvalidInput: the URI has variables that it does not take.
    """
    address = parse(uri)
    require_known_variables(address)
    text, mime_type = await _READERS[address.head](service, context, address)
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.ReadResourceResult(contents=[contents])


_Read = tuple[str, str]


async def _block(service: MemoryService, context: RequestContext, address: Address) -> _Read:
    return service.block(await service.offer(context, **_turn(address))), _TEXT


async def _digest(service: MemoryService, context: RequestContext, address: Address) -> _Read:
    def as_json(offered: Offered) -> str:
        return _dump(digest_json(offered))

    return as_json(await service.offer(context, form=Form(as_json, short=None), **_turn(address))), _JSON


def _turn(address: Address) -> dict[str, Any]:
    """What the variables of a block or a digest ask for; `require_known_variables` has looked at their names.

    Raises:
        InvalidInput: `max_tokens` is no number.
    """
    turn: dict[str, Any] = dict(address.variables)
    if given := turn.pop("max_tokens", ""):
        turn["max_tokens"] = whole_number("max_tokens", given)
    return turn


async def _record(service: MemoryService, context: RequestContext, address: Address) -> _Read:
    *history, current = await service.record_versions(context, address.name)
    shown = {
        "record": current.model_dump(mode="json"),
        "history": [version.model_dump(mode="json") for version in reversed(history)],
    }
    return _dump(shown), _JSON


async def _scope(service: MemoryService, context: RequestContext, address: Address) -> _Read:
    page = await service.page(context, address.name, page_cursor(address))
    shown: dict[str, Any] = {
        "scope": page.scope,
        "records": [record.model_dump(mode="json") for record in page.records],
    }
    if page.next_after is not None:
        shown["next"] = scope_uri(page.scope, page.next_after)
    return _dump(shown), _JSON


async def _working(service: MemoryService, context: RequestContext, address: Address) -> _Read:
    block = (await service.kinds.blocks.find(context, address.name)).working
    return block.value if block else "", _TEXT


async def _stats(service: MemoryService, context: RequestContext, _: Address) -> _Read:
    stats = await service.stats(context)
    held = {count.scope: count.records for count in stats.by_scope}
    shown: dict[str, Any] = {
        "scopes": [
            {"scope": scope, "records": held.get(scope, 0), "uri": scope_uri(scope)}
            for scope in await service.scopes(context)
        ],
        "records": stats.records,
        "pinned": stats.pinned,
        "versions": stats.versions,
        "by_kind": dict(stats.by_kind),
        "by_status": dict(stats.by_status),
    }
    if stats.last_write is not None:
        shown["last_write"] = stats.last_write
    if stats.last_maintenance is not None:
        shown["last_maintenance"] = stats.last_maintenance
    return _dump(shown), _JSON


async def _pending(service: MemoryService, context: RequestContext, _: Address) -> _Read:
    waiting = await service.review.pending(context)
    return _dump({"pending": [pending.shown_to_people() for pending in waiting]}), _JSON


_READERS: Final[dict[str, Callable[[MemoryService, RequestContext, Address], Awaitable[_Read]]]] = {
    BLOCK: _block,
    DIGEST: _digest,
    RECORDS: _record,
    SCOPES: _scope,
    WORKING: _working,
    STATS: _stats,
    PENDING: _pending,
}


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
