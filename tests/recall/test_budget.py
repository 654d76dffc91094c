"""Fitting a digest: a hard ceiling, the rest counted, and at least an excerpt of the best."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.block import render_block
from mcp_memory_server.digest import MemoryDigest, resolve_digest
from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.recall import MIN_TOKENS, FittedDigest, TokenBudget, estimate_tokens, fit_to_budget
from mcp_memory_server.recall.budget import largest
from mcp_memory_server.records import MemoryRecord
from tests.block_lines import block_lines

from .notes import hostile_records, note

SCOPES = ("actor:ann", "tenant:acme", "global")


def count_bytes(text: str) -> int:
    """The harshest tokenizer there can be: each byte is a token."""
    return len(text.encode())


def fitted(records: list[MemoryRecord], budget: TokenBudget, most: int = 20, ranked: bool = True) -> FittedDigest:
    def resolve(ceiling: int) -> MemoryDigest:
        return resolve_digest(records, SCOPES, ceiling, ranked=ranked)

    def render(digest: MemoryDigest, max_fact_chars: int | None) -> str:
        return render_block(digest.entries, writable=True, partial=digest.partial, max_fact_chars=max_fact_chars)

    return fit_to_budget(resolve, most, render, budget)


def facts(count: int, text: str = "a fact of some length about one thing or another") -> list[MemoryRecord]:
    return [note(f"n{number}", f"key-{number:03}", f"{text} {number}") for number in range(count)]


def test_what_fits_is_shown_whole() -> None:
    result = fitted(facts(5), TokenBudget(10_000))
    assert len(result.digest.entries) == 5
    assert (result.digest.omitted, result.cut) == (0, False)


def test_the_most_relevant_are_kept_and_the_rest_is_counted() -> None:
    records = facts(20)[::-1]
    result = fitted(records, TokenBudget(600))
    kept = len(result.digest.entries)
    assert 0 < kept < 20
    assert result.digest.omitted == 20 - kept
    assert {entry.id for entry in result.digest.entries} == {record.id for record in records[:kept]}
    one_more = fitted(records, TokenBudget(10_000), most=kept + 1)
    assert estimate_tokens(result.text) <= 600 < estimate_tokens(one_more.text)
    assert "absence from it proves nothing" in result.text


def test_a_small_budget_leaves_out_what_a_small_ceiling_would() -> None:
    records = facts(20)
    by_budget = fitted(records, TokenBudget(600)).digest
    assert by_budget == resolve_digest(records, SCOPES, len(by_budget.entries), ranked=True)


def test_a_budget_smaller_than_the_best_hit_returns_a_marked_excerpt() -> None:
    records = [note(text="the beginning " + "x" * 100_000), *facts(3)]
    result = fitted(records, TokenBudget(500))
    assert result.cut
    assert "the beginning xxx" in result.text
    assert "(cut, 100014 characters)" in result.text
    assert result.digest.omitted == 3
    assert estimate_tokens(result.text) <= 500


def test_a_budget_smaller_than_the_fixed_text_returns_an_excerpt_that_says_how_much_is_missing() -> None:
    result = fitted([note(text="the beginning " + "x" * 100_000, author="human"), *facts(3)], TokenBudget(MIN_TOKENS))
    assert result.cut
    assert "Stated by a person; cut to fit, ask again with a larger budget. 3 more are left out." in result.text
    (line,) = block_lines(result.text)
    assert line.text.startswith("the beginning xxx")
    assert line.text.endswith("…")


def test_facts_go_before_the_text_around_them_where_both_find_no_room() -> None:
    records = [*facts(2), note("p", "tone", "formal", author="human")]
    result = fitted(records, TokenBudget(160))
    assert not result.cut
    assert (len(result.digest.entries), result.digest.omitted) == (3, 0)
    assert result.text.index("Stated by people:") < result.text.index("tone: formal")
    assert result.text.index("Concluded by the assistant:") < result.text.index("key-000: ")
    fewer = fitted([*facts(20)], TokenBudget(160), ranked=False)
    assert f"a selection. {fewer.digest.omitted} more are left out." in fewer.text


@pytest.mark.parametrize("text", ["Lyon", "x" * 10_000])
def test_facts_of_another_time_say_so_however_little_room_there_is(text: str) -> None:
    def resolve(ceiling: int) -> MemoryDigest:
        found = resolve_digest([note(text=text)], SCOPES, ceiling)
        return found.model_copy(update={"as_of": "2020-01-01T00:00:00.000Z"})

    def render(_: MemoryDigest, __: int | None) -> str:
        return "fixed text " * 1_000

    result = fit_to_budget(resolve, 1, render, TokenBudget(140))
    assert "true at 2020-01-01T00:00:00.000Z" in result.text


@pytest.mark.parametrize("max_tokens", [MIN_TOKENS, 10_000])
def test_nothing_remembered_is_said_under_every_budget(max_tokens: int) -> None:
    result = fitted([], TokenBudget(max_tokens))
    assert "Nothing" in result.text
    assert estimate_tokens(result.text) <= max_tokens
    assert block_lines(result.text) == []


@pytest.mark.parametrize("max_tokens", [MIN_TOKENS - 1, 0, -5])
def test_a_budget_that_could_show_nothing_is_refused(max_tokens: int) -> None:
    with pytest.raises(InvalidInput, match=f"max_tokens is {max_tokens}; the smallest budget is {MIN_TOKENS}"):
        TokenBudget(max_tokens)


@given(
    st.lists(hostile_records.map(lambda held: held.model_copy(update={"scope": "global"})), max_size=8),
    st.integers(MIN_TOKENS, 3_000),
    st.sampled_from((estimate_tokens, count_bytes, len)),
    st.booleans(),
)
def test_the_ceiling_is_hard_for_any_estimator_and_something_is_shown(
    records: list[MemoryRecord], max_tokens: int, estimate: Callable[[str], int], ranked: bool
) -> None:
    result = fitted(records, TokenBudget(max_tokens, estimate), ranked=ranked)
    assert estimate(result.text) <= max_tokens
    shown = [line for line in block_lines(result.text) if line.author is None]
    assert bool(shown) is bool(records)
    assert len(shown) == len(result.digest.entries)
    assert len(shown) + result.digest.omitted == len(resolve_digest(records, SCOPES, 1_000).entries)


@given(st.integers(0, 200), st.integers(-1, 250))
def test_the_largest_count_that_fits_is_found_with_few_tries(most: int, limit: int) -> None:
    tried: list[int] = []

    def fits(count: int) -> bool:
        tried.append(count)
        return count <= limit

    assert largest(most, fits) == max(min(most, limit), 0)
    assert 0 not in tried
    assert len(tried) <= 9
