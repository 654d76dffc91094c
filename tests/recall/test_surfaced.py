"""Surfaced keys: equal for equal pairs only, and opaque."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.recall import encode_surfaced_key, unsurfaced

from .notes import anything, header

pairs = st.tuples(anything, anything)


@given(pairs, pairs)
def test_two_pairs_share_a_key_only_if_they_are_equal(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (encode_surfaced_key(*one) == encode_surfaced_key(*other)) is (one == other)


@given(anything, st.integers(0, 5), st.integers(0, 5))
def test_no_two_ways_to_cut_a_string_in_two_run_together(text: str, one: int, other: int) -> None:
    cuts = {(text[:place], text[place:]) for place in (one, other)}
    assert len({encode_surfaced_key(*cut) for cut in cuts}) == len(cuts)


def test_lengths_are_told_apart_from_digits_of_a_part() -> None:
    """`1:1` + `2` must not read like `1` + `1:2`, whatever separates length and part."""
    assert len({encode_surfaced_key("1:1", "2"), encode_surfaced_key("1", "1:2"), encode_surfaced_key("11", ":2")}) == 3
    # Two halves of a pair are not the character that they would make.
    assert encode_surfaced_key("\ud83d\ude00", "x") != encode_surfaced_key("\U0001f600", "x")


@given(pairs)
def test_a_key_is_22_harmless_characters_that_show_neither_part(pair: tuple[str, str]) -> None:
    key = encode_surfaced_key(*pair)
    assert re.fullmatch(r"[\w-]{22}", key, re.ASCII)
    assert not [part for part in pair if len(part) > 3 and part in key]


def test_a_key_is_the_same_in_every_process_and_release() -> None:
    """Callers keep them as long as a conversation lasts."""
    assert encode_surfaced_key("actor:ann", "n1") == "W7iWmJIOXPBj_MhnwlVZWQ"


def test_what_was_seen_is_left_out_scope_by_scope() -> None:
    mine, theirs = header("n1"), header("n1", scope="tenant:acme")
    seen = {encode_surfaced_key("actor:ann", "n1")}
    assert unsurfaced([mine, theirs], seen) == (theirs,)
    assert unsurfaced([mine, theirs], ()) == (mine, theirs)
