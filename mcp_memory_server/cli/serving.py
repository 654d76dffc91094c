"""`serve` and `demo`."""

from __future__ import annotations

import sys

import click

from mcp_memory_server.config import load_settings

from .failures import told
from .flags import Flags, setting_flags


@click.command("serve")
@setting_flags(hidden=True)
@click.pass_context
def serve_command(ctx: click.Context) -> None:
    """Serve MCP over standard input and output; also what no command does."""
    flags = Flags.of(ctx)
    with told(flags):
        settings = load_settings(flags.settings)
        if sys.stdin.isatty():
            click.echo("Waiting for an MCP client on standard input. Ctrl-C stops, --help shows commands.", err=True)
        from mcp_memory_server.server.transports import serve_stdio  # noqa: PLC0415  # the SDK takes a second

        status = serve_stdio(settings)
    ctx.exit(status)
