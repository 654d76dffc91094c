"""`entities`: the names in triples, and which of them mean the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import click

from mcp_memory_server.providers.base import Entity, Merge
from mcp_memory_server.records import visible_line
from mcp_memory_server.service import Reach
from mcp_memory_server.service.knowledge import Description, MergeCommand, Neighbour, UnmergeCommand

from .columns import counted, terminal_width
from .flags import setting_flags
from .layout import minute_of, record_json, records_table, table
from .session import Session, in_session, reach_flags

_ELEVATED = click.option("--elevated", is_flag=True, help="Your word that you act as an administrator.")


@click.group("entities")
@setting_flags(hidden=True)
def entities_command() -> None:
    """Show the names in triples, and say which of them mean the same.

    A triple is a fact with a subject, a predicate and an object. Merging deletes nothing and can be taken back.
    """


@entities_command.command("list")
@reach_flags
@in_session
async def list_entities(session: Session, reach: Reach) -> None:
    """Show every entity at your scopes."""
    scopes = await session.service.scopes_within(session.context, reach)
    found = await session.service.knowledge.entities(scopes)
    text = _entities_table(found) if found else "No fact there names an entity."
    session.show({"entities": [asdict(entity) for entity in found]}, text)


def _entities_table(found: Iterable[Entity]) -> str:
    names = {entity.id: entity.name for entity in found}
    rows = [
        (
            entity.name,
            ", ".join(entity.aliases),
            "" if entity.merged_into is None else names[entity.merged_into],
            entity.scope,
        )
        for entity in found
    ]
    return table(("NAME", "ALSO CALLED", "MERGED INTO", "SCOPE"), rows, terminal_width(), flexible=1)


@entities_command.command("show")
@click.argument("name")
@in_session
async def show_entity(session: Session, name: str) -> None:
    """Show the facts that name an entity, and what it leads to.

    Case and spacing of the NAME do not matter.
    """
    knowledge = session.service.knowledge
    found = await knowledge.describe(session.person, name)
    neighbours = await knowledge.neighbours(session.person, name)
    document = {
        "name": found.name,
        "aliases": found.aliases,
        "as_subject": [record_json(record) for record in found.as_subject],
        "as_object": [record_json(record) for record in found.as_object],
        "neighbours": [
            {"name": each.name, "predicate": each.predicate, "direction": each.direction, "id": each.record.id}
            for each in neighbours
        ],
        "more": found.more,
    }
    session.show(document, _described(found, neighbours))


def _described(found: Description, neighbours: Iterable[Neighbour]) -> str:
    heading = found.name if not found.aliases else f"{found.name}, also called {', '.join(found.aliases)}"
    records = {record.id: record for record in (*found.as_subject, *found.as_object)}
    leads = dict.fromkeys(
        f"{found.name} {each.predicate or '-'} {each.name}"
        if each.direction == "outward"
        else f"{each.name} {each.predicate or '-'} {found.name}"
        for each in neighbours
    )
    lines = [visible_line(heading), "", records_table(records.values(), terminal_width())]
    return "\n".join([*lines, *([""] if leads else []), *map(visible_line, leads)])


@entities_command.command("merge")
@click.argument("source")
@click.argument("into")
@click.option("--scope", help="Where they are the same; by default at your own scope.")
@_ELEVATED
@in_session
async def merge_entities(session: Session, source: str, into: str, scope: str | None, elevated: bool) -> None:
    """Note that the name SOURCE means the same as INTO."""
    command = MergeCommand(source, into, scope, author="human", elevated=elevated)
    merge = await session.service.knowledge.merge(session.person, command)
    session.show(_merge_json(merge), f"Merged at {merge.scope}. `entities unmerge {merge.id}` takes it back.")


@entities_command.command("unmerge")
@click.argument("merge_id")
@_ELEVATED
@in_session
async def unmerge_entities(session: Session, merge_id: str, elevated: bool) -> None:
    """Take back a merge by its id, as `entities ledger` shows it."""
    command = UnmergeCommand(merge_id, author="human", elevated=elevated)
    undone = await session.service.knowledge.unmerge(session.person, command)
    session.show(_merge_json(undone), f"Taken back at {undone.scope}: they are two again.")


@entities_command.command("ledger")
@reach_flags
@in_session
async def show_ledger(session: Session, reach: Reach) -> None:
    """Show every merge, who made it and who took it back."""
    scopes = await session.service.scopes_within(session.context, reach)
    knowledge = session.service.knowledge
    lines = await knowledge.ledger(scopes)
    names = {entity.id: entity.name for entity in await knowledge.entities(scopes)}
    text = f"{_ledger_table(lines, names)}\n\n{counted(len(lines), 'merge')}." if lines else "Nothing was ever merged."
    session.show({"merges": [_merge_json(line) for line in lines]}, text)


def _ledger_table(lines: Iterable[Merge], names: dict[str, str]) -> str:
    rows = [
        (
            names.get(line.source, "(forgotten)"),
            names.get(line.target, "(forgotten)"),
            line.scope,
            f"{line.by} {minute_of(line.at)}",
            "" if line.undone_at is None else f"{line.undone_by} {minute_of(line.undone_at)}",
            line.id,
        )
        for line in lines
    ]
    return table(("SOURCE", "INTO", "SCOPE", "MERGED BY", "TAKEN BACK BY", "ID"), rows, terminal_width(), flexible=0)


def _merge_json(merge: Merge) -> dict[str, Any]:
    return {name: value for name, value in asdict(merge).items() if value is not None}
