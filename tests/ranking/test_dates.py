"""Dates that questions name, in words and figures, and how near a memory was written to them."""

from datetime import UTC, date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.ranking.dates import NamedTime, named_times, nearness

from .asking import NOW

EPOCH = date(1970, 1, 1)


def days(first: str, last: str | None = None) -> tuple[int, int]:
    ends = date.fromisoformat(first), date.fromisoformat(last or first)
    return (ends[0] - EPOCH).days, (ends[1] - EPOCH).days


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What happened on 3 May 2023?", days("2023-05-03")),
        ("on May 3rd, 2023", days("2023-05-03")),
        ("on 2023-05-03", days("2023-05-03")),
        ("am 3.5.2023", days("2023-05-03")),
        ("am 3. Mai 2023", days("2023-05-03")),
        ("le 3 février 2024", days("2024-02-03")),
        ("el 3 de mayo de 2023", days("2023-05-03")),
        ("3 мая 2023", days("2023-05-03")),
        ("2023年5月3日", days("2023-05-03")),
        ("2023년 5월", days("2023-05-01", "2023-05-31")),
        ("in February 2024", days("2024-02-01", "2024-02-29")),
        ("2023-05", days("2023-05-01", "2023-05-31")),
        ("in 2022", days("2022-01-01", "2022-12-31")),
        ("yesterday", days("2026-03-15")),
        ("昨日", days("2026-03-15")),
        ("two weeks ago", days("2026-02-27", "2026-03-05")),
        ("10 days ago", days("2026-03-06")),
    ],
)
def test_a_named_time_is_read(query: str, expected: tuple[int, int]) -> None:
    assert [(time.first_day, time.last_day) for time in named_times(query, NOW)] == [expected]


def test_a_date_without_a_year_stands_for_every_year() -> None:
    (time,) = named_times("on 8 July", NOW)
    assert time.yearly
    written = [datetime(year, 7, 8, 12, tzinfo=UTC).timestamp() * 1000 for year in (2019, 2022, 2025)]
    assert nearness([time], np.array(written, dtype=np.int64)).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "query", ["May I ask something?", "a long march", "31 February 2023", "version 2.10", "the last one", "", "40 May"]
)
def test_what_only_looks_like_a_date_is_none(query: str) -> None:
    assert not [time for time in named_times(query, NOW) if time.first_day == time.last_day]


@given(st.text())
def test_any_string_can_be_searched_for_dates(query: str) -> None:
    named_times(query, NOW)


def test_nearness_falls_faster_before_a_day_than_after_it() -> None:
    day = days("2023-05-03")
    written = [datetime(2023, 5, number, 12, tzinfo=UTC).timestamp() * 1000 for number in (1, 3, 5)]
    before, on, after = nearness([NamedTime(*day)], np.array(written, dtype=np.int64)).tolist()
    assert on == 1
    assert before < after < on


def test_no_memories_have_no_nearness() -> None:
    assert len(nearness([NamedTime(0, 1, yearly=True)], np.zeros(0, dtype=np.int64))) == 0
