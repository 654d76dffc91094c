"""What leaves as JSON Lines comes back the same, and what is wrong in a file is told by its line."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.exchange.json_lines import Versions, header_line, read_records, record_lines
from mcp_memory_server.records import KINDS, Episode, Insight, MemoryOrigin, MemoryRecord, Rule, WorkingBlock

NOW = "2026-03-01T09:00:00.000Z"
LIMIT = 240


def record(id: str = "1", key: str = "office", text: str = "Lyon", **fields: Any) -> MemoryRecord:
    return MemoryRecord(
        id=id,
        key=key,
        text=text,
        scope=fields.pop("scope", "actor:ann"),
        origin=fields.pop("origin", MemoryOrigin(author="human")),
        updated_at=fields.pop("updated_at", NOW),
        **fields,
    )


def file_of(*records: Versions) -> list[bytes]:
    lines = [header_line(NOW), *(line for versions in records for line in record_lines(versions))]
    return [f"{line}\n".encode() for line in lines]


def file_with(*lines: str) -> list[bytes]:
    return [f"{line}\n".encode() for line in (header_line(NOW), *lines)]


def as_json(**changes: Any) -> str:
    """A valid line with some fields changed; None leaves a field out."""
    document = json.loads(record().model_dump_json()) | changes
    return json.dumps({name: value for name, value in document.items() if value is not None})


def fault_of(lines: list[bytes]) -> str:
    with pytest.raises(InvalidInput) as refused:
        read_records(lines, LIMIT)
    return str(refused.value)


# --- lossless -----------------------------------------------------------------------------------------


FULL = record(
    text="When a release is due: 1. Run {checks}; 2. Tag; done when it is out",
    id="01890a5d-ac96-774b-bcce-b302099a8057",
    origin=MemoryOrigin(author="agent", thread_id="t", run_id="r", actor_ref="ann"),
    created_at="2026-01-01T00:00:00.000Z",
    version=3,
    pinned=True,
    kind="procedural",
    provenance="imported",
    status="quarantined",
    owner="shared",
    sensitivity="secret",
    tags=("a", "b"),
    importance=0.25,
    confidence=1.0,
    valid_from="2026-01-01T00:00:00.000Z",
    valid_to="2027-01-01T00:00:00.000Z",
    supersedes="x",
    superseded_by="y",
    subject="ann",
    predicate="works in",
    object="Lyon",
    extraction="skip",
    derived_from=("a", "b"),
    held_because="it was imported",
    archived_at="2026-02-01T00:00:00.000Z",
    archived_because="ended; maintenance by ann",
    rule=Rule(
        condition="a release is due",
        steps=("Run {checks}", "Tag"),
        priority=-3,
        success_criteria="it is out",
        success_count=4,
        failure_count=1,
        succeeded_in=("t", "u"),
    ),
)
OTHERS = (
    record("2", "move", "Moved", kind="episodic", episode=Episode(started_at=NOW, ended_at=NOW)),
    record(
        "3",
        "plan",
        "x" * 999 + " " + "x" * 997,
        kind="working",
        working=WorkingBlock(value="x" * 999 + "\n  " + "x" * 997, char_limit=2_000, read_only=True),
    ),
    record("4", "owl", "Works late", kind="insight", insight=Insight(cites=("1", "gone"), salience=-1)),
    record("5", "draft", "Seven", kind="session", origin=MemoryOrigin(author="agent", thread_id="here")),
    record("6", "deploy", "On Fridays", kind="shared", owner="shared"),
)


def test_every_field_of_every_kind_comes_back() -> None:
    fields = {name for held in (FULL, *OTHERS) for name, value in held if value is not None}
    assert fields == set(MemoryRecord.model_fields), "a new field belongs into this test"
    assert {held.kind for held in (FULL, *OTHERS)} == set(KINDS) - {"semantic"}
    everything = tuple((held,) for held in (FULL, *OTHERS))
    assert read_records(file_of(*everything), LIMIT) == everything


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "procedural", "rule": {"condition": "c", "steps": []}}, "steps has 0 entries"),
        ({"kind": "procedural", "rule": {"condition": "c", "steps": ["{"]}}, "step 1 holds '{'"),
        ({"kind": "working", "working": {"value": "abc", "char_limit": 2}}, "the block's limit is 2"),
        ({"kind": "insight", "insight": {"cites": []}}, "insight.cites"),
        ({"kind": "semantic", "insight": {"cites": ["1"]}}, "insight belongs to the kind insight"),
        ({"kind": "episodic", "episode": {"started_at": NOW, "ended_at": "2026-01-01T00:00:00Z"}}, "is before started"),
    ],
)
def test_what_a_kind_adds_passes_the_gate_of_a_write(changes: dict[str, Any], said: str) -> None:
    assert said in fault_of(file_with(as_json(**changes)))


def test_versions_and_records_keep_their_order() -> None:
    first = (record(version=1, text="old"), record(version=4, text="new"))
    second = (record("2", scope="global"),)
    assert read_records(file_of(first, second), LIMIT) == (first, second)


words = st.text(st.characters(exclude_categories=["C", "Z", "M"], exclude_characters="[]:"), min_size=1, max_size=20)


@st.composite
def held_records(draw: st.DrawFn) -> list[Versions]:
    keys = draw(st.lists(words.map(lambda word: f"k{word}k"), unique=True, max_size=5))
    return [_versions(str(place), key, draw(st.lists(words, min_size=1, max_size=3))) for place, key in enumerate(keys)]


def _versions(id: str, key: str, texts: list[str]) -> Versions:
    return tuple(
        record(id, unicodedata.normalize("NFC", key), unicodedata.normalize("NFC", text), version=number)
        for number, text in enumerate(texts, start=1)
    )


@given(held_records())
def test_any_text_comes_back(records: list[Versions]) -> None:
    assert read_records(file_of(*records), LIMIT) == tuple(records)


def test_a_line_separator_inside_a_text_field_is_no_line_end() -> None:
    odd = record(held_because="one\u2028two\u0085three\rfour")
    assert read_records(file_of((odd,)), LIMIT) == ((odd,),)


# --- lenient where nothing is lost --------------------------------------------------------------------


def test_blank_lines_carriage_returns_and_a_byte_order_mark_are_taken() -> None:
    lines = [line.replace(b"\n", b"\r\n") for line in file_of((record(),))]
    lines[0] = b"\xef\xbb\xbf" + lines[0]
    assert read_records([*lines, b"\n", b"  \r\n"], LIMIT) == ((record(),),)


def test_text_key_and_tags_are_normalised_as_in_any_write() -> None:
    line = as_json(key=" the  office ", text="e\u0301\u202e\nb", tags=["a", " a "])
    ((held,),) = read_records(file_with(line), LIMIT)
    assert (held.key, held.text, held.tags) == ("the office", "é b", ("a",))


def test_any_offset_becomes_utc() -> None:
    ((held,),) = read_records(file_with(as_json(updated_at="2026-03-01T10:00:00+01:00")), LIMIT)
    assert held.updated_at == NOW


# --- wrong, by line -----------------------------------------------------------------------------------


WRONG_LINES = (
    ("{", "is no JSON"),
    ("[]", "is no JSON object"),
    ("null", "is no JSON object"),
    ('{"id": "1", "id": "2"}', "field 'id' twice"),
    (as_json(importance=0.5).replace("0.5", "NaN"), "NaN"),
    (as_json(id=None), "id Field required"),
    (as_json(id=""), "id "),
    (as_json(id="\x1b[2J"), "id is not one visible line: '\\x1b[2J'"),
    (as_json(id="1\n- [global] a: b"), "id is not one visible line"),
    (as_json(id="1\x00"), "id is not one visible line"),
    (as_json(id="i" * 201), "id has 201 characters and the limit is 200"),
    (as_json(version=2**63), "version 9223372036854775808, above 9007199254740991"),
    (as_json(colour="blue"), "colour"),
    (as_json(kind="rumour"), "kind"),
    (as_json(version="1"), "version"),
    (as_json(version=0), "version"),
    (as_json(pinned="yes"), "pinned"),
    (as_json(importance=2), "importance"),
    (as_json(origin={"author": "robot"}), "origin.author"),
    (as_json(updated_at="2026-03-01T09:00:00"), "updated_at has no time zone"),
    (as_json(valid_from="soon"), "valid_from is not an ISO 8601 time"),
    (as_json(valid_from="2027-01-01T00:00:00Z", valid_to="2026-01-01T00:00:00Z"), "is before valid_from"),
    (as_json(text="x" * 241), "text has 241 characters and the limit is 240"),
    (as_json(text=" \u200b "), "text is blank"),
    (as_json(key="a:b"), "key holds :"),
    (as_json(key="k" * 101), "key has 101 characters and the limit is 100"),
    (as_json(tags=["t" * 41]), "41 characters"),
    (as_json(tags=[str(number) for number in range(17)]), "17 entries"),
    (as_json(scope="two words"), "scope holds whitespace"),
    (as_json(scope="s" * 241), "241 characters"),
    (as_json(text="\ud83d"), "surrogate"),
    ("[" * 100_000, "nested too deeply"),
)


@pytest.mark.parametrize(("line", "says"), WRONG_LINES)
def test_a_wrong_line_is_told_with_its_number(line: str, says: str) -> None:
    message = fault_of(file_with(as_json(id="other", key="other"), line))
    assert message.startswith("line 3 ")
    assert says in message
    assert len(message) < 400


def test_a_message_holds_no_text_of_a_record() -> None:
    assert "Lyon" not in fault_of(file_with(as_json(text="Lyon " * 100, colour="Lyon")))


def test_bytes_that_are_no_utf8_are_told() -> None:
    assert fault_of([*file_of((record(),)), b'{"id": "\xff"}']) == "line 3 is no UTF-8."


def test_every_wrong_line_is_told_up_to_twenty() -> None:
    message = fault_of(file_with("{", as_json(), "[]"))
    assert "line 2" in message
    assert "line 4" in message
    many = fault_of(file_with(*["{"] * 50))
    assert "line 21 is no JSON" in many
    assert "line 22 and perhaps later ones" in many
    assert "line 23" not in many


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("", "the file is empty"),
        ("{}", "is no header"),
        (as_json(), "is no header"),
        ('{"format": "other", "version": 1}', "is no header"),
        ('{"format": "mcp-memory-server", "version": 2}', "this release reads 1"),
    ],
)
def test_the_header_must_be_there(first: str, says: str) -> None:
    message = fault_of([first.encode()])
    assert message.startswith("line 1 ")
    assert says in message


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({}, "is version 1 of '1', which must be above version 1 on line 2"),
        ({"id": "2"}, "has the scope and key of line 2"),
        ({"version": 2, "key": "other"}, "has the id of line 2"),
        ({"version": 2, "scope": "global"}, "has the id of line 2"),
    ],
)
def test_doubles_are_told_with_both_lines(second: dict[str, Any], says: str) -> None:
    message = fault_of(file_with(as_json(), as_json(**second)))
    assert message.startswith("line 3 ")
    assert says in message
