"""Judges everything that a document or a server publishes: one schema, a tool, or a whole `tools/list` result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import cast

from .guard import SCHEMA_FIELDS, SchemaField, tool_name
from .schema import Finding, check_schema, to_pointer

MOST_STEPS = 20_000_000
"""Analysis steps for all schemas together, about a minute; what comes after is ``unknown``."""
_STEPS_A_PATTERN = 300
"""What a pattern costs besides its analysis."""


class NoSchema(ValueError):
    """The document can hold no schema at all; the message completes "It is"."""


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding and the schema that it stands in."""

    finding: Finding
    """Its pointer begins at the schema of a tool, and else at the document."""
    tool: str | None = None
    place: SchemaField | None = None
    root: str = ""
    """JSON pointer to the tool's schema in the document."""


@dataclass(frozen=True, slots=True)
class ListingReport:
    """Every pattern that was found, in the order of the document."""

    placed: tuple[PlacedFinding, ...]
    tools: int | None = None
    """How many tools were read; None for a schema alone."""

    @property
    def unsafe(self) -> tuple[PlacedFinding, ...]:
        """What a policy should act on."""
        return tuple(placed for placed in self.placed if placed.finding.unsafe)

    @property
    def checked(self) -> int:
        """How many places of patterns were judged."""
        return sum(placed.finding.judged is not None for placed in self.placed)


def check_document(document: object) -> ListingReport:
    """Judge a parsed JSON document: a schema, a tool, a list of tools, or the result or answer of `tools/list`.

    What is in doubt is read as a schema. Raises NoSchema for text, a number or null.
    """
    if isinstance(document, bool):
        return ListingReport(())
    if (mapping := _as_mapping(document)) is not None:
        return _check_mapping(mapping)
    if isinstance(document, list):
        return _check_list(cast("list[object]", document))
    raise NoSchema("neither an object, a list nor a boolean")


def _check_mapping(document: Mapping[str, object]) -> ListingReport:
    answer = _mapping(document.get("result"))
    for holder, way in ((document, ("tools",)), (answer, ("result", "tools"))):
        tools = holder.get("tools")
        if isinstance(tools, list):
            return check_tools(cast("list[object]", tools), way)
    if _is_tool(document):
        return ListingReport(tuple(_check_entry(document, (), _Allowance(MOST_STEPS))), 1)
    return ListingReport(tuple(PlacedFinding(finding) for finding in check_schema(document)))


def _check_list(entries: Sequence[object]) -> ListingReport:
    """A list that nothing says of what: of tools where an entry is like one, else of schemas."""
    if any(_is_tool(entry) or isinstance(entry.get("name"), str) for entry in map(_mapping, entries)):
        return check_tools(entries)
    allowance = _Allowance(MOST_STEPS)
    checked = [_check_as_schema(entry, (str(index),), allowance) for index, entry in enumerate(entries)]
    return ListingReport(tuple(chain.from_iterable(checked)), len(entries))


def check_tools(tools: Iterable[object], way: Sequence[str] = (), most_steps: int = MOST_STEPS) -> ListingReport:
    """Judge the schemas of tools; ``way`` leads to the list.

    An entry that is no tool as the protocol has it is a finding, not safe, whatever patterns are found in it: a host
    may read more out of it than this does.
    """
    allowance = _Allowance(most_steps)
    placed: list[PlacedFinding] = []
    count = 0
    for count, entry in enumerate(tools, 1):
        place = (*way, str(count - 1))
        if fault := _fault_of_tool(entry):
            placed.append(PlacedFinding(Finding(to_pointer(place), "invalid", "", "", note=fault), _named(entry)))
        placed.extend(_check_entry(entry, place, allowance))
    return ListingReport(tuple(placed), count)


def _fault_of_tool(entry: object) -> str:
    """What keeps an entry from being a tool, as a sentence; "" where nothing does."""
    if (tool := _as_mapping(entry)) is None:
        return "It is no tool, which is an object."
    return "It is no tool, which has an inputSchema." if tool.get("inputSchema") is None else ""


def _named(entry: object) -> str | None:
    name = _mapping(entry).get("name")
    return name if isinstance(name, str) else None


def _as_mapping(value: object) -> Mapping[str, object] | None:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None


def _mapping(value: object) -> Mapping[str, object]:
    """The value, or an empty mapping in place of anything else."""
    return _as_mapping(value) or {}


def _is_tool(entry: Mapping[str, object]) -> bool:
    return any(field in entry for field in SCHEMA_FIELDS)


@dataclass(slots=True)
class _Allowance:
    """The steps that are left for all schemas of a listing."""

    left: int

    def judge(self, schema: object) -> list[Finding]:
        """The findings of one schema, its cost taken off."""
        if _as_mapping(schema) is None and not isinstance(schema, bool):
            return [_unreadable("It is neither an object nor a boolean, so no schema.")]
        if self.left <= 0:
            return [_unreadable("There are more patterns than are judged at once: check fewer tools.")]
        findings = check_schema(schema)
        judged = {found.pattern: found.judged.cost for found in findings if found.judged}
        self.left -= sum(cost + _STEPS_A_PATTERN + 10 * len(pattern) for pattern, cost in judged.items())
        return findings


def _unreadable(why: str) -> Finding:
    return Finding("", "unknown", "", "", note=why)


def _check_as_schema(entry: object, way: Sequence[str], allowance: _Allowance) -> Iterator[PlacedFinding]:
    for finding in allowance.judge(entry):
        yield PlacedFinding(replace(finding, pointer=to_pointer(way) + finding.pointer))


def _check_entry(entry: object, way: Sequence[str], allowance: _Allowance) -> Iterator[PlacedFinding]:
    tool = _mapping(entry)
    if not _is_tool(tool):
        if tool:
            yield from _check_as_schema(tool, way, allowance)
        return
    for field in SCHEMA_FIELDS:
        if tool.get(field) is not None:
            root = to_pointer((*way, field))
            for finding in allowance.judge(tool[field]):
                yield PlacedFinding(finding, tool_name(tool), field, root)
