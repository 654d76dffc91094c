"""Who may write and who may delete."""

from typing import Any, get_args

import pytest

from mcp_memory_server.errors import Refused
from mcp_memory_server.identity import Actor
from mcp_memory_server.policy import forget_verdict, write_verdict
from mcp_memory_server.records import Author

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
