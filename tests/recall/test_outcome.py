"""The three outcomes are a closed union: a fourth one would not pass the type checker here."""

from typing import assert_never

import pytest

from mcp_memory_server.recall import Block, Degrade, NothingNew, Outcome


def shown(outcome: Outcome) -> str:
    match outcome:
        case Block(text=text):
            return text
        case NothingNew():
            return ""
        case Degrade(reason=reason):
            return f"the whole block, because of {reason}"
        case _:
            assert_never(outcome)


@pytest.mark.parametrize(
    ("outcome", "expected", "surfaced"),
    [
        (Block("a block", frozenset({"k"})), "a block", 1),
        (NothingNew(), "", 0),
        (Degrade("empty_scope"), "the whole block, because of empty_scope", 0),
    ],
)
def test_each_outcome_is_told_from_the_others_and_has_what_it_surfaced(
    outcome: Outcome, expected: str, surfaced: int
) -> None:
    assert shown(outcome) == expected
    assert len(outcome.surfaced) == surfaced
    assert hash(outcome) == hash(outcome)


def test_nothing_new_is_no_fallback() -> None:
    assert NothingNew() != Degrade("empty_scope")
