"""The manifest: a line a note, within its limits; and that a selection can only name what it lists."""

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.recall import ManifestLimits, NoteHeader, build_manifest, validate_selected_ids
from mcp_memory_server.records import KINDS

from .notes import NOW, anything, header, hostile_headers

_LINE = re.compile(rf"- (\S+) \(({'|'.join(KINDS)})(, pinned)?, [a-z0-9 ]+?(, \S+)?\) .+")
_LEFT_OUT = re.compile(r"\((\d+) more (?:is|are) not listed\)")
limits = st.builds(ManifestLimits, max_lines=st.integers(1, 8), max_bytes=st.integers(64, 600))
some_headers = st.lists(hostile_headers, max_size=10)


# --- what it says -------------------------------------------------------------------------------------


def test_a_line_has_the_id_the_kind_the_age_and_the_key() -> None:
    assert build_manifest([header(days=21)], NOW).text == "- n1 (semantic, 3 weeks ago) office"


def test_a_description_stands_in_for_the_key() -> None:
    described = NoteHeader("n1", "actor:ann", "k", "semantic", NOW, description="where she works")
    assert build_manifest([described], NOW).text == "- n1 (semantic, today) where she works"


def test_notes_of_several_scopes_say_which_and_pinned_ones_that_they_are() -> None:
    text = build_manifest([header(pinned=True), header("n2", "editor", scope="tenant:acme")], NOW).text
    assert text == "- n1 (semantic, pinned, today, actor:ann) office\n- n2 (semantic, today, tenant:acme) editor"


def test_what_does_not_fit_is_counted() -> None:
    many = [header(f"n{number}") for number in range(300)]
    by_lines = build_manifest(many, NOW, ManifestLimits(max_lines=10))
    assert by_lines.text.splitlines()[-1] == "(291 more are not listed)"
    assert (len(by_lines.listed), by_lines.omitted) == (9, 291)
    by_bytes = build_manifest(many, NOW, ManifestLimits(max_bytes=100))
    assert by_bytes.text.splitlines()[-1] == "(298 more are not listed)"
    assert build_manifest(many[:200], NOW).omitted == 0


def test_all_of_them_may_be_shorter_than_all_but_one_and_their_number() -> None:
    text = build_manifest([header("n1"), header("n2")], NOW, ManifestLimits(max_lines=2, max_bytes=64)).text
    assert text == "- n1 (semantic, today) office\n- n2 (semantic, today) office"


def test_no_note_makes_an_empty_manifest() -> None:
    assert build_manifest([], NOW).text == ""


@pytest.mark.parametrize("wrong", [{"max_lines": 0}, {"max_bytes": 63}])
def test_limits_that_hold_nothing_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match="at least"):
        ManifestLimits(**wrong)


def test_an_age_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="updated_at has no time zone"):
        NoteHeader("n1", "actor:ann", "k", "semantic", datetime(2026, 1, 1))


# --- what no note can do ------------------------------------------------------------------------------


@given(some_headers)
def test_each_note_is_one_line_whatever_it_holds(headers: Sequence[NoteHeader]) -> None:
    wide = ManifestLimits(max_lines=1_000, max_bytes=1_000_000)
    manifest = build_manifest(headers, NOW, wide)
    lines = manifest.text.splitlines()
    assert len(lines) == len(headers)
    for line in lines:
        assert _LINE.fullmatch(line), line
        assert not re.search(r"<\s*/?\s*memory", line, re.IGNORECASE)
    manifest.text.encode()


@given(some_headers, limits)
def test_lines_and_bytes_are_capped_and_the_rest_is_counted(
    headers: Sequence[NoteHeader], limits: ManifestLimits
) -> None:
    manifest = build_manifest(headers, NOW, limits)
    lines = manifest.text.splitlines()
    assert len(lines) <= limits.max_lines
    assert len(manifest.text.encode()) <= limits.max_bytes
    assert list(manifest.listed) == headers[: len(manifest.listed)]
    told = _LEFT_OUT.fullmatch(lines[-1]) if lines else None
    assert manifest.omitted == (int(told[1]) if told and manifest.omitted else 0)
    assert len(manifest.listed) + manifest.omitted == len(headers)
    assert len(lines) == len(manifest.listed) + bool(manifest.omitted)


@given(st.text(min_size=1), st.text(), st.text())
def test_a_line_has_a_bounded_length(id: str, key: str, description: str) -> None:
    long = NoteHeader(id * 500, "actor:ann", key * 500, "semantic", NOW, description * 500)
    assert len(build_manifest([long], NOW).text) <= len("- ~ (semantic, today) … (cut, 123456 characters)") + 22 + 160


# --- selections ---------------------------------------------------------------------------------------


@given(some_headers, st.data())
def test_every_listed_note_can_be_named_as_its_line_names_it(
    headers: Sequence[NoteHeader], data: st.DataObject
) -> None:
    manifest = build_manifest(headers, NOW, data.draw(limits))
    lines = manifest.text.splitlines()
    for note, line in zip(manifest.listed, lines, strict=False):
        (named,) = validate_selected_ids(manifest.listed, [line.split()[1]])
        assert (named.scope, named.id) == (note.scope, note.id)


@given(
    some_headers, st.lists(st.one_of(anything, st.integers(), st.none(), st.lists(st.text())), max_size=20), st.data()
)
def test_a_selection_has_no_invented_note_no_double_and_no_more_than_asked(
    headers: Sequence[NoteHeader], rubbish: list[object], data: st.DataObject
) -> None:
    ids: list[object] = data.draw(st.permutations([*rubbish, *(header.id for header in headers)]))
    most = data.draw(st.integers(0, 6))
    chosen = validate_selected_ids(headers, ids, most)
    places = [(header.scope, header.id) for header in chosen]
    assert len(places) == len(set(places)) <= most
    assert set(chosen) <= set(headers)
    assert {header.id for header in chosen} <= {id for id in ids if isinstance(id, str)}


def test_five_are_chosen_in_the_selectors_order_unless_told_otherwise() -> None:
    headers = [header(f"n{number}") for number in range(9)]
    ids = ["n7", "n3", "n7", "made-up", " n5 ", "n1", "n0", "n2"]
    assert [chosen.id for chosen in validate_selected_ids(headers, ids)] == ["n7", "n3", "n5", "n1", "n0"]
    assert [chosen.id for chosen in validate_selected_ids(headers, ids, max=2)] == ["n7", "n3"]


def test_an_endless_answer_ends() -> None:
    assert validate_selected_ids([header()], repeat("made-up")) == ()


def test_an_id_of_several_scopes_is_listed_by_a_stand_in_for_each() -> None:
    mine, theirs = header("n1"), header("n1", scope="tenant:acme")
    manifest = build_manifest([mine, theirs], NOW)
    names = [line.split()[1] for line in manifest.text.splitlines()]
    assert len(set(names)) == 2
    assert validate_selected_ids(manifest.listed, names) == (mine, theirs)
    assert validate_selected_ids(manifest.listed, ["n1"]) == (mine,)


def test_no_id_can_pass_for_the_stand_in_of_another_note() -> None:
    victim = header("an id with spaces")
    stand_in = build_manifest([victim], NOW).text.split()[1]
    impostor = header(stand_in, scope="tenant:evil")
    assert validate_selected_ids([impostor, victim], [stand_in]) == (victim,)
