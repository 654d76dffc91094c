"""What a write says of its kind, beside key, text and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_memory_server.records import Episode, Insight, Kind, Owner, Provenance, Rule, WorkingBlock

from .rules import MAX_RULE_CHARS
from .working import MAX_CHAR_LIMIT


@dataclass(frozen=True, slots=True)
class Form:
    """A kind with its parts, normalised already; `derived_from` are the ids of what it was concluded from.

    `provenance` is that of the kind where it has one, whoever writes: a rule that was induced, a reflection. `raw` are
    the words, by argument, as they came, where the text follows from them: what normalising removed is screened too.
    """

    kind: Kind = "semantic"
    provenance: Provenance | None = None
    owner: Owner | None = None
    derived_from: tuple[str, ...] = ()
    rule: Rule | None = None
    episode: Episode | None = None
    working: WorkingBlock | None = None
    insight: Insight | None = None
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    raw: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def max_chars(self, max_fact_chars: int) -> int:
        """How long the text may be: where it follows from parts, these have limits of their own."""
        own = MAX_RULE_CHARS if self.rule else MAX_CHAR_LIMIT if self.working else 0
        return max(own, max_fact_chars)

    @property
    def names(self) -> dict[str, str | None]:
        """The parts of the triple, which are words of the caller's beside the text."""
        return {"subject": self.subject, "predicate": self.predicate, "object": self.object}

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of the record by name."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "raw"}


PLAIN: Final = Form()
"""A fact."""
