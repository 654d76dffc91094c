"""What the commands about kinds share: at which scope a person writes, and groups that show when nothing is asked."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from mcp_memory_server.records import Kind, MemoryRecord
from mcp_memory_server.service.kinds import Writer
from mcp_memory_server.service.remember import Where

from .flags import setting_flags
from .session import Session


def placed(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--where`, `--scope` and `--elevated`; the body gets a person as `writer`."""

    @click.option("--where", type=click.Choice(["everywhere", "project"]), help="At which of your own scopes.")
    @click.option("--scope", help="A scope that others share, such as tenant:acme.")
    @click.option("--elevated", is_flag=True, help="Your word that you act as an administrator.")
    @functools.wraps(command)
    def run(*args: Any, where: Where | None, scope: str | None, elevated: bool, **kwargs: Any) -> Any:
        if where is not None and scope is not None:
            raise click.UsageError("Give --where or --scope, not both.")
        return command(*args, writer=Writer("human", where, scope, elevated), **kwargs)

    return run


def group(name: str, otherwise: click.Command, help: str) -> click.Group:
    """A command with commands of its own; without one of them it runs `otherwise`."""

    @click.group(name, invoke_without_command=True, help=help)
    @setting_flags(hidden=True)
    @click.pass_context
    def run(ctx: click.Context) -> None:
        if ctx.invoked_subcommand is None:
            ctx.invoke(otherwise)

    run.add_command(otherwise)
    return run


async def held_of_kind(session: Session, kind: Kind) -> list[MemoryRecord]:
    """Every record of the kind at the scopes that apply, in every state, in order of scope and key."""
    return [
        record
        for scope in await session.service.scopes(session.person)
        async for record in session.service.everything_at(scope)
        if record.kind == kind
    ]
