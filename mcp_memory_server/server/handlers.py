"""The protocol's requests, each handed to the part that answers it, on behalf of whoever asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import mcp_types as types

from mcp_memory_server.identity import RequestContext
from mcp_memory_server.policy import may
from mcp_memory_server.service import MemoryService
from mcp_memory_server.service.audience import Audience

from . import completions, prompts, resources, tools, uris
from .failures import as_answer
from .identity import Ctx, Identify
from .structured import wire_form
from .tools import Call, ServedTool


@dataclass(frozen=True, slots=True)
class Handlers:
    """Handlers in the form that the SDK's server takes. `greeted` is set once a client has asked for the tools.

    What a caller's roles do not allow is not there for them: neither listed nor told apart from what nobody has.
    """

    service: MemoryService
    identify: Identify
    tools: dict[str, ServedTool]
    elevated: bool = False
    roles_required: bool = False
    greeted: anyio.Event = field(default_factory=anyio.Event)

    def _tools_of(self, context: RequestContext) -> dict[str, ServedTool]:
        """The tools that are there for whoever asks."""
        return {
            name: tool
            for name, tool in self.tools.items()
            if may(context.actor, tool.action, roles_required=self.roles_required)
        }

    def _may_read(self, context: RequestContext) -> bool:
        return may(context.actor, "read", roles_required=self.roles_required)

    async def list_tools(self, ctx: Ctx, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        self.greeted.set()
        return types.ListToolsResult(tools=[tool.definition for tool in self._tools_of(self.identify(ctx)).values()])

    async def call_tool(
        self, ctx: Ctx, params: types.CallToolRequestParams
    ) -> dict[str, Any] | types.InputRequiredResult:
        """Run a tool; its result as JSON (`structured`)."""
        context = self.identify(ctx)

        def begin(given: dict[str, Any]) -> Call:
            return Call(self.service, context, given, ctx, params, self.elevated)

        result = await tools.call_tool(self._tools_of(context), params, self.service, begin)
        is_result = isinstance(result, types.CallToolResult)
        if not (is_result and result.is_error) and self.tools[params.name].writes:
            ctx.lifespan_context.watch.poke()
        return wire_form(result) if is_result else result

    async def list_resources(self, ctx: Ctx, _: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        listed = resources.LISTED if self._may_read(self.identify(ctx)) else ()
        return types.ListResourcesResult(resources=list(listed))

    async def list_resource_templates(
        self, ctx: Ctx, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        listed = resources.TEMPLATES if self._may_read(self.identify(ctx)) else ()
        return types.ListResourceTemplatesResult(resource_templates=list(listed))

    async def read_resource(self, ctx: Ctx, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        async def reading() -> types.ReadResourceResult:
            context = self.identify(ctx)
            if not self._may_read(context):
                raise uris.no_resource(params.uri)
            return await resources.read_resource(self.service, context, params.uri)

        return await as_answer("resources/read", params.uri, reading)

    async def _audience(self, ctx: Ctx) -> Audience:
        """What a subscriber hears of. Any URI may be subscribed to, so that none can be probed."""
        context = self.identify(ctx)
        return await self.service.audience(context) if self._may_read(context) else Audience.nobody()

    async def subscribe(self, ctx: Ctx, params: types.SubscribeRequestParams) -> types.EmptyResult:
        async def begin() -> types.EmptyResult:
            await ctx.lifespan_context.watch.subscribe(ctx.session, params.uri, partial(self._audience, ctx))
            return types.EmptyResult()

        return await as_answer("resources/subscribe", params.uri, begin)

    async def unsubscribe(self, ctx: Ctx, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        ctx.lifespan_context.watch.unsubscribe(ctx.session, params.uri)
        return types.EmptyResult()

    async def listen(self, ctx: Ctx, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
        async def stream() -> types.SubscriptionsListenResult:
            return await ctx.lifespan_context.watch.listen(ctx, params, await self._audience(ctx))

        return await as_answer("subscriptions/listen", None, stream)

    async def list_prompts(self, ctx: Ctx, _: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        listed = prompts.LISTED if self._may_read(self.identify(ctx)) else ()
        return types.ListPromptsResult(prompts=list(listed))

    async def get_prompt(self, ctx: Ctx, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        async def getting() -> types.GetPromptResult:
            context = self.identify(ctx)
            if not self._may_read(context):
                raise prompts.no_prompt(params.name)
            return await prompts.get_prompt(self.service, context, params.name, params.arguments)

        return await as_answer("prompts/get", None, getting)

    async def complete(self, ctx: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
        async def completion() -> types.CompleteResult:
            context = self.identify(ctx)
            if not self._may_read(context):
                return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))
            found = await completions.complete(self.service, context, params.argument)
            return types.CompleteResult(completion=found)

        return await as_answer("completion/complete", None, completion)
