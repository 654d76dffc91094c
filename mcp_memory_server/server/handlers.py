"""The protocol's requests, each handed to the part that answers it, on behalf of whoever asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types

from mcp_memory_server.service import MemoryService

from . import completions, prompts, resources, tools
from .failures import as_answer
from .identity import Ctx, Identify
from .tools import Call, Result, ServedTool


@dataclass(frozen=True, slots=True)
class Handlers:
    """Handlers in the form that the SDK's server takes. `greeted` is set once a client has asked for the tools."""

    service: MemoryService
    identify: Identify
    tools: dict[str, ServedTool]
    elevated: bool = False
    greeted: anyio.Event = field(default_factory=anyio.Event)

    async def list_tools(self, _: Ctx, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        self.greeted.set()
        return types.ListToolsResult(tools=[tool.definition for tool in self.tools.values()])

    async def call_tool(self, ctx: Ctx, params: types.CallToolRequestParams) -> Result:
        def begin(given: dict[str, Any]) -> Call:
            return Call(self.service, self.identify(ctx), given, ctx, params, self.elevated)

        result = await tools.call_tool(self.tools, params, self.service, begin)
        failed = isinstance(result, types.CallToolResult) and result.is_error
        if not failed and self.tools[params.name].writes:
            ctx.lifespan_context.watch.poke()
        return result

    async def list_resources(self, _: Ctx, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=list(resources.LISTED))

    async def list_resource_templates(
        self, _: Ctx, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def read_resource(self, ctx: Ctx, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await as_answer(
            "resources/read",
            params.uri,
            lambda: resources.read_resource(self.service, self.identify(ctx), params.uri),
        )

    async def subscribe(self, ctx: Ctx, params: types.SubscribeRequestParams) -> types.EmptyResult:
        async def begin() -> types.EmptyResult:
            scopes = await self.service.scopes(self.identify(ctx))
            await ctx.lifespan_context.watch.subscribe(ctx.session, params.uri, scopes)
            return types.EmptyResult()

        return await as_answer("resources/subscribe", params.uri, begin)

    async def unsubscribe(self, ctx: Ctx, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        ctx.lifespan_context.watch.unsubscribe(ctx.session, params.uri)
        return types.EmptyResult()

    async def listen(self, ctx: Ctx, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
        async def stream() -> types.SubscriptionsListenResult:
            scopes = await self.service.scopes(self.identify(ctx))
            return await ctx.lifespan_context.watch.listen(ctx, params, scopes)

        return await as_answer("subscriptions/listen", None, stream)

    async def list_prompts(self, _: Ctx, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=list(prompts.LISTED))

    async def get_prompt(self, ctx: Ctx, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await as_answer(
            "prompts/get",
            None,
            lambda: prompts.get_prompt(self.service, self.identify(ctx), params.name, params.arguments),
        )

    async def complete(self, ctx: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
        async def completion() -> types.CompleteResult:
            found = await completions.complete(self.service, self.identify(ctx), params.argument)
            return types.CompleteResult(completion=found)

        return await as_answer("completion/complete", None, completion)
