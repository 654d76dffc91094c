"""`reindex`: vectors of the configured embedder for every record of the store."""

from __future__ import annotations

import sys

import click

from mcp_memory_server.providers.base import VectorCount

from .session import Session, in_session


@click.command("reindex")
@in_session
async def reindex_command(session: Session) -> None:
    """Give every record vectors of the configured embedder.

    A server does so by itself, in the background. This does it now, and shows how far it has come. Stopped, it goes
    on where it was. Meanwhile search finds records without vectors by their words.
    """
    count = VectorCount(0, 0)
    with click.progressbar(length=1, label="Embedding", file=sys.stderr, show_pos=True) as progress:
        async for count in session.service.reindex():
            progress.length = max(count.searchable, 1)
            progress.update(count.embedded - progress.pos)
    left = count.searchable - count.embedded
    rest = f" {left} have none: see the log, and run reindex again." if left else ""
    document = {"records": count.searchable, "embedded": count.embedded}
    session.show(document, f"{count.embedded} of {count.searchable} records have vectors.{rest}")
