"""How far an operator's command looks: the scopes of the request, or wider ones by their word."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory_server.errors import InvalidInput, Refused, echo
from mcp_memory_server.identity import MAX_STORED_SCOPE_CHARS, RequestContext, check_scope, is_own_scope

from .browse import browsing
from .wiring import Wiring


@dataclass(frozen=True, slots=True)
class Reach:
    """Which scopes a command is about; at most one of `scope`, `mine` and `everything`.

    By default those that apply to the request. `mine`: every scope of the actor's own that holds something, of
    projects not configured now too. `everything`: the whole store, for the elevated. `elevated` is the host's
    word that an administrator asks.
    """

    scope: str | None = None
    mine: bool = False
    everything: bool = False
    elevated: bool = False


async def scopes_within(wiring: Wiring, context: RequestContext, reach: Reach) -> tuple[str, ...]:
    """The scopes within reach, those that apply to the request first and in their order.

    Raises:
        Refused: a scope of others, or the whole store, without elevation.
        InvalidInput: two ways to reach at once, or no scope at all.
    """
    if (reach.scope is not None) + reach.mine + reach.everything > 1:
        raise InvalidInput.of("scope", "is given in two ways; give one of --scope, --mine and --all")
    applying = tuple(await wiring.resolver.resolve(context))
    if reach.scope is not None:
        scope = check_scope(reach.scope, MAX_STORED_SCOPE_CHARS)
        if scope not in applying and not is_own_scope(context.actor, scope) and not reach.elevated:
            raise Refused(f"The scope {echo(scope)} does not apply to you: to look there needs --elevated.")
        return (scope,)
    if not reach.mine and not reach.everything:
        return applying
    if reach.everything and not reach.elevated:
        raise Refused("The whole store is other people's memory too: --all needs --elevated. Yours alone is --mine.")
    held = await browsing(wiring).scopes()
    if reach.mine:
        return tuple(scope for scope in held if is_own_scope(context.actor, scope))
    return (*(scope for scope in applying if scope in held), *(scope for scope in held if scope not in applying))
