"""From the claims of a verified token to the person on whose behalf it was issued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.identity import Actor
from mcp_memory_server.policy import ROLE_PREFIX


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """Which claims name the actor, their organisation and their roles; a dot goes into a nested object.

    Roles are a list, or one string with spaces between them; an organisation's roles for other things are left out.
    The actor's claim has to be one that people cannot change about themselves: whoever can, reads others' memories.
    """

    actor: str = "sub"
    tenant: str = "tenant"
    roles: str = "roles"


def actor_of(claims: Mapping[str, Any], names: ClaimNames) -> Actor | None:
    """The actor; None where the claims name none that there could be, so that the token lets nobody in."""
    actor_id = _claim(claims, names.actor)
    tenant = _claim(claims, names.tenant)
    if not isinstance(actor_id, str) or not (tenant is None or isinstance(tenant, str)):
        return None
    try:
        return Actor(actor_id, tenant or None, _roles(_claim(claims, names.roles)))
    except InvalidInput:
        return None


def _claim(claims: Mapping[str, Any], path: str) -> object:
    """The claim of that very name, else what the path leads to."""
    if path in claims:
        return claims[path]
    found: object = claims
    for name in path.split("."):
        if not isinstance(found, Mapping):
            return None
        found = cast("Mapping[str, object]", found).get(name)
    return found


def _roles(value: object) -> frozenset[str]:
    listed = value.split() if isinstance(value, str) else value
    if not isinstance(listed, list):
        return frozenset()
    names = (name for name in cast("list[object]", listed) if isinstance(name, str))
    return frozenset(name for name in names if name.startswith(ROLE_PREFIX))
