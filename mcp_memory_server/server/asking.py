"""Asking the person behind a client, in either era of the protocol (elicitation).

In the handshake era the server sends its question and awaits the answer. From 2026-07-28 on it answers the request
with the question, and the client sends the request again with the person's answer. Only what the person submitted
counts; the model that called the tool can neither see the question nor answer it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least

from .identity import Ctx
from .schemas import Schema
from .time_limit import person_is_asked

_ANSWER: Final = "answer"
_ASKS_IN_RESULTS: Final = "2026-07-28"
_NOT_OPENED: Final = {"reason": "invalid_request_state"}
_REMEDY: Final = "call again without requestState and inputResponses, and the question is asked anew."


@dataclass(frozen=True, slots=True)
class Question:
    """What a form shows to a person, and its fields: flat ones, as the protocol wants them."""

    message: str
    fields: Mapping[str, Schema]
    required: tuple[str, ...]

    @property
    def params(self) -> types.ElicitRequestFormParams:
        schema = {"type": "object", "properties": dict(self.fields), "required": list(self.required)}
        return types.ElicitRequestFormParams(message=self.message, requested_schema=schema)

    @property
    def fingerprint(self) -> str:
        """Tells this question from every other: an answer counts for what the person was shown."""
        return hashlib.sha256(self.params.model_dump_json().encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """The fields of a form that the person submitted."""

    fields: Mapping[str, Any]


Unanswered = Literal["declined", "cancelled", "cannot_ask"]


def answers_boundary(server_name: str, keys: Sequence[str] = ()) -> RequestStateBoundary:
    """Seals what ties an answer to its question, so that no client can make it up. For the server's middleware.

    `keys` are those that processes share: the first one seals, all of them open. Without any, it is a random one.
    """
    security = RequestStateSecurity(keys=keys) if keys else RequestStateSecurity.ephemeral()
    return _AnswersBoundary(security, default_audience=server_name)


class _AnswersBoundary(RequestStateBoundary):
    """The SDK's, which also says what to do about a seal that cannot be opened."""

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        try:
            return await super().__call__(ctx, call_next)
        except MCPError as error:
            if error.error.data != _NOT_OPENED:
                raise
            raise MCPError(error.error.code, f"{error.error.message}: {_REMEDY}", _NOT_OPENED) from None


async def ask(
    ctx: Ctx, params: types.CallToolRequestParams, question: Question
) -> Answer | Unanswered | types.InputRequiredResult:
    """The person's answer, why there is none, or the result by which this client is asked for it."""
    if not _can_ask(ctx):
        return "cannot_ask"
    if is_version_at_least(ctx.protocol_version, _ASKS_IN_RESULTS):
        given = (params.input_responses or {}).get(_ANSWER)
        if params.request_state == question.fingerprint and isinstance(given, types.ElicitResult):
            return _outcome(given)
        request = types.ElicitRequest(params=question.params)
        return types.InputRequiredResult(input_requests={_ANSWER: request}, request_state=question.fingerprint)
    try:
        asked = question.params
        with person_is_asked():
            return _outcome(await ctx.session.elicit_form(asked.message, asked.requested_schema, ctx.request_id))
    except MCPError:  # no way back to the client, or one that promised more than it can
        return "cannot_ask"


def _can_ask(ctx: Ctx) -> bool:
    """An empty declaration is that of the time before there were modes: it means forms."""
    declared = ctx.session.client_capabilities
    elicitation = declared and declared.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _outcome(result: types.ElicitResult) -> Answer | Unanswered:
    match result.action:
        case "accept":
            return Answer(result.content or {})
        case "decline":
            return "declined"
        case "cancel":
            return "cancelled"
