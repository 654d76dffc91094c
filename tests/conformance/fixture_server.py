"""The product with the suite's fixtures in it: `fixture_server.py serve ...` takes every argument of the command line.

What is served is what the product serves, by the same factory, handlers, middleware, lifespan and transports. Its tools
are joined by a toolset; its handlers of resources and prompts are asked whenever a name is none of the fixtures'.
"""

import sys
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ServerEvent
from mcp.shared.exceptions import MCPError

sys.path.insert(0, str(Path(__file__).parents[2]))  # as a script, so that it needs no working directory of its own

from mcp_memory_server.__main__ import main
from mcp_memory_server.server import build_server, watch
from mcp_memory_server.server.http import running
from mcp_memory_server.server.state import ConnectionState
from mcp_memory_server.server.tools import TOOLSETS
from tests.conformance.content import IMAGE, PNG, embedded, text
from tests.conformance.tools import NEEDS_SAMPLING, fixture_tools, form, is_answered

TOOLSET: Final = "conformance"

Handler = Callable[[Any, Any], Awaitable[Any]]

TEXTS: Final = {"test://static-text": "The content of a static text.", "test://watched-resource": "Watched."}
TEMPLATE: Final = ("test://template/", "/data")
RESOURCES: Final = [
    types.Resource(uri=uri, name=uri.partition("://")[2], description="A fixture.")
    for uri in (*TEXTS, "test://static-binary")
]
PROMPTS: Final[dict[str, list[types.ContentBlock]]] = {
    "test_simple_prompt": [text("This is a simple prompt for testing.")],
    "test_prompt_with_arguments": [text("Prompt with arguments: {arg1}, {arg2}")],
    "test_prompt_with_embedded_resource": [embedded("{resourceUri}", "Embedded."), text("Please process it.")],
    "test_prompt_with_image": [IMAGE, text("Please analyse the image.")],
    "test_input_required_result_prompt": [text("The context was given.")],
}
ARGUMENTS: Final = {
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
}
CONTEXT: Final[types.InputRequests] = {"user_context": form("Which context?", context={"type": "string"})}


class ObservedBus(InMemorySubscriptionBus):
    """The bus of one open stream. All of them are known, so that a fixture can tell every stream something."""

    every: Final["weakref.WeakSet[ObservedBus]"] = weakref.WeakSet()

    def __init__(self) -> None:
        super().__init__()
        self.every.add(self)


async def publish(event: ServerEvent) -> None:
    for bus in list(ObservedBus.every):
        await bus.publish(event)


def build_fixture_server(*arguments: Any, **options: Any) -> Server[ConnectionState]:
    """The product's server; the fixtures' handlers ask its own for everything that is not theirs."""
    server = build_server(*arguments, **options)
    around = {
        "tools/call": _call_tool,
        "resources/list": _list_resources,
        "resources/read": _read_resource,
        "prompts/list": _list_prompts,
        "prompts/get": _get_prompt,
    }
    for method, wrap in around.items():
        own = server.get_request_handler(method)
        assert own is not None
        server.add_request_handler(method, own.params_type, wrap(own.handler))
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _set_level)
    return server


async def _set_level(_: Any, __: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


def _call_tool(own: Handler) -> Handler:
    async def call(ctx: Any, params: types.CallToolRequestParams) -> Any:
        if params.name != NEEDS_SAMPLING:
            return await own(ctx, params)
        needed = types.ClientCapabilities(sampling=types.SamplingCapability())
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs sampling.",
            data.model_dump(mode="json", by_alias=True, exclude_none=True),
        )

    return call


def _list_resources(own: Handler) -> Handler:
    async def listed(ctx: Any, params: Any) -> types.ListResourcesResult:
        result: types.ListResourcesResult = await own(ctx, params)
        return types.ListResourcesResult(resources=[*result.resources, *RESOURCES])

    return listed


def _read_resource(own: Handler) -> Handler:
    async def read(ctx: Any, params: types.ReadResourceRequestParams) -> Any:
        uri = str(params.uri)
        content: types.TextResourceContents | types.BlobResourceContents
        if uri in TEXTS:
            content = types.TextResourceContents(uri=uri, mime_type="text/plain", text=TEXTS[uri])
        elif uri == "test://static-binary":
            content = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        elif uri.startswith(TEMPLATE[0]) and uri.endswith(TEMPLATE[1]):
            name = uri.removeprefix(TEMPLATE[0]).removesuffix(TEMPLATE[1])
            content = types.TextResourceContents(uri=uri, mime_type="text/plain", text=f"Data for {name}")
        else:
            return await own(ctx, params)
        return types.ReadResourceResult(contents=[content])

    return read


def _list_prompts(own: Handler) -> Handler:
    async def listed(ctx: Any, params: Any) -> types.ListPromptsResult:
        result: types.ListPromptsResult = await own(ctx, params)
        fixtures = [
            types.Prompt(
                name=name,
                description="A fixture.",
                arguments=[types.PromptArgument(name=each, required=True) for each in ARGUMENTS.get(name, ())],
            )
            for name in PROMPTS
        ]
        return types.ListPromptsResult(prompts=[*result.prompts, *fixtures])

    return listed


def _get_prompt(own: Handler) -> Handler:
    async def get(ctx: Any, params: types.GetPromptRequestParams) -> Any:
        if params.name not in PROMPTS:
            return await own(ctx, params)
        if params.name == "test_input_required_result_prompt" and not is_answered(params, CONTEXT, None):
            return types.InputRequiredResult(input_requests=CONTEXT)
        return types.GetPromptResult(
            messages=[
                types.PromptMessage(role="user", content=_filled(content, params.arguments or {}))
                for content in PROMPTS[params.name]
            ]
        )

    return get


def _filled(content: types.ContentBlock, given: dict[str, str]) -> types.ContentBlock:
    match content:
        case types.TextContent():
            return text(content.text.format(**given))
        case types.EmbeddedResource():
            return embedded(content.resource.uri.format(**given), "Embedded.")
        case _:
            return content


if __name__ == "__main__":
    TOOLSETS[TOOLSET] = fixture_tools(publish)
    watch.InMemorySubscriptionBus = ObservedBus
    running.build_server = build_fixture_server
    main()
