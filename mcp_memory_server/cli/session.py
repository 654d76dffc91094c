"""What a command runs in: the configured actor, an open service, and where its answer goes."""

from __future__ import annotations

import functools
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Concatenate, Final, ParamSpec

import anyio
import click

from mcp_memory_server.config import DEFAULT, Settings, load_settings
from mcp_memory_server.errors import NotFound
from mcp_memory_server.identity import RequestContext, is_own_scope
from mcp_memory_server.opening import open_service
from mcp_memory_server.records import MemoryRecord
from mcp_memory_server.service import MemoryService, Reach

from .failures import told
from .flags import Flags, setting_flags

P = ParamSpec("P")

_FLEETING: Final = "memory://"
"""Of use to a server while it runs. A command begins with nothing there and leaves nothing behind."""


@dataclass(frozen=True, slots=True)
class Session:
    """One command of the settings' actor, over the open store."""

    settings: Settings
    service: MemoryService
    context: RequestContext
    as_json: bool

    @property
    def person(self) -> RequestContext:
        """The request as a person's at the console, whom no ceiling keeps anything from."""
        return replace(self.context, max_sensitivity="secret")

    def show(self, document: Any, text: str) -> None:
        """Answer with the document or with the text, whichever was asked for."""
        show(document, text, as_json=self.as_json)

    async def record(self, key: str | None, record_id: str | None, reach: Reach) -> MemoryRecord:
        """The record of that key or id: the narrowest own one, else the narrowest of all within reach.

        Raises:
            NotFound, Refused
            click.UsageError: not exactly one of key and id.
        """
        require_one(key, record_id)
        scopes = await self.service.scopes_within(self.context, reach)
        held = await self.service.find(scopes, id=record_id, key=key)
        own = [record for record in held if is_own_scope(self.context.actor, record.scope)]
        if not held:
            raise unknown_record(key, record_id)
        return (own or held)[0]


def unknown_record(key: str | None, record_id: str | None) -> NotFound:
    remedy = "`mcp-memory-server list` shows keys and ids, `list --mine` those of all your projects."
    return NotFound("memory", record_id or key or "", remedy)


def require_one(key: str | None, record_id: str | None) -> None:
    if (key is None) == (record_id is None):
        raise click.UsageError("Give a KEY or --id ID, exactly one of the two.")


def show(document: Any, text: str, *, as_json: bool) -> None:
    """Print one JSON document, or text for people."""
    click.echo(json.dumps(document, ensure_ascii=False) if as_json else text)


def in_session(function: Callable[Concatenate[Session, P], Awaitable[None]]) -> Callable[P, None]:
    """A command's body, called with an open `Session`; also gives the command the flags of the settings."""

    @setting_flags(hidden=True)
    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        flags = Flags.of(click.get_current_context())

        async def body(settings: Settings) -> None:
            async with open_service(settings) as service:
                await function(Session(settings, service, settings.context(), flags.json), *args, **kwargs)

        with told(flags):
            settings = load_settings(flags.settings)
            log_to_stderr(settings)
            if settings.url.startswith(_FLEETING):
                click.echo(f"Warning: the store {_FLEETING} ends with this command; nothing in it is kept.", err=True)
            anyio.run(body, settings)

    return run


def log_to_stderr(settings: Settings) -> None:
    """Warnings only, unless somebody asked for more: a command's answer is what it prints."""
    level = "WARNING" if settings.origin("log_level") == DEFAULT else settings.log_level
    logging.basicConfig(level=level, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("aiosqlite").setLevel(logging.INFO)  # it logs each statement that it runs


def reach_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--scope`, `--mine`, `--all` and `--elevated`; the body gets them as `reach`."""

    @click.option("--scope", help="Only this scope, such as global or tenant:acme.")
    @click.option("--mine", is_flag=True, help="Every scope of your own, of all your projects.")
    @click.option("--all", "everything", is_flag=True, help="The whole store; needs --elevated.")
    @click.option("--elevated", is_flag=True, help="Your word that you act as an administrator.")
    @functools.wraps(command)
    def run(*args: Any, scope: str | None, mine: bool, everything: bool, elevated: bool, **kwargs: Any) -> Any:
        return command(*args, reach=Reach(scope, mine, everything, elevated), **kwargs)

    return run
