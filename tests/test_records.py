"""What a record holds, and how text, keys, tags and times are made normal."""

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.records import (
    MAX_KEY_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    MemoryOrigin,
    MemoryRecord,
    canonical_instant,
    check_validity,
    normal_key,
    normal_tags,
    normal_text,
    visible_line,
)

FLAG_OF_ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
PERSIAN = "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"

odd_characters = st.sampled_from(
    "ab é\u0301\u200b\u200c\u200d\u202e\u2066\ufeff\u00ad\u061c\n\t\r\x00\x1b\x85\u2028 []:<\ufe0f\U0001f468\U0001f3f4"
    "\U000e0067\U000e007f\u0915\u0958\u1100\u1161\ud800"
)
odd_text = st.text(st.one_of(odd_characters, st.characters()), max_size=20)
offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=offsets)


# --- instants ---------------------------------------------------------------------------------------


@given(st.lists(moments, min_size=2, max_size=5))
def test_instants_as_strings_sort_in_time_order(times: list[datetime]) -> None:
    to_the_millisecond = [time.astimezone(UTC) for time in times]
    to_the_millisecond = [t.replace(microsecond=t.microsecond // 1000 * 1000) for t in to_the_millisecond]
    in_order = sorted(range(len(times)), key=lambda place: to_the_millisecond[place])
    assert sorted(range(len(times)), key=lambda place: canonical_instant(times[place])) == in_order


@given(moments)
def test_an_instant_is_the_same_however_it_was_written(time: datetime) -> None:
    instant = canonical_instant(time)
    assert canonical_instant(time.isoformat()) == instant
    assert canonical_instant(instant) == instant
    assert len(instant) == len("2026-03-01T09:00:00.000Z")


@pytest.mark.parametrize(
    ("given_as", "instant"),
    [
        ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00.000Z"),
        (" 2026-03-01T09:00:00.1239+02:00 ", "2026-03-01T07:00:00.123Z"),
        ("2026-03-01 09:00-05:30", "2026-03-01T14:30:00.000Z"),
        ("0987-03-01T09:00:00Z", "0987-03-01T09:00:00.000Z"),
    ],
)
def test_any_offset_is_accepted_and_shown_as_utc(given_as: str, instant: str) -> None:
    assert canonical_instant(given_as) == instant


@pytest.mark.parametrize(
    ("given_as", "reason"),
    [
        ("2026-03-01T09:00:00", "no time zone"),
        ("2026-03-01", "no time zone"),
        ("yesterday", "not an ISO 8601 time"),
        ("", "not an ISO 8601 time"),
        ("0001-01-01T00:00:00+05:00", "outside the years"),
        (1_700_000_000, "not a time"),
        (None, "not a time"),
    ],
)
def test_what_is_no_instant_is_refused_with_the_reason(given_as: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        canonical_instant(given_as)


def test_a_fact_may_not_end_before_it_begins() -> None:
    early, late = "2026-03-01T09:00:00.000Z", "2026-03-02T09:00:00.000Z"
    for valid_from, valid_to in ((early, late), (early, early), (None, early), (late, None), (None, None)):
        check_validity(valid_from, valid_to)
    with pytest.raises(InvalidInput, match=f"{early}.*{late}"):
        check_validity(late, early)


# --- records ----------------------------------------------------------------------------------------


def test_only_six_fields_are_required_and_absent_ones_are_left_out_of_json() -> None:
    record = MemoryRecord(
        id="1",
        key="k",
        text="t",
        scope="global",
        origin=MemoryOrigin(author="human"),
        updated_at="2026-03-01T09:00:00Z",
    )
    assert record.model_dump() == {
        "id": "1",
        "key": "k",
        "text": "t",
        "scope": "global",
        "origin": {"author": "human"},
        "updated_at": "2026-03-01T09:00:00.000Z",
        "version": 1,
        "pinned": False,
        "kind": "semantic",
        "status": "active",
        "sensitivity": "internal",
    }
    assert MemoryRecord.model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize(
    "wrong",
    [{"id": ""}, {"updated_at": "2026-03-01"}, {"version": 0}, {"importance": 1.1}, {"kind": "rumour"}, {"more": 1}],
)
def test_a_record_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    fields: dict[str, object] = {"id": "1", "key": "k", "text": "t", "scope": "global", "origin": {"author": "human"}}
    right = fields | {"updated_at": "2026-03-01T09:00Z"}
    assert MemoryRecord.model_validate(right).version == 1
    with pytest.raises(ValidationError):
        MemoryRecord.model_validate(right | wrong)


# --- text -------------------------------------------------------------------------------------------


@given(odd_text)
def test_any_string_has_a_visible_line_and_it_is_visible(text: str) -> None:
    line = visible_line(text)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert unicodedata.is_normalized("NFC", line)
    assert not {unicodedata.category(char) for char in line} & {"Cc", "Cs"}
    line.encode()


@given(odd_text)
def test_normalising_is_idempotent(text: str) -> None:
    line = visible_line(text)
    assert visible_line(line) == line


def _as_fact(text: str) -> str:
    return normal_text(text, 240)


def _as_tag(text: str) -> str:
    return normal_tags([text])[0]


@pytest.mark.parametrize("normalise", [_as_fact, normal_key, _as_tag])
@given(text=odd_text)
def test_what_was_normalised_once_is_accepted_as_it_is(normalise: Callable[[str], str], text: str) -> None:
    try:
        normal = normalise(text)
    except InvalidInput:
        return
    assert normalise(normal) == normal


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  two  spaces stay ", "two  spaces stay"),
        ("one\r\n\tline\u2028only", "one line only"),
        ("e\u0301", "é"),
        ("a\x00b\x1b[31mc\x7f\x9f", "ab[31mc"),
        ("\u202eevil\u202c \u2066x\u2069", "evil x"),
        ("zero\u200bwidth\ufeff\u00ad\u2060", "zerowidth"),
        (PERSIAN, PERSIAN),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        (FAMILY, FAMILY),
        ("\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"),
        ("\u200djoiner at the edge \u200c", "joiner at the edge"),
        ("a\u200d\u200db", "ab"),
        (f"plays for {FLAG_OF_ENGLAND}", f"plays for {FLAG_OF_ENGLAND}"),
        ("hidden\U000e0068\U000e0069\U000e007f tags", "hidden tags"),
        ("half \ud83d pair", "half \ufffd pair"),
    ],
)  # fmt: skip
def test_text_is_one_line_that_shows_all_it_holds(text: str, line: str) -> None:
    assert visible_line(text) == line


def test_a_fact_is_counted_in_code_points_after_normalising() -> None:
    assert normal_text("e\u0301" * 240 + " \n", 240) == "é" * 240
    assert normal_text("𝔘" * 240, 240) == "𝔘" * 240


def test_a_fact_that_is_too_long_is_refused_with_both_numbers_and_never_cut() -> None:
    with pytest.raises(InvalidInput, match=r"241 characters and the limit is 240.*shorter") as raised:
        normal_text("x" * 241, 240)
    assert "xxx" not in str(raised.value)


@pytest.mark.parametrize("blank", ["", " \n\t", "\u200b\u202e", "\x00"])
def test_a_blank_fact_key_or_tag_is_refused(blank: str) -> None:
    with pytest.raises(InvalidInput, match=r"^fact is blank"):
        normal_text(blank, 240)
    with pytest.raises(InvalidInput, match=r"^key "):
        normal_key(blank)
    with pytest.raises(InvalidInput, match=r"^tags holds a blank"):
        normal_tags(["fine", blank])


def test_half_of_a_surrogate_pair_is_refused_with_its_place() -> None:
    for call in (
        lambda: normal_text("ab\ud83d", 240),
        lambda: normal_key("ab\ud83d"),
        lambda: normal_tags(["ab\ud83d"]),
    ):
        with pytest.raises(InvalidInput, match=r"U\+D83D.*position 2"):
            call()


# --- keys and tags ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "normal"),
    [
        ("fiscal-year", "fiscal-year"),
        ("  Fiscal \t\n Year ", "Fiscal Year"),
        ("a\u3000b\u00a0c", "a b c"),
        ("e\u0301tat", "état"),
        ("zero\u200bwidth", "zerowidth"),
        ("a \u200b b", "a b"),
        ("x" * MAX_KEY_CHARS, "x" * MAX_KEY_CHARS),
    ],
)
def test_a_key_is_trimmed_and_its_inner_whitespace_collapsed(key: str, normal: str) -> None:
    assert normal_key(key) == normal


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("a:b", "holds : which"),
        ("[a]", r"holds \[ \] which"),
        ("a\x00b", "control character"),
        ("a\x9bb", "control character"),
        ("x" * (MAX_KEY_CHARS + 1), "101 characters and the limit is 100"),
    ],
)
def test_a_key_that_could_break_its_line_is_refused(key: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        normal_key(key)


def test_tags_are_kept_once_in_the_order_given() -> None:
    assert normal_tags([" work ", "two  words", "work", "two\twords"]) == ("work", "two words")
    assert normal_tags([]) == ()


def test_too_many_or_too_long_tags_are_refused_with_the_limit() -> None:
    assert len(normal_tags([f"tag {n}" for n in range(MAX_TAGS)] + ["tag 0"])) == MAX_TAGS
    with pytest.raises(InvalidInput, match="17 entries and the limit is 16"):
        normal_tags(f"tag {n}" for n in range(MAX_TAGS + 1))
    with pytest.raises(InvalidInput, match="41 characters and the limit is 40"):
        normal_tags(["x" * (MAX_TAG_CHARS + 1)])
