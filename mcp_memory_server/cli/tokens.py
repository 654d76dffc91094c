"""`token`: who may come in over the network, where no identity provider says so."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from mcp_memory_server.config import Settings, load_settings
from mcp_memory_server.errors import ConfigurationError, InvalidInput, NotFound, echo
from mcp_memory_server.identity import Actor
from mcp_memory_server.policy import ROLES
from mcp_memory_server.records import canonical_instant

from .failures import told
from .flags import Flags, network_flags, setting_flags
from .layout import minute_of, table
from .session import show

if TYPE_CHECKING:
    from mcp_memory_server.server.auth.token_file import TokenEntry, TokenFile


@click.command("token")
@click.argument("action", type=click.Choice(["add", "list", "revoke"]))
@click.argument("name", required=False)
@click.option(
    "--expires", metavar="WHEN", help="When the token ends: a time with a zone, or days from now such as 90d."
)
@network_flags("token_file")
@setting_flags(hidden=True)
@click.pass_context
def token_command(ctx: click.Context, action: str, name: str | None, expires: str | None) -> None:
    """Make, list and revoke the tokens of a token file.

    `add NAME` prints a new token, once: only its hash is kept. It lets its bearer in as the actor NAME, or as that of
    --actor, of the organisation --tenant and with the roles --roles. `revoke NAME` works on a running server too.
    """
    flags = Flags.of(ctx)
    if (action == "list") != (name is None):
        raise click.UsageError(
            "list takes no NAME." if action == "list" else f"Give the NAME of the token to {action}."
        )
    with told(flags):
        tokens = _token_file(load_settings(flags.settings))
        if action == "add":
            _add(tokens, str(name), expires, flags)
        elif action == "revoke":
            _revoke(tokens, str(name), as_json=flags.json)
        else:
            _list(tokens, as_json=flags.json)


def _token_file(settings: Settings) -> TokenFile:
    from mcp_memory_server.server.auth.token_file import TokenFile  # noqa: PLC0415  # the SDK takes a second

    if settings.token_file is None:
        raise ConfigurationError(
            "Nothing says which token file: give --token-file FILE, or set MCP_MEMORY_TOKEN_FILE for the server too."
        )
    return TokenFile.at(settings.token_file)


def _add(tokens: TokenFile, name: str, expires: str | None, flags: Flags) -> None:
    now = datetime.now(UTC)
    actor = _actor(name, flags.settings)
    token = tokens.add(name, actor, canonical_instant(now), None if expires is None else _end(expires, now))
    if flags.json:
        entry = next(entry for entry in tokens.entries() if entry.name == name.strip())
        click.echo(json.dumps(_shown(entry) | {"token": token}, ensure_ascii=False))
        return
    click.echo(token)
    roles = f", {', '.join(sorted(actor.roles))}" if actor.roles else ""
    tenant = f" of {actor.tenant_id}" if actor.tenant_id else ""
    # Not to standard output, so that a script gets the token and nothing else.
    click.echo(
        f"It lets its bearer in as {actor.id}{tenant}{roles}. It is not shown again: pass it on safely.", err=True
    )


def _actor(name: str, given: Mapping[str, object]) -> Actor:
    """By flags alone: whose token it is must not hang on what the operator's own commands are set to."""
    tenant, roles = given.get("tenant"), str(given.get("roles") or "")
    names = frozenset(role.strip() for role in roles.split(",") if role.strip())
    if unknown := sorted(names - ROLES.keys()):
        raise InvalidInput.of(
            "roles", f"has unknown ones: {', '.join(map(echo, unknown))}; there are {', '.join(ROLES)}"
        )
    return Actor(str(given.get("actor") or name).strip(), str(tenant).strip() if tenant else None, names)


def _end(expires: str, now: datetime) -> str:
    if days := re.fullmatch(r"([0-9]{1,5})d", expires.strip()):
        return canonical_instant(now + timedelta(days=int(days[1])))
    try:
        return canonical_instant(expires)
    except ValueError as error:
        raise InvalidInput.of("expires", f"{error}, or 90d for days from now") from None


def _revoke(tokens: TokenFile, name: str, *, as_json: bool) -> None:
    if not tokens.revoke(name):
        raise NotFound("token", name, "`mcp-memory-server token list` shows which there are.")
    show({"revoked": name}, f"Revoked {echo(name)}: it lets nobody in any more.", as_json=as_json)


def _list(tokens: TokenFile, *, as_json: bool) -> None:
    now = canonical_instant(datetime.now(UTC))
    entries = tokens.entries()
    rows = [
        (
            entry.name,
            entry.actor.id,
            entry.actor.tenant_id or "",
            ", ".join(sorted(entry.actor.roles)),
            minute_of(entry.created_at),
            _end_of(entry, now),
        )
        for entry in entries
    ]
    text = table(("NAME", "ACTOR", "TENANT", "ROLES", "MADE", "ENDS"), rows, None, flexible=3)
    show({"tokens": [_shown(entry) for entry in entries]}, text if rows else "There are no tokens.", as_json=as_json)


def _shown(entry: TokenEntry) -> dict[str, Any]:
    return {name: value for name, value in entry.as_json().items() if name != "hash"}


def _end_of(entry: TokenEntry, now: str) -> str:
    if entry.expires_at is None:
        return "never"
    return f"{minute_of(entry.expires_at)}{' (over)' if entry.is_expired(now) else ''}"
