"""The lines of one entry: what each kind shows of itself, and what it may take of the block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mcp_memory_server.derived import Derived
from mcp_memory_server.digest import DigestEntry
from mcp_memory_server.records import Author, Rule, WorkingBlock

from .harmless import harmless_key, harmless_lines, harmless_scope, harmless_text, shortened
from .sections import SECTIONS, Name, Section, section_of

MAX_NOTE_CHARS: Final = 100
"""What the brackets behind a fact take at most: who said it, and the figures of its kind."""
_MAX_NAMED: Final = 3
_LONGEST_KEPT: Final = 1_000
"""Characters of a fact whose line is kept: a foreign provider may hold thousands of long ones."""


@dataclass(slots=True)
class Room:
    """What a block has room for. `left` is spent while entries are drawn; None sets no limit.

    Args:
        max_fact_chars: what of a fact stands in its line.
        left: characters for all lines under entries together: those of working blocks, steps and citations.
        keys: the key of each entry by its id, for naming what an insight cites.
    """

    max_fact_chars: int | None = None
    left: int | None = None
    keys: Mapping[str, str] = field(default_factory=dict[str, str])

    def take(self, lines: Sequence[str]) -> list[str]:
        """As many of the lines, from the first, as there is room for, and then how much was left out."""
        if self.left is None:
            return list(lines)
        taken: list[str] = []
        for line in lines:
            if len(line) >= self.left:
                rest = lines[len(taken) :]
                self.left = 0
                return [*taken, f"    … (left out: {len(rest)} lines, {sum(map(len, rest))} characters)"]
            self.left -= len(line) + 1
            taken.append(line)
        return taken


class Drawn(NamedTuple):
    """What a block shows of an entry whatever stands beside it.

    That is its section; and its line where that is all, as for nearly every entry. `fact_chars` of it are the fact.
    """

    section: Name
    line: str | None = None
    fact_chars: int = 0


def _made_drawn(entry: DigestEntry) -> Drawn:
    if entry.kind != "semantic" or entry.overrides or len(entry.text) > _LONGEST_KEPT:
        return Drawn(section_of(entry))
    fact = harmless_text(entry.text)
    return Drawn(section_of(entry), _line(entry, fact), len(fact))


_drawn: Final = Derived[DigestEntry, Drawn](_made_drawn)


def in_sections(
    entries: Sequence[DigestEntry], max_fact_chars: int | None
) -> Iterator[tuple[Section, list[DigestEntry], list[str]]]:
    """Each section that has any entries, in the order of the block: they, and those of their lines that are known."""
    held: dict[Name, tuple[list[DigestEntry], list[str]]] = {section.name: ([], []) for section in SECTIONS}
    for entry, (name, line, fact_chars) in zip(entries, _drawn.of_each(entries), strict=True):
        in_section, lines = held[name]
        in_section.append(entry)
        if line is not None and _has_room(max_fact_chars, fact_chars):
            lines.append(line)
    for section in SECTIONS:
        in_section, lines = held[section.name]
        if in_section:
            yield section, in_section, lines


def entry_lines(entry: DigestEntry, room: Room) -> list[str]:
    """The line of an entry, what its kind adds under it, and a line for each value that it overrides."""
    drawn = _drawn(entry)
    if drawn.line is not None and _has_room(room.max_fact_chars, drawn.fact_chars):
        return [drawn.line]
    fact, under = _shown(entry, room)
    beaten = [
        f"    ↳ [{harmless_scope(value.scope)}] {speaker(value.author)}: "
        f"{harmless_text(value.text, room.max_fact_chars)}"
        for value in entry.overrides
    ]
    return [_line(entry, fact), *room.take(under), *beaten]


def _has_room(max_fact_chars: int | None, fact_chars: int) -> bool:
    return max_fact_chars is None or fact_chars <= max_fact_chars


def _line(entry: DigestEntry, fact: str) -> str:
    return f"- [{harmless_scope(entry.scope)}] {harmless_key(entry.key)}: {fact}"


def speaker(author: Author) -> str:
    return "person" if author == "human" else "note"


def _shown(entry: DigestEntry, room: Room) -> tuple[str, list[str]]:
    """The text behind the entry's key, and the lines under it."""
    match entry:
        case DigestEntry(kind="working", working=WorkingBlock() as block):
            lines = [f"    | {line}".rstrip() for line in harmless_lines(block.value)]
            return _in_brackets(_filling(block, entry.origin.author)), lines
        case DigestEntry(kind="procedural", rule=Rule() as rule):
            condition = f"When {harmless_text(rule.condition, room.max_fact_chars)}"
            return _noted(entry, condition, *_record_of(rule)), _steps(rule)
        case DigestEntry(kind="semantic"):
            return harmless_text(entry.text, room.max_fact_chars), []
        case _:
            text = harmless_text(entry.text, room.max_fact_chars)
            return _noted(entry, text, *_when(entry), *_weight(entry)), _citations(entry, room)


def _noted(entry: DigestEntry, text: str, *notes: str) -> str:
    """The text with who said it and the notes in brackets: sections by kind hold what people and assistants said."""
    return f"{text} {_in_brackets((speaker(entry.origin.author), *notes))}"


def _in_brackets(notes: Sequence[str]) -> str:
    return f"({shortened(', '.join(notes), MAX_NOTE_CHARS)})"


def _filling(block: WorkingBlock, editor: Author) -> list[str]:
    """Many may have had a hand in a block: only the last is known."""
    editor_name = "a person" if editor == "human" else "the assistant"
    notes = [f"last edited by {editor_name}", f"{len(block.value)} of {block.char_limit} characters"]
    return [*notes, "read-only"] if block.read_only else notes


def _record_of(rule: Rule) -> list[str]:
    notes = [f"priority {rule.priority}"] if rule.priority else []
    if tried := rule.success_count + rule.failure_count:
        notes.append(f"worked {rule.success_count} of {tried} times")
    return notes


def _steps(rule: Rule) -> list[str]:
    lines = [f"    {number}. {harmless_text(step)}" for number, step in enumerate(rule.steps, start=1)]
    if rule.success_criteria:
        lines.append(f"    Done when: {harmless_text(rule.success_criteria)}")
    return lines


def _when(entry: DigestEntry) -> list[str]:
    if entry.episode is None:
        return []
    began, ended = entry.episode.started_at, entry.episode.ended_at
    return [f"{_minute(began)} to {_minute(ended)}" if ended else f"since {_minute(began)}"]


def _minute(instant: str) -> str:
    return f"{instant[:10]} {instant[11:16]}Z"


def _weight(entry: DigestEntry) -> list[str]:
    return [f"salience {entry.insight.salience}"] if entry.insight else []


def _citations(entry: DigestEntry, room: Room) -> list[str]:
    """What an insight rests on, by key as far as it stands in this block."""
    if entry.insight is None:
        return []
    named = [harmless_key(room.keys[id]) for id in entry.insight.cites if id in room.keys][:_MAX_NAMED]
    others = len(entry.insight.cites) - len(named)
    if others:
        named.append(f"{others} more" if named else f"{others} not shown here")
    return [f"    from: {', '.join(named)}"]
