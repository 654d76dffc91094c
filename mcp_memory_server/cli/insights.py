"""`insights`: what a person does with insights."""

from __future__ import annotations

import click

from mcp_memory_server.errors import echo
from mcp_memory_server.service.kinds import Writer

from .columns import terminal_width
from .layout import author_of, record_json, table
from .placing import group, held_of_kind, placed
from .session import Session, in_session
from .streams import or_stdin
from .writing import show_written


@click.command("list")
@in_session
async def _list(session: Session) -> None:
    """Show the insights that apply to you, what they rest on, and what votes made of them."""
    insights = await held_of_kind(session, "insight")
    rows = [
        (
            held.key,
            held.text,
            held.insight.salience if held.insight else "",
            len(held.insight.cites) if held.insight else "",
            held.scope,
            author_of(held.origin.author),
            held.id if held.status == "active" else f"{held.id} ({held.status})",
        )
        for held in insights
    ]
    headings = ("KEY", "INSIGHT", "SALIENCE", "CITES", "SCOPE", "BY", "ID")
    shown = table(headings, rows, terminal_width(), flexible=1) if rows else "There is no insight yet."
    session.show({"insights": [record_json(held) for held in insights]}, shown)


insights_command = group("insights", _list, "Show the insights, and state or vote on one.")


@insights_command.command("record")
@click.argument("key")
@click.argument("fact", callback=or_stdin)
@click.option("--cites", multiple=True, required=True, help="The id of a memory that it rests on; one or several.")
@placed
@in_session
async def _record(session: Session, key: str, fact: str, cites: tuple[str, ...], writer: Writer) -> None:
    """State what follows from the memories that it cites."""
    show_written(session, await session.service.kinds.insights.record(session.person, key, fact, cites, writer))


@insights_command.command("vote")
@click.argument("id")
@click.argument("vote", type=click.Choice(["up", "down"]))
@placed
@in_session
async def _vote(session: Session, id: str, vote: str, writer: Writer) -> None:
    """Vote on the insight of that ID; at a salience of 0 it is shown to nobody any more."""
    voted = await session.service.kinds.insights.vote(session.person, id, 1 if vote == "up" else -1, writer)
    salience = voted.insight.salience if voted.insight else 0
    gone = "; it is shown to nobody any more" if voted.archived_at else ""
    session.show({"record": record_json(voted)}, f"{echo(voted.key)} has salience {salience}{gone}.")
