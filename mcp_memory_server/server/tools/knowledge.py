"""The toolset `knowledge`: triples, the entities that they are about, and which names mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import mcp_types as types

from mcp_memory_server.block import harmless_text
from mcp_memory_server.errors import echo
from mcp_memory_server.providers.base import has_entities
from mcp_memory_server.server.schemas import DESCRIPTION, MERGED, STRING, WRITTEN, Schema, arguments
from mcp_memory_server.service import MemoryService
from mcp_memory_server.service.knowledge import Description, MergeCommand, Neighbour, Relation, UnmergeCommand

from .served import ID, Call, ServedTool, text

_MOST_SHOWN: Final = 50
"""How many facts and neighbours an answer names; a client reads it whole."""


def knowledge_tools(service: MemoryService) -> Sequence[ServedTool]:
    """What the store allows: nothing where it knows no entities, no `relate` where it cannot be written to."""
    if not has_entities(service.provider):
        return ()
    merging = (
        ServedTool(_DESCRIBE, _describe, writes=False),
        ServedTool(_MERGE, _merge, writes=True),
        ServedTool(_UNMERGE, _unmerge, writes=True),
    )
    return (ServedTool(_RELATE, _relate, writes=True), *merging) if service.writable else merging


def _of(description: str) -> Schema:
    return {**STRING, "description": description}


def _hints(*, reads: bool) -> types.ToolAnnotations:
    return types.ToolAnnotations(
        read_only_hint=reads, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )


_RELATE: Final = types.Tool(
    name="relate",
    title="Relate two things",
    description=(
        "Record how two people, places, organisations or things are related, such as Dana / works at / Acme, so that "
        "one leads to the other. Use it instead of remember when both are named. It is stored as your note, visible "
        "to the user. Give a key when one answer shall replace another."
    ),
    input_schema=arguments(
        {
            "subject": _of("Who or what it is about, by its usual name."),
            "predicate": _of("How they are related, in a word or two, such as works at."),
            "object": _of("Whom or what it is related to, by its usual name."),
            "fact": _of("The same as a sentence, if the three parts in a row do not read well."),
            "key": _of("The question that it answers, such as dana-employer. The same key replaces."),
            "where": {
                "type": "string",
                "enum": ["everywhere", "project"],
                "description": "Whether it holds everywhere (default) or in the configured project only.",
            },
        },
        ("subject", "predicate", "object"),
    ),
    output_schema=WRITTEN,
    annotations=_hints(reads=False),
)

_DESCRIBE: Final = types.Tool(
    name="describe_entity",
    title="Describe an entity",
    description=(
        "All that is related to a person, place, organisation or thing: its other names, the facts that name it, "
        "newest first, and what it leads to. Use it when the user asks who or what somebody or something is. Case and "
        "spacing of the name do not matter."
    ),
    input_schema=arguments({"name": _of("The name, as a fact spells it.")}, ("name",)),
    output_schema=DESCRIPTION,
    annotations=_hints(reads=True),
)

_MERGE: Final = types.Tool(
    name="merge_entities",
    title="Merge two names",
    description=(
        "Note that two names mean the same, such as Acme Corp and Acme, so that either leads to the facts of both. "
        "Use it when the user says so. Nothing is deleted, and unmerge_entities takes it back. It holds for this user "
        "alone."
    ),
    input_schema=arguments(
        {"source": _of("The name that is to stand for the other."), "into": _of("The name to go by.")},
        ("source", "into"),
    ),
    output_schema=MERGED,
    annotations=_hints(reads=False),
)

_UNMERGE: Final = types.Tool(
    name="unmerge_entities",
    title="Take a merge back",
    description=(
        "Take back that two names mean the same, by the id that merge_entities gave. All is then as if they had never "
        "been merged. Use it when the user says that they are two things after all."
    ),
    input_schema=arguments({"merge_id": {**ID, "description": "The id of the merge."}}, ("merge_id",)),
    output_schema=MERGED,
    annotations=_hints(reads=False),
)


async def _relate(call: Call) -> types.CallToolResult:
    done = await call.service.knowledge.relate(call.context, Relation(**call.given))
    said = f"{done.status.capitalize()} under {echo(done.record.key)} at {done.record.scope}, id {done.record.id}."
    if done.record.status == "quarantined":
        said = f"Held for review ({done.record.held_because}), and shown to no model until a person approves it. {said}"
    structured = {"status": done.status, "record": done.record.model_dump(mode="json")}
    return types.CallToolResult(content=text(said), structured_content=structured)


async def _describe(call: Call) -> types.CallToolResult:
    name = call.given["name"]
    found = await call.service.knowledge.describe(call.context, name)
    neighbours = await call.service.knowledge.neighbours(call.context, name)
    structured = description_json(found, neighbours)
    return types.CallToolResult(content=text(_told(found, structured)), structured_content=structured)


def description_json(found: Description, neighbours: Sequence[Neighbour]) -> dict[str, Any]:
    """An entity as structured content. What stands both ways is listed once."""
    by_id = {record.id: record for record in (*found.as_subject, *found.as_object)}
    facts = sorted(by_id.values(), key=lambda record: record.updated_at, reverse=True)
    return {
        "name": found.name,
        "aliases": list(found.aliases),
        "facts": [record.model_dump(mode="json") for record in facts[:_MOST_SHOWN]],
        "neighbours": [
            {
                "name": neighbour.name,
                "predicate": neighbour.predicate or "",
                "direction": neighbour.direction,
                "id": neighbour.record.id,
            }
            for neighbour in neighbours[:_MOST_SHOWN]
        ],
        "more": found.more or len(facts) > _MOST_SHOWN,
    }


def _told(found: Description, structured: dict[str, Any]) -> str:
    also = f", also called {', '.join(map(harmless_text, found.aliases))}" if found.aliases else ""
    lines = [f"{harmless_text(found.name)}{also}. Facts, newest first:"]
    for fact in structured["facts"]:
        author = "person" if fact["origin"]["author"] == "human" else "note"
        lines.append(f"- {harmless_text(fact['text'])} ({author}, id {fact['id']})")
    if structured["more"]:
        lines.append("- and older ones; search_memories finds them.")
    names = dict.fromkeys(neighbour["name"] for neighbour in structured["neighbours"])
    if names:
        lines.append(f"It leads to: {', '.join(map(harmless_text, names))}.")
    return "\n".join(lines)


async def _merge(call: Call) -> types.CallToolResult:
    given = call.given
    merge = await call.service.knowledge.merge(call.context, MergeCommand(given["source"], given["into"]))
    said = f"{echo(given['source'])} and {echo(given['into'])} mean the same from now on. Merge id {merge.id}."
    structured = {"merge_id": merge.id, "in_force": True, "at": merge.at}
    return types.CallToolResult(content=text(said), structured_content=structured)


async def _unmerge(call: Call) -> types.CallToolResult:
    undone = await call.service.knowledge.unmerge(call.context, UnmergeCommand(call.given["merge_id"]))
    structured = {"merge_id": undone.id, "in_force": False, "at": undone.undone_at or undone.at}
    return types.CallToolResult(content=text("Taken back: they are two again."), structured_content=structured)
