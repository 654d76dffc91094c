"""What a server logs, to standard error: text for people, or JSON for programs, and nothing of a memory's text."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Literal

from mcp_memory_server.records import canonical_instant

FIELDS: Final = "fields"
"""The `extra` of a record that JSON shows as members of their own."""

_TEXT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_QUIETED: Final = {
    "aiosqlite": logging.INFO,
    "asyncpg": logging.ERROR,
    "mcp": logging.WARNING,
    "mcp.server.sse": logging.ERROR,
    "sse_starlette": logging.WARNING,
}
"""Below these levels libraries log statements, bodies of requests and ids of sessions, what could show a memory or open
a session; and a driver each attempt to reach a database that is away. Nothing of it is of use here."""

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class TextFormatter(logging.Formatter):
    """One line a record. An exception is told by its type and place: its message may quote a memory."""

    def __init__(self) -> None:
        super().__init__(_TEXT)

    def formatException(self, ei: _Raised) -> str:
        return _place_of(ei)


class JsonFormatter(logging.Formatter):
    """One JSON object a record, on one line."""

    def format(self, record: logging.LogRecord) -> str:
        shown: dict[str, Any] = {
            "time": canonical_instant(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        shown |= getattr(record, FIELDS, {})
        if record.exc_info:
            shown["exception"] = _place_of(record.exc_info)
        return json.dumps(shown, ensure_ascii=False, default=str)


def log_to_stderr(level: str, form: Literal["text", "json"] = "text") -> None:
    """Set up logging for a process that serves; once, before anything is logged."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(level=level, handlers=[handler])
    for name, least in _QUIETED.items():
        logging.getLogger(name).setLevel(max(least, logging.getLevelNamesMapping()[level]))


def _place_of(raised: _Raised) -> str:
    kind, _, trace = raised
    frames = "".join(traceback.format_tb(trace))
    return f"{frames}{kind.__name__ if kind else 'unknown'}"
