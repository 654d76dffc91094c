"""A record that waits for review, and what is shown of it to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_memory_server.records import MemoryRecord


@dataclass(frozen=True, slots=True)
class Pending:
    """A record that waits, the active fact that it would replace, and the one under another key that it would end.

    `refusal` is why the caller may not approve it, if so. `suspicion` is why it reads like an instruction to a model:
    then its words are for people's eyes only.
    """

    record: MemoryRecord
    replaces: MemoryRecord | None
    ends: MemoryRecord | None
    suspicion: str | None
    refusal: str | None

    def shown_to_people(self) -> dict[str, Any]:
        """All that a decision needs: who, when and from where, why it is held, and what it would replace or end."""
        record = self.record
        shown: dict[str, Any] = {
            "id": record.id,
            "key": record.key,
            "text": record.text,
            "scope": record.scope,
            "held_because": record.held_because or "unknown",
            "provenance": record.provenance,
            "by": record.origin.actor_ref,
            "author": record.origin.author,
            "at": record.updated_at,
            "thread_id": record.origin.thread_id,
            "run_id": record.origin.run_id,
            "kind": None if record.kind == "semantic" else record.kind,
            "tags": list(record.tags) or None,
            "valid_from": record.valid_from,
            "valid_to": record.valid_to,
            "replaces": None if self.replaces is None else self.replaces.text,
            "ends": None if self.ends is None else f"{self.ends.key}: {self.ends.text}",
        }
        return {name: value for name, value in shown.items() if value is not None}

    def shown_to_models(self) -> dict[str, Any]:
        """The same, but words that read like an instruction are withheld, with a word of why."""
        shown = self.shown_to_people()
        if self.suspicion is None:
            return shown
        for name in ("key", "text", "tags", "thread_id", "run_id"):
            shown.pop(name, None)
        return shown | {"held_because": "words that only people are shown", "withheld": self.suspicion}
