"""Documents and listings: which schemas are in them, and how much is judged."""

from __future__ import annotations

import pytest

from mcp_memory_server.regexsafety import listing
from mcp_memory_server.regexsafety.listing import NoSchema, check_document, check_tools

_EVIL = "^(a+)+$"
_NOTHING: dict[str, object] = {}
_TOOL = {"name": "search", "inputSchema": {"pattern": _EVIL}, "outputSchema": {"items": {"pattern": "^a$"}}}


def test_both_schemas_of_a_tool_are_judged_with_their_place_in_the_document() -> None:
    report = check_document({"result": {"tools": [{"name": "none", "inputSchema": _NOTHING}, _TOOL]}})
    assert (report.tools, report.checked) == (2, 2)
    assert [(placed.tool, placed.place, placed.root) for placed in report.placed] == [
        ("search", "inputSchema", "/result/tools/1/inputSchema"),
        ("search", "outputSchema", "/result/tools/1/outputSchema"),
    ]
    assert [placed.finding.pointer for placed in report.unsafe] == ["/pattern"]


def test_what_is_no_tool_is_read_as_a_schema() -> None:
    (placed,) = check_document([{"items": {"pattern": _EVIL}}]).unsafe
    assert (placed.tool, placed.finding.pointer) == (None, "/0/items/pattern")


@pytest.mark.parametrize(
    ("entry", "fault", "name"),
    [
        (True, "which is an object", None),
        (None, "which is an object", None),
        ([], "which is an object", None),
        ("search", "which is an object", None),
        ({}, "which has an inputSchema", None),
        ({"name": "search", "input_schema": {"pattern": _EVIL}}, "which has an inputSchema", "search"),
        ({"name": "search", "inputSchema": None}, "which has an inputSchema", "search"),
        ({"name": "search", "outputSchema": _NOTHING}, "which has an inputSchema", "search"),
    ],
)
def test_an_entry_that_is_no_tool_is_never_safe(entry: object, fault: str, name: str | None) -> None:
    report = check_document({"tools": [{"name": "fine", "inputSchema": _NOTHING}, entry]})
    (placed,) = report.unsafe
    assert (placed.finding.verdict, placed.finding.pointer, report.tools) == ("invalid", "/tools/1", 2)
    assert fault in placed.finding.reason
    assert placed.tool == name


def test_a_list_with_a_tool_is_a_list_of_tools() -> None:
    for like_a_tool in (_TOOL, {"name": "none"}):
        assert "invalid" in [placed.finding.verdict for placed in check_document([like_a_tool, _NOTHING]).unsafe]
    assert not check_document([_NOTHING, {"items": _NOTHING}]).unsafe


def test_the_patterns_of_what_is_no_tool_are_found_all_the_same() -> None:
    invalid, found = check_tools([{"name": "none", "items": {"pattern": _EVIL}}]).unsafe
    assert invalid.finding.verdict == "invalid"
    assert found.finding.pointer == "/0/items/pattern"


def test_a_schema_that_is_none_is_unknown() -> None:
    (placed,) = check_tools([{"name": "search", "inputSchema": "(a+)+"}]).placed
    assert (placed.finding.verdict, placed.finding.pointer) == ("unknown", "")


def test_when_the_steps_are_used_up_the_rest_is_unknown() -> None:
    report = check_tools([_TOOL, _TOOL], most_steps=1)
    assert [placed.finding.verdict for placed in report.placed] == ["exponential", "unknown", "unknown", "unknown"]
    assert report.checked == 1


def test_many_cheap_patterns_use_the_steps_up_too() -> None:
    tools = [{"inputSchema": {"pattern": f"{number}"}} for number in range(50)]
    assert check_tools(tools, most_steps=3_000).checked < 15


def test_the_default_allowance_holds_a_large_server() -> None:
    tools = [
        {"inputSchema": {"properties": {f"p{number}": {"pattern": rf"^\w{{1,{number + 1}}}$"}}}}
        for number in range(200)
    ]
    assert not check_tools(tools, most_steps=listing.MOST_STEPS).unsafe


@pytest.mark.parametrize("document", [None, 3, 2.5, "(a+)+$"])
def test_text_numbers_and_null_hold_no_schema(document: object) -> None:
    with pytest.raises(NoSchema):
        check_document(document)
