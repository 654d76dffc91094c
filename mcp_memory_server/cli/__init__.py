"""The command line: arguments to settings, then serve or act. Only this package prints or exits.

`--help` and `--version` load click and nothing else: a command's module is imported when the command is called,
and each loads no more than it needs. So `block`, which a host's prompt hook calls, never loads the MCP SDK.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Final

import click

from .flags import setting_flags
from .streams import leave, open_closed, output_fault, use_utf8

_SERVING: Final = {
    "serve": ("serving", "Serve MCP, over standard input and output or over HTTP; also what no command does."),
    "token": ("tokens", "Make, list and revoke the tokens of a token file."),
}
_MEMORIES: Final = {
    "block": ("reading", "Print the block that a host puts into the prompt."),
    "recall": ("reading", "Show the facts that answer a question best."),
    "search": ("reading", "Search with every option, and see why each record was found."),
    "list": ("reading", "Show every record held at your scopes."),
    "history": ("reading", "Show every version of one fact."),
    "remember": ("writing", "State a fact, as a person."),
    "publish": ("writing", "State a fact at a scope that others share."),
    "pin": ("writing", "Keep a fact in every block."),
    "unpin": ("writing", "Let a fact compete for its place in the block again."),
    "review": ("reviewing", "See what waits for your decision, and decide."),
    "forget": ("forgetting", "Erase facts for good."),
    "blocks": ("blocks", "Show the working blocks, and change or lock them."),
    "rules": ("rules", "Show the rules, and state, try or fill in one."),
    "insights": ("insights", "Show the insights, and state or vote on one."),
    "entities": ("entities", "Show the names in triples, and say which of them mean the same."),
}
_STORE: Final = {
    "stats": ("store", "Count what is held."),
    "export": ("store", "Write records with their history as JSON Lines."),
    "import": ("store", "Take in records from JSON Lines, all or none."),
    "copy": ("copying", "Copy a whole store into another one, of any kind."),
    "reindex": ("reindex", "Give every record vectors of the configured embedder."),
    "maintain": ("maintain", "Set aside what has ended or is too much, and promote what has proven itself."),
    "migrate": ("migrate", "Make or upgrade a Postgres store, and let servers use it."),
    "doctor": ("doctor", "Check settings and store, and mend what can be mended."),
    "demo": ("serving", "Watch a real client use a scratch server."),
}
_CHECKS: Final = {
    "check-regex": ("check_regex", "Say whether a regular expression can hang a backtracking engine."),
    "check-schema": ("check_schema", "Check the patterns of a JSON Schema, a tool or a tools/list result."),
    "check-server": ("check_server", "Check the patterns in the tools of any MCP server."),
}
FAMILIES: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "Serving": _SERVING,
    "Memories": _MEMORIES,
    "Store": _STORE,
    "Regex safety": _CHECKS,
}
"""Module and summary of each command, as the help shows them."""

_COMMANDS: Final = {name: place for family in FAMILIES.values() for name, place in family.items()}


class _Commands(click.Group):
    """Commands by name, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _ = _COMMANDS[cmd_name]
        return getattr(import_module(f"{__name__}.{module}"), f"{cmd_name.replace('-', '_')}_command")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(error.message + _nearest(args[0]), ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, family in FAMILIES.items():
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in family.items()])


def _nearest(word: str) -> str:
    """The command that was meant, as a sentence to append; nothing where none is like the word."""
    from difflib import get_close_matches  # noqa: PLC0415  # for a mistake only

    return "".join(f" Did you mean {name!r}?" for name in get_close_matches(word, _COMMANDS, n=1))


@click.group(cls=_Commands, invoke_without_command=True)
@setting_flags(hidden=False)
@click.version_option(package_name="mcp-memory-server", message="%(prog)s %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Long-term memory for MCP clients: attributed, inspectable, correctable, forgettable.

    Without a command it serves MCP over standard input and output, as a client starts it. Every flag below may
    stand before or after a command.
    """
    if ctx.invoked_subcommand is None:
        serve = commands.get_command(ctx, "serve")
        assert serve is not None
        ctx.invoke(serve)


def main() -> None:
    """Run the command line and exit with its status."""
    open_closed()
    use_utf8(sys.stdin, sys.stdout, sys.stderr)
    try:
        # An exit that a command asks for comes back as its status; a command that just ends gives None.
        status = commands.main(prog_name="mcp-memory-server", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except OSError as error:
        click.echo(f"Error: {output_fault(error)}", err=True)
        status = 1
    except click.Abort:
        status = 128 + signal.SIGINT
    leave(status)
