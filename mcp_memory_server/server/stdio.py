"""Serving over standard input and output, so that every line gets an answer and the process always ends.

The SDK's transport writes the lines. In front of it stands a reader of our own, for two reasons: the SDK drops
a line that it cannot decode, and a client then waits for its answer until it times out; and its reading thread
cannot be interrupted, so that Ctrl-C would hang.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import anyio
import mcp_types as types
from anyio.from_thread import run as run_in_loop
from anyio.lowlevel import current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from .state import ConnectionState

logger = logging.getLogger(__name__)

_READ_BYTES: Final = 64 * 1024
_GRACE_S: Final = 5.0
"""For ending in good order after a signal; longer only where nobody reads what is still to be written."""
_NOT_UNICODE: Final = (
    "The request holds half of a surrogate pair, or bytes that are no UTF-8. Nothing was done. Send whole characters."
)
_CLOSED: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError)


async def run_stdio(server: Server[ConnectionState]) -> int:
    """Serve one client until it closes its end or a signal comes; the exit status that the process should have."""
    caught: list[signal.Signals] = []
    async with _lines_of_stdin() as (feed, lines), stdio_server(stdin=cast("Any", lines)) as (read, write):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_on_signal, tasks.cancel_scope, caught)
            messages = cast("Any", _AnsweringStream(read, write))
            await server.run(messages, write, server.create_initialization_options())
            tasks.cancel_scope.cancel()
        # The SDK's transport waits for the end of its input, and fails when nobody takes what it still hands over.
        # The end comes from the feeding side: before anyio 4.16 whoever waits for a line is not woken by `lines`.
        feed.close()
        async for _ in read:
            pass
    return 128 + caught[0] if caught else 0


async def _cancel_on_signal(scope: anyio.CancelScope, caught: list[signal.Signals]) -> None:
    """End the session in good order at the first signal, and at once at a second one."""
    if sys.platform == "win32":  # asyncio has no signal receiver there; the console ends the process
        return
    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                if not caught:
                    # A client that takes no more answers holds the writing thread, and nothing here can free it.
                    _in_background(threading.Timer(_GRACE_S, os._exit, (128 + number,)))
                caught.append(number)
                scope.cancel()
    finally:
        # Closing the store comes after this. An interrupt in the middle of it would leave the driver's threads
        # running, and the process with them.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _exit_at_once)


def _in_background(thread: threading.Thread) -> None:
    """Start a thread that the end of the process does not wait for."""
    thread.daemon = True
    thread.start()


def _exit_at_once(number: int, _: object) -> None:
    os._exit(128 + number)


@asynccontextmanager
async def _lines_of_stdin() -> AsyncGenerator[tuple[MemoryObjectSendStream[str], MemoryObjectReceiveStream[str]]]:
    """The lines of standard input, read by a thread that nobody has to wait for, behind the feed that carries them.

    Closing the feed ends the lines.

    Bytes that are no UTF-8 become lone surrogates, which no JSON decoder lets pass: such a line is answered as
    undecodable instead of being taken in garbled. Descriptor 0 itself is pointed at nothing meanwhile, so that
    no child process can read the client's requests away.
    """
    wire = os.dup(sys.stdin.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    send, receive = anyio.create_memory_object_stream[str](0)
    token = current_token()

    def pump() -> None:
        try:
            pending: list[bytes] = []  # joined once: adding each chunk to a long line would copy all of it anew
            while chunk := os.read(wire, _READ_BYTES):
                end, *beginnings = chunk.split(b"\n")
                pending.append(end)
                for beginning in beginnings:
                    line = b"".join(pending)
                    pending = [beginning]
                    run_in_loop(send.send, line.decode(errors="surrogateescape"), token=token)
            run_in_loop(send.aclose, token=token)
        except (*_CLOSED, anyio.RunFinishedError, RuntimeError, OSError):
            pass  # nobody listens any more

    _in_background(threading.Thread(target=pump, name="stdin"))
    async with send, receive:
        yield send, receive


class _AnsweringStream:
    """The SDK's stream of messages, less the lines that it could not decode: those are answered here.

    Closing this leaves the SDK's stream open: `run_stdio` still has to take what is on its way.
    """

    def __init__(self, read: Any, write: Any) -> None:
        self._read = read
        self._write = write

    @property
    def last_context(self) -> Any:
        return self._read.last_context

    def __aiter__(self) -> _AnsweringStream:
        return self

    async def __anext__(self) -> SessionMessage:
        async for item in self._read:
            if not isinstance(item, Exception):
                return item
            if (answer := answer_to_undecodable(item)) is not None:
                await self._write.send(SessionMessage(answer))
        raise StopAsyncIteration

    async def receive(self) -> SessionMessage:
        try:
            return await anext(self)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> _AnsweringStream:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass


def answer_to_undecodable(error: Exception) -> types.JSONRPCError | None:
    """The JSON-RPC error for a line that is no message; None where none is due (notifications, empty lines)."""
    raw = error.errors(include_url=False)[0]["input"] if isinstance(error, ValidationError) else ""
    message = _loaded(raw)
    if isinstance(message, dict):
        return _answer_to_object(cast("dict[str, object]", message))
    if message is not None:
        return _error(None, types.INVALID_REQUEST, "The line is no JSON-RPC message. Batches are not served.")
    if isinstance(raw, str) and not raw.strip():
        return None
    return _error(None, types.PARSE_ERROR, "The line is no JSON in UTF-8. One line, one JSON-RPC message.")


def _answer_to_object(fields: dict[str, object]) -> types.JSONRPCError | None:
    if "method" in fields and "id" not in fields:
        logger.warning("a notification could not be decoded and was dropped")
        return None
    if "method" not in fields and ("result" in fields or "error" in fields):
        return None
    request_id = fields.get("id")
    if not isinstance(request_id, (int, str)) or isinstance(request_id, bool) or _has_surrogates(request_id):
        return _error(None, types.INVALID_REQUEST, "The request has no usable id: give a string or an integer.")
    if _has_surrogates(fields):
        return _error(request_id, types.INVALID_PARAMS, _NOT_UNICODE)
    return _error(request_id, types.INVALID_REQUEST, "The line is no JSON-RPC 2.0 request.")


def _loaded(raw: object) -> object:
    """The parsed line: pydantic hands over the text where it is no JSON, and the value where it is no message."""
    if not isinstance(raw, str):
        return raw
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _has_surrogates(value: object) -> bool:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _error(request_id: str | int | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
