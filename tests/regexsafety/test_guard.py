"""A host keeps the tools it can use, and learns what was done."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory_server.regexsafety import POLICIES, check_schema, find_equal_safe_pattern, guard_tools

_EVIL = "^([A-Za-z](-|_|.)?)+$"
_Schema: TypeAlias = dict[str, Any] | bool
_DATA = Path(__file__).parent / "data"


def _tool(name: str, schema: object) -> dict[str, object]:
    return {"name": name, "inputSchema": schema}


def test_reject_drops_unsafe_tools_and_keeps_the_rest_as_they_were() -> None:
    good, bad = _tool("good", {"properties": {"q": {"pattern": "^[a-z]+$"}}}), _tool("bad", {"pattern": _EVIL})
    guarded = guard_tools({"tools": [good, bad]}, "reject")
    assert guarded.tools == [good]
    assert guarded.dropped == ("bad",)
    assert guarded.deeds[0].finding.pointer == "/pattern"


def test_strip_removes_the_keyword_and_nothing_else() -> None:
    original = _tool("t", {"properties": {"q": {"type": "string", "pattern": _EVIL, "maxLength": 9}}})
    before = copy.deepcopy(original)
    guarded = guard_tools([original], "strip")
    assert guarded.tools == [_tool("t", {"properties": {"q": {"type": "string", "maxLength": 9}}})]
    assert original == before


def test_the_schema_of_the_answer_is_guarded_too() -> None:
    guarded = guard_tools([{"name": "t", "inputSchema": {}, "outputSchema": {"pattern": _EVIL}}], "strip")
    assert guarded.tools == [{"name": "t", "inputSchema": {}, "outputSchema": {}}]


def test_rewrite_puts_an_equal_safe_pattern_in_place_or_strips() -> None:
    schema = {"properties": {"a": {"pattern": "^(\\w|a)*$"}, "b": {"pattern": _EVIL}}}
    guarded = guard_tools([_tool("t", schema)], "rewrite")
    assert guarded.tools == [_tool("t", {"properties": {"a": {"pattern": "^\\w*$"}, "b": {}}})]
    assert [deed.action for deed in guarded.deeds] == ["rewrite", "strip"]


def test_warn_changes_nothing_and_tells() -> None:
    tool = _tool("t", {"pattern": _EVIL})
    guarded = guard_tools([tool], "warn")
    assert guarded.tools == [tool]
    assert [deed.action for deed in guarded.deeds] == ["warn"]


def test_a_short_limit_beside_a_quadratic_pattern_only_warns() -> None:
    limited, open_ended = {"pattern": "\\s+$", "maxLength": 200}, {"pattern": "\\s+$"}
    guarded = guard_tools([_tool("limited", limited), _tool("open", open_ended)], "reject")
    assert [tool["name"] for tool in guarded.tools] == ["limited"]


def test_a_limit_does_not_excuse_an_exponential() -> None:
    assert guard_tools([_tool("t", {"pattern": _EVIL, "maxLength": 40})], "reject").tools == []


_STRIPPED: list[tuple[_Schema, _Schema]] = [
    ({"not": {"pattern": _EVIL}, "type": "string"}, {"type": "string"}),
    ({"if": {"pattern": _EVIL}, "then": {"minLength": 3}, "else": {}}, {}),
    ({"oneOf": [{"pattern": _EVIL}, {"maxLength": 2}]}, {"anyOf": [{}, {"maxLength": 2}]}),
    (
        {"oneOf": [{"pattern": _EVIL}], "anyOf": [True]},
        {"anyOf": [True], "allOf": [{"anyOf": [{}]}]},
    ),
    ({"contains": {"pattern": _EVIL}, "maxContains": 2, "minContains": 1}, {}),
    ({"patternProperties": {_EVIL: {}}, "additionalProperties": False}, {"patternProperties": {}}),
    ({"propertyNames": {"pattern": _EVIL}}, {"propertyNames": {}}),
    ({"properties": {"not": {"pattern": _EVIL}}}, {"properties": {"not": {}}}),
    ({"not": {"anyOf": [{"pattern": _EVIL}, {"pattern": _EVIL}]}}, {}),
]


@pytest.mark.parametrize(("schema", "expected"), _STRIPPED)
def test_stripping_only_makes_a_schema_accept_more(schema: object, expected: object) -> None:
    assert guard_tools([_tool("t", schema)], "strip").tools == [_tool("t", expected)]


def test_a_tool_whose_references_forbid_stripping_is_dropped() -> None:
    schema = {"$defs": {"k": {"pattern": _EVIL}}, "not": {"$ref": "#/$defs/k"}}
    guarded = guard_tools([_tool("t", schema)], "strip")
    assert guarded.tools == []
    assert guarded.deeds[0].action == "drop"


@pytest.mark.parametrize("name", sorted(path.name for path in _DATA.glob("made-*.json")))
@pytest.mark.parametrize("policy", ["strip", "rewrite"])
def test_no_unsafe_pattern_is_left_in_what_is_kept(name: str, policy: str) -> None:
    schema: object = json.loads((_DATA / name).read_text(encoding="utf-8"))
    for tool in guard_tools([_tool("t", schema)], policy).tools:
        left = [finding for finding in check_schema(tool["inputSchema"]) if finding.unsafe]
        allowed = {finding.pointer for finding in left if POLICIES[policy].action_for(finding) == "warn"}
        assert {finding.pointer for finding in left} == allowed


def _one_of(keyword: str) -> Callable[[_Schema, _Schema], _Schema]:
    return lambda left, right: {keyword: [left, right]}


def _under(keyword: str) -> Callable[[_Schema], _Schema]:
    return lambda inner: {keyword: inner}


def _conditional(condition: _Schema, consequence: _Schema) -> _Schema:
    return {"if": condition, "then": consequence}


def _keyed(inner: _Schema) -> _Schema:
    return {"patternProperties": {"^(b|b)*c$": inner}, "additionalProperties": False}


def _contained(inner: _Schema) -> _Schema:
    return {"contains": inner, "maxContains": 1}


def _named(inner: _Schema) -> _Schema:
    return {"properties": {"a": inner}}


_LEAVES: list[_Schema] = [{}, {"type": "string"}, {"pattern": "^(b|b)*c$"}, {"pattern": "^a"}, {"maxLength": 2}, True]


def _larger(inner: st.SearchStrategy[_Schema]) -> st.SearchStrategy[_Schema]:
    return st.one_of(
        st.builds(_one_of("oneOf"), inner, inner),
        st.builds(_one_of("anyOf"), inner, inner),
        st.builds(_under("not"), inner),
        st.builds(_conditional, inner, inner),
        st.builds(_named, inner),
        st.builds(_keyed, inner),
        st.builds(_contained, inner),
    )


_SCHEMAS = st.recursive(st.sampled_from(_LEAVES), _larger, max_leaves=6)
_VALUES = st.sampled_from(["", "a", "bc", "abc", 3, {"a": "bc"}, {"bc": "a", "x": 1}, ["a", "bc", "b"], [], {}])


@settings(max_examples=150, deadline=None)
@given(_SCHEMAS, _VALUES)
def test_what_was_valid_stays_valid_after_stripping(schema: object, value: object) -> None:
    kept = guard_tools([_tool("t", schema)], "strip").tools
    if kept and jsonschema.Draft202012Validator(schema).is_valid(value):  # pyright: ignore[reportArgumentType, reportUnknownMemberType]
        stripped = kept[0]["inputSchema"]
        assert jsonschema.Draft202012Validator(stripped).is_valid(value)  # pyright: ignore[reportArgumentType, reportUnknownMemberType]


@pytest.mark.parametrize("listing", [None, 3, "x", [], {}, {"tools": 5}, [1, None], [{}], [{"inputSchema": 7}]])
def test_odd_listings_do_no_harm(listing: object) -> None:
    assert all(isinstance(tool, dict) for tool in guard_tools(listing).tools)


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(KeyError):
        guard_tools([], "lenient")


@pytest.mark.parametrize(
    ("pattern", "equal"),
    [
        ("^(a+)+$", "^a+$"),
        ("(a+)+$", "a$"),
        ("^(\\w|a)*$", "^\\w*$"),
        ("\\s+$", "\\s$"),
        (".*\\.js$", "\\.js$"),
        ("x*y", "y"),
        ("^a*\\w*$", "^\\w*$"),
        (_EVIL, None),
        ("(a)\\1+$", None),
        ("^(?=a)(b|b)*$", None),
        ("[", None),
    ],
)
def test_only_proven_rewriting_is_offered(pattern: str, equal: str | None) -> None:
    assert find_equal_safe_pattern(pattern) == equal
