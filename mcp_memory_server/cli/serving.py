"""`serve` and `demo`."""

from __future__ import annotations

import errno
import json
import sys
from contextlib import aclosing
from dataclasses import asdict

import anyio
import click

from mcp_memory_server.config import load_settings

from .failures import told
from .flags import Flags, network_flags, setting_flags


@click.command("serve")
@network_flags()
@setting_flags(hidden=True)
@click.pass_context
def serve_command(ctx: click.Context) -> None:
    """Serve MCP, over standard input and output or over HTTP; also what no command does.

    HTTP is what --transport switches on, and what the other flags below are for; docs/deploy.md says which to set.
    """
    flags = Flags.of(ctx)
    with told(flags):
        settings = load_settings(flags.settings)
        if settings.transport == ("stdio",) and sys.stdin.isatty():
            click.echo("Waiting for an MCP client on standard input. Ctrl-C stops, --help shows commands.", err=True)
        from mcp_memory_server.server.transports import serve  # noqa: PLC0415  # the SDK takes a second

        status = serve(settings)
    ctx.exit(status)


@click.command("demo")
@setting_flags(hidden=True)
@click.pass_context
def demo_command(ctx: click.Context) -> None:
    """Watch a real client use a scratch server.

    It remembers at several scopes, recalls, corrects and forgets, and ends with the lines to paste into a client's
    configuration. It touches nothing of yours.
    """
    # The client's side of the SDK takes a second to load.
    from mcp_memory_server.client.demo import scenes  # noqa: PLC0415

    from .demo_view import best_view  # noqa: PLC0415

    as_json = Flags.of(ctx).json
    view = best_view()
    shown: list[dict[str, str]] = []

    async def play() -> bool:
        """Whether anybody read it to the end. It is played to the end all the same, so that its server ends well."""
        is_read = True
        async with aclosing(scenes()) as played:
            async for scene in played:
                if as_json:
                    shown.append(asdict(scene))
                elif is_read:
                    try:
                        view(scene)
                    except (BrokenPipeError, SystemExit):  # the latter is rich's
                        is_read = False
        return is_read

    if not anyio.run(play):
        raise BrokenPipeError(errno.EPIPE, "nobody reads any more")
    if as_json:
        click.echo(json.dumps({"scenes": shown}, ensure_ascii=False))
