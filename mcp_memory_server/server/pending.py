"""How a record that waits for review is shown: as data, and to the person who is asked about it."""

from __future__ import annotations

from typing import Final

from mcp_memory_server.records import visible_line
from mcp_memory_server.service.pending import Pending

from .schemas import STRING, Schema, array, record_of

CONSOLE: Final = "`mcp-memory-server review`"

_FIELDS: Final = (
    *("id", "key", "text", "scope", "held_because", "withheld", "provenance", "by", "author", "at"),
    *("thread_id", "run_id", "kind", "valid_from", "valid_to", "replaces", "ends"),
)
WAITING: Final[Schema] = record_of(
    {**dict.fromkeys(_FIELDS, STRING), "tags": array(STRING)}, ("id", "scope", "held_because", "at")
)
"""The schema of what `Pending.shown_to_models` gives."""


def described(pending: Pending, wording: str | None = None) -> str:
    """For the person: what is claimed, by whom, and what it would change. No text of a record can begin a line.

    `wording` is what the assistant would have it say, where it asks.
    """
    record, origin = pending.record, pending.record.origin
    author = "an assistant" if origin.author == "agent" else "a person"
    thread = f", in thread {visible_line(origin.thread_id)}" if origin.thread_id else ""
    lines = [
        f"Waiting for you at {record.scope}:",
        f"    {_quoted(record.key)}: {_quoted(record.text)}",
        f"Recorded by {author} for {visible_line(origin.actor_ref or 'somebody')}, {record.updated_at}{thread}.",
        f"Held because: {visible_line(record.held_because or 'unknown')}.",
    ]
    if wording not in (None, record.text):
        lines.append(f"The assistant would have it say instead: {_quoted(wording or '')}")
    if pending.replaces is not None:
        whose = "a person's statement" if pending.replaces.origin.author == "human" else "a note"
        lines.append(f"It would replace {whose}: {_quoted(pending.replaces.text)}")
    if pending.ends is not None:
        lines.append(f"It would end another one: {_quoted(pending.ends.key)}: {_quoted(pending.ends.text)}")
    return "\n".join(lines)


def _quoted(line: str) -> str:
    """A stored text, whole, on one line."""
    return f"“{visible_line(line)}”"
