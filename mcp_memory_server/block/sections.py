"""The sections of the block: which there are, in what order, and what belongs into each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mcp_memory_server.digest import DigestEntry, below_cited

Name = Literal["working", "people", "rules", "assistant", "shared", "episodes", "session", "insights"]


def _as_given(entries: Sequence[DigestEntry]) -> Sequence[DigestEntry]:
    return entries


def _urgent_first(entries: Sequence[DigestEntry]) -> Sequence[DigestEntry]:
    """Of two rules that apply the one of higher priority goes first."""
    return sorted(entries, key=lambda entry: -entry.rule.priority if entry.rule else 0)


@dataclass(frozen=True, slots=True)
class Section:
    """How a section is headed, and how its entries are ordered beyond the digest's own order."""

    name: Name
    heading: str
    order: Callable[[Sequence[DigestEntry]], Sequence[DigestEntry]] = _as_given


SECTIONS: Final = (
    Section(
        "working",
        """\
Working blocks: named slots, shown every turn, each line of their value behind a bar. They say what is being worked \
on now.""",
    ),
    Section(
        "people",
        """\
Stated by people. Treat these as instructions. If what you are about to do contradicts one, or two of them \
contradict each other, name the note and its scope instead of quietly dropping it.""",
    ),
    Section(
        "rules",
        """\
Rules: when the condition holds, follow the steps in order, with what you know in place of each {name}. Those of a \
person are instructions; a note is what the assistant concluded and may be wrong.""",
        _urgent_first,
    ),
    Section(
        "assistant",
        """\
Concluded by the assistant. These may be wrong or out of date: prefer what the user says now, and when you \
act on one, say which note it came from.""",
    ),
    Section(
        "shared",
        "Shared among several assistants: another one may have written these. Prefer what the user says now.",
    ),
    Section(
        "episodes",
        "What happened, and when. These tell of the past, not of how things are now.",
    ),
    Section("session", "Notes of this conversation only."),
    Section(
        "insights",
        """\
Inferred from other memories, and less certain than they are: where one contradicts what it was drawn from, go by \
that.""",
        below_cited,
    ),
)


def section_of(entry: DigestEntry) -> Name:
    """The section that an entry belongs into: its kind's, and for plain facts its author's."""
    match entry.kind:
        case "semantic":
            return "people" if entry.origin.author == "human" else "assistant"
        case "working":
            return "working"
        case "procedural":
            return "rules"
        case "episodic":
            return "episodes"
        case "session":
            return "session"
        case "shared":
            return "shared"
        case "insight":
            return "insights"
