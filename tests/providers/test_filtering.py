"""`Filter`: what it takes, and what it refuses."""

from typing import Any

import pytest

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.base import SENSITIVITIES, SET_ASIDE_TOO, UNFILTERED, Filter


def a_filter(options: dict[str, Any]) -> Filter:
    return Filter(**options)


CLOCKS = ("at", "as_of", "known_at", "since", "until")


@pytest.mark.parametrize("clock", CLOCKS)
def test_any_offset_is_taken_and_kept_as_utc(clock: str) -> None:
    for given in ("2026-03-01T09:00:00Z", "2026-03-01T10:00:00+01:00", "2026-03-01T05:30:00-03:30", "20260301T09Z"):
        assert getattr(a_filter({clock: given}), clock) == "2026-03-01T09:00:00.000Z"


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("given", ["2026-03-01T09:00:00", "2026-03-01", "yesterday", "", 7])
def test_a_time_without_a_zone_or_none_at_all_is_refused_by_name(clock: str, given: Any) -> None:
    with pytest.raises(InvalidInput, match=clock) as refusal:
        a_filter({clock: given})
    assert "2026-03-01T09:00:00Z" in str(refusal.value) or "end it with Z or an offset" in str(refusal.value)


def test_every_wrong_option_is_named_at_once() -> None:
    wrong: dict[str, Any] = {
        "as_of": "soon",
        "tags": (" ",),
        "kinds": ("fact",),
        "owners": ("nobody",),
        "max_sensitivity": "high",
    }
    with pytest.raises(InvalidInput) as refusal:
        Filter(**wrong)
    assert {problem.argument for problem in refusal.value.problems} == set(wrong)
    assert "there are public, internal, secret" in str(refusal.value)


def test_a_range_that_ends_before_it_begins_is_refused_with_both_ends() -> None:
    with pytest.raises(InvalidInput, match=r"2026-02-01T00:00:00\.000Z.*2026-03-01T00:00:00\.000Z"):
        Filter(since="2026-03-01T00:00:00Z", until="2026-02-01T00:00:00Z")
    Filter(since="2026-03-01T00:00:00Z", until="2026-03-01T01:00:00+01:00")


def test_tags_are_looked_for_as_they_are_stored() -> None:
    assert Filter(tags=("  two \u200b words ", "work", "work")).tags == ("two words", "work")


def test_sensitivities_lie_between_the_bounds() -> None:
    assert Filter().sensitivities == Filter().ceiling == SENSITIVITIES
    assert Filter(max_sensitivity="internal").ceiling == ("public", "internal")
    assert Filter(min_sensitivity="internal", max_sensitivity="internal").sensitivities == ("internal",)
    assert Filter(min_sensitivity="secret", max_sensitivity="public").sensitivities == ()


@pytest.mark.parametrize(
    ("asked", "is_narrow", "is_historic"),
    [
        (UNFILTERED, False, False),
        (Filter(at="2026-03-01T00:00:00Z", max_sensitivity="internal", own_thread=True), False, False),
        (Filter(max_sensitivity="public"), True, False),
        (Filter(tags=("a",), as_of="2026-03-01T00:00:00Z"), True, True),
        (Filter(include_superseded=True), False, True),
        (SET_ASIDE_TOO, True, False),
    ],
)
def test_what_every_turn_asks_is_neither_narrow_nor_historic(asked: Filter, is_narrow: bool, is_historic: bool) -> None:
    assert (asked.is_narrow, asked.is_historic) == (is_narrow, is_historic)
