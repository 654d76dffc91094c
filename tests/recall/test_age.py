"""Ages in words, at and beside every border."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.recall import format_age

_SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("days", "before", "at"),
    [
        (0, "today", "today"),
        (1, "today", "yesterday"),
        (2, "yesterday", "2 days ago"),
        (3, "2 days ago", "3 days ago"),
        (7, "6 days ago", "1 week ago"),
        (14, "1 week ago", "2 weeks ago"),
        (28, "3 weeks ago", "4 weeks ago"),
        (30, "4 weeks ago", "1 month ago"),
        (60, "1 month ago", "2 months ago"),
        (365, "12 months ago", "12 months ago"),
        (3650, "121 months ago", "121 months ago"),
    ],
)
def test_an_age_is_floored_and_changes_exactly_at_its_border(days: int, before: str, at: str) -> None:
    border = timedelta(days=days)
    assert (format_age(border - _SECOND), format_age(border)) == (before, at)


@pytest.mark.parametrize("delta", [timedelta.min, timedelta(days=-400), -_SECOND])
def test_the_future_is_today(delta: timedelta) -> None:
    assert format_age(delta) == "today"


@given(st.timedeltas(), st.timedeltas())
def test_every_age_has_words_and_an_older_note_never_sounds_younger(one: timedelta, other: timedelta) -> None:
    def told(delta: timedelta) -> tuple[int, int]:
        words = format_age(delta).split()
        if len(words) == 1:
            return (("today", "yesterday").index(words[0]), 0)
        count, unit, ago = words
        assert ago == "ago"
        assert unit.endswith("s") is (int(count) != 1)
        return (("day", "week", "month").index(unit.removesuffix("s")) + 2, int(count))

    younger, older = sorted((one, other))
    assert told(younger) <= told(older)
