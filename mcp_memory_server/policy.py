"""Who may write, delete and approve, and how far a write is trusted, as pure verdicts (spec sections 6 and 9.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from .errors import Refused, echo
from .identity import Actor, is_own_scope
from .records import Author, MemoryRecord, Provenance, Sensitivity, Status

HELD_PROVENANCES: Final[tuple[Provenance, ...]] = ("extraction", "reflection", "induction", "imported")
"""What waits for a person's review where the operator says nothing: what was derived, and what came from elsewhere."""

_SENSITIVITIES: Final[tuple[Sensitivity, ...]] = get_args(Sensitivity)

ADMIN: Final = "memory:admin"
"""The role of who looks after a store."""

Action = Literal["read", "write", "review"]
"""What a role allows: to be shown what applies, to record and forget what is one's own, to decide for others."""

ROLES: Final[dict[str, frozenset[Action]]] = {
    "memory:reader": frozenset({"read"}),
    "memory:writer": frozenset({"read", "write"}),
    "memory:reviewer": frozenset({"read", "write", "review"}),
    ADMIN: frozenset({"read", "write", "review"}),
}

ROLE_PREFIX: Final = "memory:"
"""How the names of our roles begin. An organisation's other roles say nothing here."""


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


def may(actor: Actor, action: Action, *, roles_required: bool = False) -> bool:
    """Whether `actor` may do this at all, before it is asked where.

    Roles are in force once an actor has one of ours, if only a misspelt one, and for everybody where the operator
    requires them. Where none are in force everybody may do what touches their own memory only, so not review.
    """
    ours = [role for role in actor.roles if role.startswith(ROLE_PREFIX)]
    if not ours and not roles_required:
        return action != "review"
    return any(action in ROLES.get(role, ()) for role in ours)


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


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be written, as far as trusting it goes.

    `suspicion` is why it reads like an instruction to the model, if it does. `sources` are the records that it was
    derived from; None for one that the writer cannot see. `sensitivity` is what it would have without them.
    """

    author: Author
    provenance: Provenance
    suspicion: str | None = None
    sources: Sequence[MemoryRecord | None] = ()
    sensitivity: Sensitivity | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a claim is written: whether it waits for review and why, and how sensitive it is where that is asked."""

    status: Status
    held_because: str | None
    sensitivity: Sensitivity | None


def standing(claim: Claim, held: Collection[Provenance] = HELD_PROVENANCES) -> Standing:
    """Whether a claim is a fact at once, or waits until a person has looked at it (spec section 9.2).

    What a person states at the console has been looked at. Anything else waits when its provenance is one of
    `held`, when it reads like an instruction, and when it rests on what is not trusted: it has the lowest trust of
    its sources, and their highest sensitivity.
    """
    reasons = [] if claim.author == "human" else list(_reasons_to_hold(claim, held))
    asked = [claim.sensitivity, *(source.sensitivity for source in claim.sources if source is not None)]
    return Standing(
        status="quarantined" if reasons else "active",
        held_because="; ".join(reasons) or None,
        sensitivity=next((level for level in reversed(_SENSITIVITIES) if level in asked), None),
    )


def waits_for_provenance_alone(record: MemoryRecord) -> bool:
    """Whether nothing but how it came about holds a record: then what proves it may release it without a person."""
    return record.status == "quarantined" and record.held_because == _provenance_reason(record.provenance)


def _provenance_reason(provenance: Provenance | None) -> str:
    return f"provenance: {provenance}"


def _reasons_to_hold(claim: Claim, held: Collection[Provenance]) -> Iterator[str]:
    if claim.provenance in held:
        yield _provenance_reason(claim.provenance)
    if claim.suspicion is not None:
        yield f"reads like an instruction: {claim.suspicion}"
    if None in claim.sources:
        yield "derived from a memory that is not there"
    sources = [source for source in claim.sources if source is not None]
    if any(source.status == "quarantined" for source in sources):
        yield "derived from a memory that waits for review"
    if any(source.status == "active" and source.provenance == "imported" for source in sources):
        yield "derived from an imported memory"


def may_review(actor: Actor, scope: str, elevated: bool = False) -> bool:
    """Whether `actor` decides about what waits at `scope`: their own, and wider ones with a role or elevated."""
    return is_own_scope(actor, scope) or elevated or may(actor, "review")


def may_see(actor: Actor, record: MemoryRecord) -> bool:
    """Whether a record is there for `actor` to read back: one that waits is so for who decides about it."""
    return record.status == "active" or may_review(actor, record.scope)


def approve_verdict(actor: Actor, record: MemoryRecord, elevated: bool = False) -> Verdict:
    """May `actor` make a fact of a record that waits for review?

    Where roles are in force, what others share takes two: whoever proposed it is not who approves it.
    """
    if not may_review(actor, record.scope, elevated):
        return _refused(
            f"What waits at {echo(record.scope)} is decided by a reviewer: role memory:reviewer or memory:admin, or "
            "`mcp-memory-server review approve ID --elevated`."
        )
    if actor.roles and not is_own_scope(actor, record.scope) and record.origin.actor_ref == actor.id:
        return _refused("You proposed this yourself: another reviewer has to approve it.")
    return ALLOWED
