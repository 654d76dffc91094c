"""The words of a notification: what is told of a change, and what is understood of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.providers.base import Change
from mcp_memory_server.providers.postgres.notices import change_of, notices_of


@given(st.dictionaries(st.tuples(st.text(), st.text()), st.none(), max_size=20))
def test_what_is_told_is_understood_in_order(changed: dict[tuple[str, str], None]) -> None:
    notices = notices_of(changed)
    assert [change_of(notice) for notice in notices] == [Change(*change) for change in changed]
    assert all(notice.isascii() and "\0" not in notice for notice in notices)


def test_what_is_too_long_to_be_told_may_be_anything() -> None:
    assert [change_of(notice) for notice in notices_of([("actor:ann", "x" * 8_000), ("actor:ann", "id")])] == [
        None,
        Change("actor:ann", "id"),
    ]
    assert max(len(notice) for notice in notices_of([("actor:ann", "ä" * length) for length in range(2_000)])) < 8_000


def test_very_many_changes_are_told_as_one_of_anything() -> None:
    assert [change_of(notice) for notice in notices_of({("s", str(n)): None for n in range(1_001)})] == [None]
    assert len(notices_of({("s", str(n)): None for n in range(1_000)})) == 1_000


@pytest.mark.parametrize(
    "notice", ["", "null", "{}", "[]", '["a"]', '["a", 1]', '["a", "b", "c"]', '"ab"', "[" * 100_000, "{" * 9, "NaN"]
)
def test_what_others_say_on_the_channel_may_mean_anything(notice: str) -> None:
    assert change_of(notice) is None
