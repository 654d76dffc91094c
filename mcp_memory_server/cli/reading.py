"""Commands that show: `block`, `recall`, `search`, `list`, `history`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

import click

from mcp_memory_server.errors import InvalidInput, NotFound, echo
from mcp_memory_server.providers.base import Hit
from mcp_memory_server.recall import TokenBudget
from mcp_memory_server.recall.budget import excerpt, largest
from mcp_memory_server.records import KINDS, OWNERS, Kind, MemoryRecord, Owner, visible_line
from mcp_memory_server.service import Form, Offered, OfferOptions, Reach, SearchOptions

from .columns import counted, terminal_width
from .layout import PINNED, author_of, hits_table, record_json, records_table, table, versions_table
from .session import Session, in_session, reach_flags
from .streams import or_stdin


class SearchFields(TypedDict, total=False):
    """The options of `search`, by the names of `SearchOptions`."""

    top_k: int
    tags: Sequence[str]
    kinds: Sequence[Kind]
    owner: Sequence[Owner]
    since: str | None
    until: str | None
    as_of: str | None
    known_at: str | None
    include_superseded: bool
    include_quarantined: bool
    include_archived: bool
    expand: bool


_EXPAND = click.option("--expand", is_flag=True, help="Then what else is known about the entities in what was found.")


_budget_option = click.option(
    "--max-tokens", type=int, metavar="N", help="A ceiling on what is printed, 100 at least; what is left out is told."
)


def _clock_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--known-at", metavar="TIME", help="What was believed then, whatever was written after."),
        click.option("--as-of", metavar="TIME", help="What was true then instead of now, ISO 8601 with a zone."),
    ):
        command = option(command)
    return command


@click.command("block")
@click.argument("query", required=False, callback=or_stdin)
@click.option("--turn-id", help="Your id of this turn: asking again with it repeats the answer.")
@click.option("--digest-id", help="Repeat an earlier digest as it was shown.")
@_EXPAND
@_clock_options
@_budget_option
@in_session
async def block_command(session: Session, query: str | None, **options: Unpack[OfferOptions]) -> None:
    """Print the block that a host puts into the prompt.

    With a QUERY the facts are picked by relevance to it; `-` reads it from standard input, so that a prompt hook
    can pipe the prompt in.
    """

    def as_json(offered: Offered) -> dict[str, Any]:
        return {**_digest_json(offered), "block": session.service.block(replace(offered, text=None))}

    def as_text(offered: Offered) -> str:
        return session.service.block(offered)

    offered = await _offer(session, query, options, (as_json, as_text))
    session.show(as_json(offered), as_text(offered))


@click.command("recall")
@click.argument("query", required=False, callback=or_stdin)
@click.option("--turn-id", help="Your id of this turn: asking again with it repeats the answer.")
@click.option("--digest-id", help="Repeat an earlier digest as it was shown.")
@_EXPAND
@_clock_options
@_budget_option
@in_session
async def recall_command(session: Session, query: str | None, **options: Unpack[OfferOptions]) -> None:
    """Show the facts that answer a question best.

    The same digest as a model gets, with ids and with the wider values that each fact overrides. `-` reads the
    QUERY from standard input.
    """
    offered = await _offer(session, query, options, (_digest_json, _digest_text))
    session.show(_digest_json(offered), offered.text if offered.text and not session.as_json else _digest_text(offered))


_Views = tuple[Callable[[Offered], dict[str, Any]], Callable[[Offered], str]]
"""How a command shows an answer as JSON, and as text."""


async def _offer(session: Session, query: str | None, options: OfferOptions, views: _Views) -> Offered:
    as_json, as_text = views
    form = Form(lambda offered: json.dumps(as_json(offered), ensure_ascii=False), short=None)
    try:
        return await session.service.offer(
            session.context, query, form=form if session.as_json else Form(as_text), **options
        )
    except NotFound:
        digest_id = options.get("digest_id") or ""
        raise NotFound("digest", digest_id, "Leave --digest-id out for a current one.") from None


def _digest_json(offered: Offered) -> dict[str, Any]:
    shown: dict[str, Any] = offered.digest.model_dump(mode="json") | {"journaled": offered.journaled}
    shown["entries"] = offered.excerpts() or shown["entries"]
    if why := offered.why():
        shown["entries"] = [{**entry, "why": why[entry["id"]]} for entry in shown["entries"]]
    if offered.withheld is not None:
        shown["withheld"] = offered.withheld
    return shown | {"erased": offered.erased} if offered.erased else shown


def _digest_text(offered: Offered) -> str:
    digest = offered.digest
    rows: list[Sequence[object]] = []
    for entry in digest.entries:
        text = offered.shown_text(entry)
        rows.append(
            ("*" if entry.pinned else "", entry.key, text, entry.scope, author_of(entry.origin.author), entry.id)
        )
        if offered.shown_chars is None:
            rows += [("", "↳ over", value.text, value.scope, author_of(value.author), "") for value in entry.overrides]
    notes = [f"Digest {digest.digest_id}."]
    if any(entry.pinned for entry in digest.entries):
        notes.append(PINNED)
    if digest.omitted:
        notes.append(f"{counted(digest.omitted, 'more fact')} did not fit (--max-memories, --max-tokens).")
    if digest.pinned_omitted:
        notes.append(f"{digest.pinned_omitted} of them pinned: more is pinned than the block holds.")
    if offered.withheld:
        notes.append(f"Above --max-sensitivity: {counted(offered.withheld, 'key')}.")
    if offered.erased:
        notes.append(f"Erased since it was first shown: {counted(offered.erased, 'fact')}.")
    if not rows:
        shown = "Nothing that is remembered fits." if digest.partial else "Nothing is remembered yet."
    else:
        shown = table(("", "KEY", "FACT", "SCOPE", "BY", "ID"), rows, terminal_width(), flexible=2)
    return f"{shown}\n\n{' '.join(notes)}"


@click.command("search")
@click.argument("query", required=False, callback=or_stdin)
@click.option("--top-k", type=int, default=10, help="How many keys at most, 1 to 200; default: 10.")
@click.option("--tag", "tags", multiple=True, help="Only with this tag; several times: with all of them.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only of this kind, or one of several.")
@click.option("--owner", multiple=True, type=click.Choice(OWNERS), help="Only of this owner, or one of several.")
@click.option("--since", metavar="TIME", help="Only what was written at this time or later, ISO 8601 with a zone.")
@click.option("--until", metavar="TIME", help="Only what was written before this time.")
@click.option("--include-superseded", is_flag=True, help="Also facts that were replaced or have ended.")
@click.option("--include-quarantined", is_flag=True, help="Also what waits for review.")
@click.option("--include-archived", is_flag=True, help="Also what maintenance set aside.")
@_EXPAND
@_clock_options
@_budget_option
@reach_flags
@in_session
async def search_command(
    session: Session, query: str | None, reach: Reach, max_tokens: int | None, **options: Unpack[SearchFields]
) -> None:
    """Search with every option, and see why each record was found.

    Unlike `recall` it resolves nothing: every scope's answer to a key comes. Without a QUERY everything that the
    options let through. `-` reads the QUERY from standard input.
    """
    budget = session.service.budget(max_tokens)
    scopes = await session.service.scopes_within(session.context, reach)
    hits = await session.service.search(session.person, SearchOptions(query, **options), scopes)
    if budget is None:
        session.show(_hits_json(hits), _hits_text(hits, len(hits)))
    elif session.as_json:
        session.show(_fitting_json(hits, budget), "")
    else:
        session.show({}, _fitting_text(hits, budget))


def _hits_json(hits: Sequence[Hit]) -> dict[str, Any]:
    found = [{"record": record_json(hit.record), "score": hit.score, "signals": dict(hit.signals)} for hit in hits]
    return {"hits": found}


def _hits_text(hits: Sequence[Hit], shown: int) -> str:
    """The first so many hits as a table, and how many there are besides."""
    text = hits_table(hits[:shown], terminal_width()) if hits else "Nothing was found."
    missing = len(hits) - shown
    return f"{text}\n\n{counted(missing, 'more record')} did not fit (--max-tokens)." if missing else text


def _fitting_json(hits: Sequence[Hit], budget: TokenBudget) -> dict[str, Any]:
    """
    Raises:
        InvalidInput: the budget does not hold the best hit; half a fact never stands among data.
    """

    def upto(first: int) -> dict[str, Any]:
        return _hits_json(hits[:first]) | {"omitted": len(hits) - first}

    shown = largest(len(hits), lambda first: budget.holds(json.dumps(upto(first), ensure_ascii=False)))
    if hits and not shown:
        few = budget.max_tokens
        raise InvalidInput.of("max_tokens", f"is {few}, too few for a fact as data: give more, or leave --json out")
    return upto(shown)


def _fitting_text(hits: Sequence[Hit], budget: TokenBudget) -> str:
    """As many hits as fit; of the best one an excerpt at least."""
    shown = largest(len(hits), lambda first: budget.holds(_hits_text(hits, first)))
    if hits and not shown:
        return excerpt(hits[0].record, len(hits) - 1, budget.holds)[0]
    return _hits_text(hits, shown)


@click.command("list")
@click.option("--tag", help="Only records with this tag.")
@_clock_options
@reach_flags
@in_session
async def list_command(
    session: Session, tag: str | None, reach: Reach, as_of: str | None, known_at: str | None
) -> None:
    """Show every record held at your scopes.

    By default at those that apply to you here: every record there, also those that a narrower one overrides.
    """
    if as_of or known_at:
        scopes = await session.service.scopes_within(session.context, reach)
        then = await session.service.everything_then(scopes, as_of, known_at)
        held = [record for record in then if tag is None or tag in record.tags]
    else:
        held = await records_within(session, reach, tag)
    text = records_table(held, terminal_width()) if held else "Nothing is held there."
    session.show({"records": [record_json(record) for record in held]}, text)


async def records_within(session: Session, reach: Reach, tag: str | None) -> list[MemoryRecord]:
    """The records within reach, scope by scope, in order of key."""
    scopes = await session.service.scopes_within(session.context, reach)
    return [
        record
        for scope in scopes
        async for record in session.service.everything_at(scope)
        if tag is None or tag in record.tags
    ]


@click.command("history")
@click.argument("key", required=False)
@click.option("--id", "record_id", help="The record's id, in place of its key.")
@reach_flags
@in_session
async def history_command(session: Session, key: str | None, record_id: str | None, reach: Reach) -> None:
    """Show every version of one fact.

    Of several records with the KEY it is the narrowest one of your own; --scope names another.
    """
    record = await session.record(key, record_id, reach)
    scopes = await session.service.scopes_within(session.context, reach)
    story = await session.service.history(session.context, id=record.id, scopes=scopes)
    parts = {"versions": story.versions, "supersedes": story.supersedes, "superseded_by": story.superseded_by}
    lines = [
        f"{record.key} at {record.scope}, id {visible_line(record.id)}",
        "",
        versions_table(story.versions, terminal_width()),
    ]
    chain = [("Took the place of", story.supersedes), ("Its place was taken by", story.superseded_by)]
    linked = [f"{words} {echo(other.key)}, id {other.id}." for words, others in chain for other in others]
    session.show(
        {name: [record_json(version) for version in records] for name, records in parts.items()},
        "\n".join([*lines, *([""] if linked else []), *linked]),
    )
