"""`check-server`: the patterns in what an MCP server publishes."""

from __future__ import annotations

import shlex

import click

from mcp_memory_server.regexsafety.listing import check_tools
from mcp_memory_server.regexsafety.report import shown

from .failures import Unreadable
from .findings_view import FindingsView, report_flags
from .flags import setting_flags

_URLS = ("http://", "https://")
_LONGEST_NAME = 200


def _read_environment(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Callback of `--env`: each value has to be NAME=VALUE."""
    pairs = [pair.partition("=") for pair in given]
    if any(not name or not equals for name, equals, _ in pairs):
        raise click.BadParameter("must be NAME=VALUE.", ctx, parameter)
    return {name: value for name, _, value in pairs}


def _named(server: tuple[str, ...]) -> str:
    """The server as it was given, so that it can be copied; the end of a long command is left out."""
    words = shlex.join(server) if len(server) > 1 else "".join(server)
    return words if len(words) <= _LONGEST_NAME else words[: _LONGEST_NAME - 1] + "…"


@click.command("check-server")
@click.argument("server", metavar="URL | -- COMMAND...", nargs=-1, required=True)
@click.option("--timeout-s", type=click.FloatRange(0.1, 3_600), default=60.0, help="Seconds to wait; default: 60.")
@click.option(
    "--env", "environment", metavar="NAME=VALUE", multiple=True, callback=_read_environment, help="For the COMMAND."
)
@setting_flags(hidden=True)
@report_flags
def check_server_command(
    server: tuple[str, ...], timeout_s: float, environment: dict[str, str], view: FindingsView
) -> None:
    """Check the patterns in the tools of any MCP server.

    It attaches over streamable HTTP to a URL, over stdio to a COMMAND that it starts, and reads the tools; it calls
    none. Exit status 1 when a pattern is not safe, 2 when the server cannot be reached or understood.
    """
    # The client's side of the SDK takes a second to load.
    from mcp_memory_server.client.listing import Command, ServerUnusable, list_tools  # noqa: PLC0415

    is_url = len(server) == 1 and server[0].lower().startswith(_URLS)
    if is_url and environment:
        raise click.UsageError("--env is for a COMMAND; a URL is there already.")
    try:
        tools = list_tools(server[0] if is_url else Command(server, environment), timeout_s)
    except ServerUnusable as fault:
        told = f"{_named(server)} cannot be checked. {fault}"
        # Line by line: what the server wrote must not steer the terminal.
        raise Unreadable("\n".join(map(shown, told.splitlines())), as_json=view.as_json) from None
    report = check_tools(tools)
    view.show(report, " ".join(server), is_file=False)
    click.get_current_context().exit(1 if report.unsafe else 0)
