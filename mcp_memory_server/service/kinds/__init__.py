"""The use cases of the kinds beyond plain facts, a class each: `service.kinds.blocks.edit(...)`."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory_server.service.wiring import Wiring

from .blocks import Blocks
from .insights import Insights
from .notes import Audience, Notes, Span
from .recording import ASSISTANT, PERSON, Writer
from .rules import Outcome, Rules

__all__ = [
    "ASSISTANT",
    "PERSON",
    "Audience",
    "Blocks",
    "Insights",
    "Kinds",
    "Notes",
    "Outcome",
    "Rules",
    "Span",
    "Writer",
]


@dataclass(frozen=True, slots=True)
class Kinds:
    blocks: Blocks
    rules: Rules
    insights: Insights
    notes: Notes

    @classmethod
    def over(cls, wiring: Wiring) -> Kinds:
        return cls(Blocks(wiring), Rules(wiring), Insights(wiring), Notes(wiring))
