"""Which keys look like the same question."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.similarity import (
    Steps,
    alike_keys,
    alike_texts,
    groups_of,
    same_question,
    similar_keys,
)


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
        ("🐈", "🐕"),
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


keys_at_random = st.lists(
    st.one_of(
        st.text(alphabet="abcAB12-_ ", min_size=1, max_size=24),
        st.sampled_from(("favourite-colour", "favorite-color", "Favourite Colours", "goal-q1", "Goal Q1", "goal-q2")),
    ),
    max_size=9,
)


@given(keys_at_random)
def test_of_many_keys_the_same_pairs_are_alike_as_one_by_one(keys: list[str]) -> None:
    """Keys that share no three letters in a row are not compared, and none is missed for that."""
    found = {frozenset(pair) for pair in alike_keys(keys, Steps())}
    assert found == {frozenset(pair) for pair in combinations(dict.fromkeys(keys), 2) if same_question(*pair)}


@given(st.text(alphabet="abcdef", min_size=6, max_size=60), st.lists(st.integers(0, 59), min_size=1, max_size=8))
def test_a_long_key_with_slips_is_found_wherever_they_are(key: str, slips: list[int]) -> None:
    letters = list(key)
    for slip in slips:
        letters[slip % len(letters)] = "z"
    other = "".join(letters)
    expected = [(key, other)] if key != other and same_question(key, other) else []
    assert list(alike_keys([key, other], Steps())) == expected


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("prefers a window seat", "a window seat prefers", True),
        ("prefers a window seat on trains", "prefers a window seat on planes", False),
        ("ann prefers a window seat on long train rides", "ann prefers the window seat on long train rides", True),
        ("ann prefers a window seat on a train ride", "ann prefers the window seat on the train ride", False),
        ("budget 2025 is set by the board in may", "budget 2026 is set by the board in may", False),
        ("works in lyon", "works in porto", False),
        ("", "", False),
    ],
)  # fmt: skip
def test_texts_with_nearly_the_same_words_are_alike(one: str, other: str, alike: bool) -> None:
    assert list(alike_texts([one.split(), other.split()], Steps())) == ([(0, 1)] if alike else [])


@given(st.lists(st.frozensets(st.sampled_from("abcdefgh7"), max_size=9), max_size=7))
def test_of_many_texts_the_same_pairs_are_alike_as_one_by_one(texts: list[frozenset[str]]) -> None:
    found = set(alike_texts(texts, Steps()))
    pairs = combinations(range(len(texts)), 2)
    assert found == {(a, b) for a, b in pairs if list(alike_texts([texts[a], texts[b]], Steps()))}


def test_a_comparison_ends_where_its_steps_do() -> None:
    keys = [f"{letter}-quarterly-review-of-the-{word}" for letter in "abcdefgh" for word in ("north", "south", "west")]
    steps = Steps(100)
    assert len(list(alike_keys(keys, steps))) < len(list(alike_keys(keys, Steps())))
    assert steps.left == 0
    few = Steps(3)
    assert list(alike_texts([("a", "b")] * 9, few)) == [(0, 1)]
    assert few.left == 0


def test_pairs_are_linked_into_groups() -> None:
    assert groups_of([("a", "b"), ("c", "d"), ("e", "a"), ("d", "c"), ("b", "d")]) == [["e", "a", "b", "c", "d"]]
    assert groups_of([("a", "b"), ("c", "d")]) == [["a", "b"], ["c", "d"]]
