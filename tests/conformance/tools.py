"""The suite's tools, as tools of ours: listed, checked and called by the same code as those of the product."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import mcp_types as types
from mcp.server.subscriptions import PromptsListChanged, ServerEvent, ToolsListChanged

from mcp_memory_server.server.tools import Call, Result, ServedTool
from mcp_memory_server.service import MemoryService

from .content import AUDIO, IMAGE, embedded, text

NEEDS_SAMPLING: Final = "test_missing_capability"
"""Answered by a protocol error, as no tool of ours ever is: by what lies around the tools."""

Publish = Callable[[ServerEvent], Awaitable[None]]

_NAME: Final = {"name": {"type": "string"}}


def fixture_tools(publish: Publish) -> Callable[[MemoryService], Sequence[ServedTool]]:
    """A toolset of all of them. `publish` tells every open stream that a list changed."""

    def changes(event: ServerEvent) -> Callable[[Call], Awaitable[Result]]:
        async def handler(_: Call) -> Result:
            await publish(event)
            return said("changed")

        return handler

    def tools(_: MemoryService) -> Sequence[ServedTool]:
        return [
            answers("test_simple_text", text("This is a simple text response for testing.")),
            answers("test_image_content", IMAGE),
            answers("test_audio_content", AUDIO),
            answers("test_embedded_resource", embedded("test://embedded-resource", "This is embedded.")),
            answers(
                "test_multiple_content_types",
                text("Multiple content types test:"),
                IMAGE,
                embedded("test://mixed-content-resource", '{"test": "data"}', "application/json"),
            ),
            tool("test_error_handling", _crash),
            tool("test_tool_with_logging", _log),
            tool("test_logging_tool", _log),
            tool("test_tool_with_progress", _progress),
            tool("test_sampling", _sample, {"prompt": {"type": "string"}}),
            tool("test_elicitation", _elicit, {"message": {"type": "string"}}),
            tool("test_elicitation_sep1034_defaults", _elicits(DEFAULTS)),
            tool("test_elicitation_sep1330_enums", _elicits(CHOICES)),
            answers(NEEDS_SAMPLING, text("never said")),
            tool("test_trigger_tool_change", changes(ToolsListChanged())),
            tool("test_trigger_prompt_change", changes(PromptsListChanged())),
            tool("test_streaming_elicitation", asks(user_name=NAME)),
            tool("test_input_required_result_elicitation", asks(user_name=NAME)),
            tool("test_input_required_result_sampling", asks(capital_question=CAPITAL)),
            tool("test_input_required_result_list_roots", asks(client_roots=ROOTS)),
            tool("test_input_required_result_request_state", asks("confirming", confirm=CONFIRM)),
            tool("test_input_required_result_tampered_state", asks("confirming", confirm=CONFIRM)),
            tool(
                "test_input_required_result_multiple_inputs",
                asks("all three", user_name=NAME, greeting=CAPITAL, client_roots=ROOTS),
            ),
            tool("test_input_required_result_multi_round", _two_rounds),
            tool("test_input_required_result_capabilities", _what_the_client_can),
        ]

    return tools


# --- tools in general -------------------------------------------------------------------------------------


def tool(
    name: str, handler: Callable[[Call], Awaitable[Result]], arguments: dict[str, Any] | None = None
) -> ServedTool:
    properties = arguments or {}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    definition = types.Tool(name=name, description=f"The conformance suite's {name}.", input_schema=schema)
    return ServedTool(definition, handler, writes=False)


def answers(name: str, *content: types.ContentBlock) -> ServedTool:
    async def handler(_: Call) -> Result:
        return types.CallToolResult(content=list(content))

    return tool(name, handler)


def said(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[text(words)])


# --- a server that speaks while it works ------------------------------------------------------------------


async def _crash(_: Call) -> Result:
    raise RuntimeError("what a crash says reaches no client")


async def _log(call: Call) -> Result:
    for step in ("started", "processing", "completed"):
        await call.request.session.send_log_message(  # pyright: ignore[reportDeprecated]
            "info", f"Tool {step}", related_request_id=call.request.request_id
        )
    return said("logged")


async def _progress(call: Call) -> Result:
    for percent in (0, 50, 100):
        await call.request.session.report_progress(percent, 100)
    return said("progressed")


async def _sample(call: Call) -> Result:
    message = types.SamplingMessage(role="user", content=text(call.given["prompt"]))
    answer = await call.request.session.create_message(  # pyright: ignore[reportDeprecated]
        [message], max_tokens=100, related_request_id=call.request.request_id
    )
    return said(f"LLM response: {answer.content}")


async def _elicit(call: Call) -> Result:
    fields = {"username": {"type": "string"}, "email": {"type": "string"}}
    return await _form(call, call.given["message"], fields)


def _elicits(fields: dict[str, Any]) -> Callable[[Call], Awaitable[Result]]:
    async def handler(call: Call) -> Result:
        return await _form(call, "Please fill in", fields)

    return handler


async def _form(call: Call, message: str, fields: dict[str, Any]) -> Result:
    schema: dict[str, Any] = {"type": "object", "properties": fields, "required": []}
    answer = await call.request.session.elicit_form(message, schema, call.request.request_id)
    return said(f"Elicitation completed: action={answer.action}, content={answer.content}")


DEFAULTS: Final[dict[str, Any]] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_TITLED: Final = [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]
_OPTIONS: Final = ["option1", "option2"]
CHOICES: Final[dict[str, Any]] = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}


# --- a server that asks in its results --------------------------------------------------------------------


def form(message: str, **fields: Any) -> types.ElicitRequest:
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def question(words: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(words))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))


NAME: Final = form("What is your name?", **_NAME)
CONFIRM: Final = form("Please confirm", ok={"type": "boolean"})
COLOUR: Final = form("What is your favourite colour?", color={"type": "string"})
CAPITAL: Final = question("What is the capital of France?")
ROOTS: Final = types.ListRootsRequest()

_ANSWERS: Final = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}


def is_answered(params: types.InputResponseRequestParams, requests: types.InputRequests, state: str | None) -> bool:
    """Whether every question has an answer of its kind, with the state that was sent along with it."""
    given = params.input_responses or {}
    fits = all(isinstance(given.get(key), _ANSWERS[request.method]) for key, request in requests.items())
    return fits and params.request_state == state


def asks(state: str | None = None, **requests: types.InputRequest) -> Callable[[Call], Awaitable[Result]]:
    async def handler(call: Call) -> Result:
        if is_answered(call.params, requests, state):
            return said("state-ok: all answered")
        return types.InputRequiredResult(input_requests=requests, request_state=state)

    return handler


async def _two_rounds(call: Call) -> Result:
    if is_answered(call.params, {"step2": COLOUR}, "second"):
        return said("both answered")
    if is_answered(call.params, {"step1": NAME}, "first"):
        return types.InputRequiredResult(input_requests={"step2": COLOUR}, request_state="second")
    return types.InputRequiredResult(input_requests={"step1": NAME}, request_state="first")


async def _what_the_client_can(call: Call) -> Result:
    can = call.request.session.client_capabilities or types.ClientCapabilities()
    declared = {"user_name": (NAME, can.elicitation), "capital": (CAPITAL, can.sampling), "roots": (ROOTS, can.roots)}
    requests: types.InputRequests = {key: request for key, (request, able) in declared.items() if able is not None}
    return types.InputRequiredResult(input_requests=requests) if requests else said("This client answers nothing.")
