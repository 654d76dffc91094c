"""The library's write API, for hosts: conclusions with write options, and several of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_memory_server.errors import InvalidInput, Problem
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.policy import write_verdict
from mcp_memory_server.providers.base import WriteRequest
from mcp_memory_server.providers.options import (
    NOTHING_ASKED,
    WriteOptions,
    assert_provider_honours,
    bind_write_options,
    put_many,
)

from .remember import Remembered, RememberRequest, admitted, concluded_at, own_scope, remember, told
from .wiring import Wiring


@dataclass(frozen=True, slots=True)
class Writes:
    """Writes as `remember` makes them: an assistant's conclusions, at own scopes, under the same rules.

    Options that hold for every write of a host are better bound to the provider that the service is given
    (`providers.options.bind_write_options`): then every read is confined by the namespace, too.
    """

    wiring: Wiring

    async def put(
        self, context: RequestContext, request: RememberRequest, options: WriteOptions = NOTHING_ASKED
    ) -> Remembered:
        """Record one conclusion; see `remember.remember`.

        Raises:
            OptionNotHonoured: an option that the provider does not honour is asked for; nothing was written.
            InvalidInput, Refused, Conflict, NotFound, NotSupported: as `remember` does.
        """
        return await remember(self._asked(options), context, request)

    async def put_many(
        self, context: RequestContext, requests: Sequence[RememberRequest], options: WriteOptions = NOTHING_ASKED
    ) -> tuple[Remembered, ...]:
        """Record all of them, in order, or none.

        Raises:
            InvalidInput: every wrong argument of every request, by its place; nothing was written.
            OptionNotHonoured, Refused, Conflict, NotFound, NotSupported: for any of them; nothing was written.
        """
        asked = self._asked(options)
        places = [await concluded_at(asked, context, request) for request in requests]
        drafts = await _drafts(asked, context, requests, places)
        written = await put_many(asked.provider, drafts)
        return tuple(
            [
                await told(asked, context, scopes, draft, done)
                for scopes, draft, done in zip(places, drafts, written, strict=True)
            ]
        )

    def _asked(self, options: WriteOptions) -> Wiring:
        """The wiring over the provider as the options have it."""
        provider = self.wiring.provider
        assert_provider_honours(provider, *options.asked)
        bound = bind_write_options(provider, extraction=options.extraction, namespace=options.namespace_scope)
        return replace(self.wiring, provider=bound)


async def _drafts(
    wiring: Wiring, context: RequestContext, requests: Sequence[RememberRequest], places: Sequence[tuple[str, ...]]
) -> list[WriteRequest]:
    drafts: list[WriteRequest] = []
    problems: list[Problem] = []
    for number, (request, scopes) in enumerate(zip(requests, places, strict=True), start=1):
        scope = own_scope(context, request.where)
        write_verdict(context.actor, scopes, scope, "agent").require()
        try:
            drafts.append(await admitted(wiring, context, request, scopes, scope, author="agent"))
        except InvalidInput as error:
            problems.extend(Problem(f"write {number}: {problem.argument}", problem.fault) for problem in error.problems)
    if problems:
        raise InvalidInput(*problems)
    return drafts
