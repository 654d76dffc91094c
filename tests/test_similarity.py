"""Which keys look like the same question."""

import pytest

from mcp_memory_server.similarity import same_question, similar_keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("time-zone", "timezone"),
        ("time-zone", "TimeZone"),
        ("time-zone", "zone_time"),
        ("favourite-colour", "favorite-color"),
        ("deploy-target", "deploy-targets"),
        ("café", "Cafe"),
        ("postleitzahl straße", "Postleitzahl Strasse"),
        ("goal-q1", "Goal Q1"),
    ],
)
def test_spellings_of_one_question_are_alike(one: str, other: str) -> None:
    assert same_question(one, other)
    assert same_question(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("goal-q1", "goal-q2"),
        ("goal-2025", "goal-2026"),
        ("cat", "car"),
        ("editor", "city"),
        ("home-address", "work-address"),
        ("首都", "数据库"),
    ],
)
def test_other_questions_are_not(one: str, other: str) -> None:
    assert not same_question(one, other)
    assert not same_question(other, one)


def test_a_key_is_not_similar_to_itself_and_none_is_named_twice() -> None:
    assert similar_keys("time-zone", ["time-zone", "timezone", "editor", "timezone"]) == ["timezone"]


def test_similar_keys_keep_the_order_given_and_end_at_the_limit() -> None:
    spellings = ["timezone", "time_zone", "Time Zone", "TIMEZONE", "zone-time", "time-zones"]
    assert similar_keys("time-zone", spellings) == spellings[:5]
    assert similar_keys("time-zone", spellings, limit=2) == spellings[:2]
