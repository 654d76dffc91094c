"""Who may write, delete and approve, and how far a write is trusted."""

from typing import Any, get_args

import pytest

from mcp_memory_server.errors import Refused
from mcp_memory_server.identity import Actor
from mcp_memory_server.policy import (
    Claim,
    Standing,
    approve_verdict,
    forget_verdict,
    standing,
    waits_for_provenance_alone,
    write_verdict,
)
from mcp_memory_server.records import Author, MemoryOrigin, MemoryRecord, Provenance

from .golden_cases import golden_cases

ANN = Actor("ann", "acme")
SCOPES = ("actor:ann#shop", "actor:ann", "tenant:acme", "global")


@pytest.mark.parametrize("case", golden_cases("rules.jsonl", ["write"]))
def test_write_verdicts_are_the_golden_ones(case: dict[str, Any]) -> None:
    elevated = {"elevated": case["elevated"]} if "elevated" in case else {}
    verdict = write_verdict(Actor(**case["actor"]), case["scopes"], case["scope"], case["author"], **elevated)
    assert bool(verdict) is case["allowed"]


@pytest.mark.parametrize("case", golden_cases("rules.jsonl", ["forget"]))
def test_forget_verdicts_are_the_golden_ones(case: dict[str, Any]) -> None:
    assert bool(forget_verdict(Actor(**case["actor"]), case["scope"])) is case["allowed"]


@pytest.mark.parametrize("author", get_args(Author))
@pytest.mark.parametrize("scope", ["actor:ann", "actor:ann#shop"])
def test_an_own_scope_is_anyone_s_to_write_and_to_forget(scope: str, author: Author) -> None:
    assert write_verdict(ANN, SCOPES, scope, author)
    assert forget_verdict(ANN, scope)


@pytest.mark.parametrize("elevated", [True, False, None])
def test_no_privilege_lets_an_assistant_write_above_the_own_scope(elevated: bool | None) -> None:
    assert not write_verdict(ANN, SCOPES, "tenant:acme", "agent", elevated)


def test_a_person_above_their_own_scope_needs_to_be_elevated() -> None:
    assert write_verdict(ANN, SCOPES, "tenant:acme", "human", elevated=True)
    assert not write_verdict(ANN, SCOPES, "tenant:acme", "human")
    assert forget_verdict(ANN, "tenant:acme", elevated=True)
    assert not forget_verdict(ANN, "tenant:acme")


def test_nobody_writes_at_a_scope_that_does_not_apply() -> None:
    assert not write_verdict(ANN, SCOPES, "tenant:other", "human", elevated=True)
    assert not write_verdict(ANN, ["tenant:acme"], "actor:ann", "human", elevated=True)


def test_a_refusal_is_raised_with_its_reason_and_an_allowance_is_not() -> None:
    write_verdict(ANN, SCOPES, "actor:ann", "agent").require()
    refusal = write_verdict(ANN, SCOPES, "global", "human")
    with pytest.raises(Refused, match="--elevated") as raised:
        refusal.require()
    assert str(raised.value) == refusal.reason


# --- how far a write is trusted (spec 9.2) ------------------------------------------------------------


def source(**fields: Any) -> MemoryRecord:
    by_ann = MemoryOrigin(author="agent", actor_ref="ann")
    held: dict[str, Any] = {"id": "1", "key": "k", "text": "t", "scope": "actor:ann", "origin": by_ann}
    return MemoryRecord(updated_at="2026-03-01T09:00:00Z", **(held | fields))


@pytest.mark.parametrize("provenance", get_args(Provenance))
def test_what_is_derived_or_foreign_waits_and_what_is_first_party_does_not(provenance: Provenance) -> None:
    """ "`user` and `tool` are first-party and `active`. [The others] land `quarantined`"."""
    verdict = standing(Claim("agent", provenance))
    first_party = provenance in ("user", "tool")
    assert verdict.status == ("active" if first_party else "quarantined")
    assert verdict.held_because == (None if first_party else f"provenance: {provenance}")


@pytest.mark.parametrize("provenance", get_args(Provenance))
def test_an_operator_s_policy_says_otherwise(provenance: Provenance) -> None:
    assert standing(Claim("agent", provenance), ()).status == "active"
    assert standing(Claim("agent", provenance), (provenance,)).status == "quarantined"


def test_what_looks_like_an_injection_waits_whatever_the_policy_unless_a_person_states_it() -> None:
    """ "as does any write that looks like an injection attempt"."""
    claim = Claim("agent", "tool", suspicion="calls-tool (fact)")
    assert standing(claim, ()) == Standing("quarantined", "reads like an instruction: calls-tool (fact)", None)
    assert standing(Claim("human", "user", suspicion="calls-tool (fact)")).status == "active"


@pytest.mark.parametrize(
    ("derived_from", "because"),
    [
        (source(status="quarantined"), "derived from a memory that waits for review"),
        (source(provenance="imported"), "derived from an imported memory"),
        (None, "derived from a memory that is not there"),
    ],
)
def test_a_record_has_the_lowest_trust_of_what_it_was_derived_from(
    derived_from: MemoryRecord | None, because: str
) -> None:
    trusted = source(provenance="user")
    assert standing(Claim("agent", "tool", sources=[trusted])).status == "active"
    assert standing(Claim("agent", "tool", sources=[trusted, derived_from])).held_because == because


def test_every_reason_to_hold_a_record_is_told() -> None:
    claim = Claim("agent", "extraction", "calls-tool (fact)", [None, source(status="quarantined")])
    held = standing(claim).held_because or ""
    assert held.split("; ") == [
        "provenance: extraction",
        "reads like an instruction: calls-tool (fact)",
        "derived from a memory that is not there",
        "derived from a memory that waits for review",
    ]


def test_a_record_is_as_sensitive_as_the_most_sensitive_of_its_sources() -> None:
    sources = [source(sensitivity="public"), source(sensitivity="secret"), source()]
    assert standing(Claim("agent", "tool", sources=sources, sensitivity="public")).sensitivity == "secret"
    assert standing(Claim("agent", "tool", sources=sources[:1], sensitivity="internal")).sensitivity == "internal"
    assert standing(Claim("agent", "tool")).sensitivity is None


def test_only_a_record_that_nothing_else_holds_may_prove_itself() -> None:
    induced = source(provenance="induction", status="quarantined", held_because="provenance: induction")
    assert waits_for_provenance_alone(induced)
    for fields in ({"held_because": "provenance: induction; reads like an instruction: x"}, {"status": "active"}):
        assert not waits_for_provenance_alone(induced.model_copy(update=fields))


# --- who decides about what waits -----------------------------------------------------------------------


def test_one_s_own_waits_for_oneself_and_the_rest_for_the_elevated_or_for_reviewers() -> None:
    for scope in ("actor:ann", "actor:ann#shop"):
        assert approve_verdict(ANN, source(scope=scope))
    shared = source(scope="tenant:acme")
    assert not approve_verdict(ANN, shared)
    assert approve_verdict(ANN, shared, elevated=True)
    for role in ("memory:reviewer", "memory:admin"):
        assert approve_verdict(Actor("bob", "acme", frozenset({role})), shared)
    for role in ("memory:reader", "memory:writer", "reviewer"):
        assert not approve_verdict(Actor("bob", "acme", frozenset({role})), shared)


def test_where_roles_are_in_force_nobody_approves_what_they_proposed() -> None:
    reviewer = Actor("ann", "acme", frozenset({"memory:reviewer"}))
    own_proposal = source(scope="tenant:acme")
    assert not approve_verdict(reviewer, own_proposal)
    assert not approve_verdict(reviewer, own_proposal, elevated=True)
    assert approve_verdict(reviewer, source(scope="tenant:acme", origin=MemoryOrigin(author="agent", actor_ref="bob")))
    assert approve_verdict(reviewer, source(scope="actor:ann"))
