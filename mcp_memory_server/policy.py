"""Who may write and who may delete, as pure verdicts (spec section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .errors import Refused, echo
from .identity import Actor, is_own_scope
from .records import Author, MemoryRecord

ADMIN: Final = "memory:admin"
"""The role of who looks after a store."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Allowed, or refused with the reason and who may. True in a boolean context when allowed."""

    allowed: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.allowed

    def require(self) -> None:
        """Raise `Refused` with the reason, unless allowed."""
        if not self.allowed:
            raise Refused(self.reason)


ALLOWED = Verdict(allowed=True)


def _refused(reason: str) -> Verdict:
    return Verdict(allowed=False, reason=reason)


def write_verdict(
    actor: Actor, scopes: Sequence[str], scope: str, author: Author, elevated: bool | None = False
) -> Verdict:
    """May `author`, on behalf of `actor` to whom `scopes` apply, write at `scope`?

    An own scope is always allowed. Above it only a person may write, and only when the host says that they
    are elevated: what an agent could publish to a tenant, anyone in the tenant could plant by talking to it.
    """
    if scope not in scopes:
        return _refused(f"The scope {echo(scope)} does not apply to this request. Use one of the resolved scopes.")
    if is_own_scope(actor, scope):
        return ALLOWED
    if author != "human":
        return _refused(
            f"An assistant may not write at {echo(scope)}, which others share. "
            "Record it for this person, and let a person publish it with `mcp-memory-server publish`."
        )
    if not elevated:
        return _refused(f"Writing at {echo(scope)} touches other people's memory: it needs --elevated.")
    return ALLOWED


def derivation_verdict(sources: Iterable[MemoryRecord]) -> Verdict:
    """May anything be derived from these records? Not from one that was written with `extraction="skip"`."""
    kept_apart = [source.id for source in sources if source.extraction == "skip"]
    if not kept_apart:
        return ALLOWED
    return _refused(
        f"Nothing may be derived from {echo(kept_apart[0])}: it was written with extraction 'skip'. "
        "Leave it out of what this rests on."
    )


def forget_verdict(actor: Actor, scope: str, elevated: bool | None = False) -> Verdict:
    """May `actor` have records at `scope` erased? Own scopes always, asking nobody; wider ones when elevated."""
    if is_own_scope(actor, scope) or elevated:
        return ALLOWED
    return _refused(
        f"Records at {echo(scope)} are shared with others. An administrator may erase them with "
        "`mcp-memory-server forget --elevated`."
    )
