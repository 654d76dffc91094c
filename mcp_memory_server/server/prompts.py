"""The prompts: load the block into a conversation, and walk a person through what is held about them."""

from __future__ import annotations

from typing import Final

import mcp_types as types

from mcp_memory_server.errors import InvalidInput, NotFound, Problem, echo
from mcp_memory_server.identity import RequestContext
from mcp_memory_server.recall import brief
from mcp_memory_server.service import Form, MemoryService

from .arguments import whole_number
from .uris import STATS

LOAD: Final = "load_memory"
REVIEW: Final = "review_memory"

_QUERY: Final = types.PromptArgument(
    name="query", title="About", description="A question or topic; everything if left out.", required=False
)

_MAX_TOKENS: Final = types.PromptArgument(
    name="max_tokens", title="At most", description="A ceiling on its tokens; none if left out.", required=False
)
_ARGUMENTS: Final = {argument.name: argument for argument in (_QUERY, _MAX_TOKENS)}

LISTED: Final = (
    types.Prompt(
        name=LOAD,
        title="Load memory",
        description="Bring what is remembered about you into this conversation.",
        arguments=list(_ARGUMENTS.values()),
    ),
    types.Prompt(
        name=REVIEW,
        title="Review my memory",
        description="Go through what is remembered about you, and keep, correct or forget each fact.",
        arguments=list(_ARGUMENTS.values()),
    ),
)

_CORRECT: Final = "For a correction call `remember` with the same key. "
_REVIEW_TEXT: Final = """\
Walk me through what you remember about me, so that I can check it.

Show the facts below in small groups, in plain words, each with who said it (me, or you as a conclusion), at \
which scope it applies and how old it is. After each group ask me what to keep, correct or forget, and wait for \
my answer. {correct}To forget, call `forget` with the id, and tell me that this cannot be \
undone. Change nothing that I did not ask for. If more is held than is shown here, say so: \
{stats} lists every scope and where to read all of it.

{block}"""


def no_prompt(name: str) -> NotFound:
    """The error of a prompt that is not there for the caller."""
    return NotFound("prompt", name, f"There are {LOAD} and {REVIEW}.")


def _review_text(block: str, *, correctable: bool) -> str:
    return _REVIEW_TEXT.format(stats=STATS, block=block, correct=_CORRECT if correctable else "")


async def get_prompt(
    service: MemoryService, context: RequestContext, name: str, given: dict[str, str] | None
) -> types.GetPromptResult:
    """The messages of a prompt, filled with the caller's block.

    Raises:
        NotFound: no such prompt.
        InvalidInput: an argument that the prompt does not have, or a ceiling that is no number or below 100.
    """
    prompt = next((prompt for prompt in LISTED if prompt.name == name), None)
    if prompt is None:
        raise no_prompt(name)
    arguments = given or {}
    if unknown := [argument for argument in arguments if argument not in _ARGUMENTS]:
        takes = " and ".join(_ARGUMENTS)
        raise InvalidInput(
            *(Problem(echo(argument), f"is no argument of this prompt; it takes {takes}") for argument in unknown)
        )
    ceiling = arguments.get(_MAX_TOKENS.name)
    max_tokens = whole_number(_MAX_TOKENS.name, ceiling) if ceiling else None

    def around(block: str) -> str:
        return block if name == LOAD else _review_text(block, correctable=service.writable)

    form = Form(lambda offered: around(service.block(offered)), lambda digest: around(brief(digest)))
    offered = await service.offer(context, arguments.get(_QUERY.name), form=form, max_tokens=max_tokens)
    text = offered.text if offered.text is not None else around(service.block(offered))
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])
