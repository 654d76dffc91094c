"""Our errors to the protocol's: the words of expected ones reach the model, nothing of the others does."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable
from typing import TypeVar

import mcp_types as types
from mcp.shared.exceptions import MCPError

from mcp_memory_server.errors import Conflict, InvalidInput, MemoryServerError, NotFound, Refused

logger = logging.getLogger(__name__)

T = TypeVar("T")

ERROR_CODE_META = "mcp-memory/error"
"""Key of the error's stable code in a failed tool result's `_meta`, and in the data of a JSON-RPC error of ours."""

_CALLERS_FAULT = (InvalidInput, NotFound, Refused)


def tool_error(text: str, code: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=True, _meta={ERROR_CODE_META: code}
    )


async def as_tool_result(name: str, call: Callable[[], Awaitable[T]]) -> T | types.CallToolResult:
    """Run a tool; a failure becomes a result that says so, in words that a model can act on."""
    try:
        return await call()
    except Conflict as error:
        # The caller may read this record; the text stays out of the error's own message for the logs' sake.
        text = f"{error} Its current fact: {error.current_text}" if error.current_text else str(error)
        return tool_error(text, error.code)
    except MemoryServerError as error:
        return tool_error(str(error), error.code)
    except Exception as error:  # the boundary to the protocol: nothing may reach a client raw
        log_crash(name, error)
        return tool_error(f"{name} failed inside the server; nothing more is known here. See its log.", "internal")


async def as_answer(name: str, uri: str | None, call: Callable[[], Awaitable[T]]) -> T:
    """Run a read; a failure becomes a JSON-RPC error.

    Raises:
        MCPError: always in place of another exception.
    """
    data = {} if uri is None else {"uri": uri}
    try:
        return await call()
    except MCPError:
        raise
    except MemoryServerError as error:
        code = types.INVALID_PARAMS if isinstance(error, _CALLERS_FAULT) else types.INTERNAL_ERROR
        raise MCPError(code, str(error), data | {ERROR_CODE_META: error.code}) from error
    except Exception as error:
        log_crash(name, error)
        raise MCPError(types.INTERNAL_ERROR, f"{name} failed inside the server. See its log.", data or None) from error


def log_crash(name: str, error: BaseException) -> None:
    """Log where it broke, without the exception's message: that may quote a memory."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("%s crashed with %s\n%s", name, type(error).__name__, frames)
