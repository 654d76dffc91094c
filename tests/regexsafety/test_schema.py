"""The walk finds every pattern in a schema position and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_memory_server.regexsafety import Finding, check_schema

_DATA = Path(__file__).parent / "data"
_EXPECTED: dict[str, list[dict[str, str]]] = json.loads((_DATA / "expected.json").read_text(encoding="utf-8"))["files"]
_EVIL = "^(a+)+$"


def _verdicts(schema: object) -> dict[str, str]:
    return {finding.pointer: finding.verdict for finding in check_schema(schema)}


@pytest.mark.parametrize("name", sorted(_EXPECTED))
def test_every_pointer_of_the_made_schemas_and_no_decoy_is_found(name: str) -> None:
    schema: object = json.loads((_DATA / name).read_text(encoding="utf-8"))
    assert _verdicts(schema) == {entry["pointer"]: entry["label"] for entry in _EXPECTED[name]}


def test_values_that_look_like_patterns_are_data() -> None:
    schema: dict[str, Any] = {
        "properties": {"pattern": {"default": {"pattern": _EVIL}}},
        "const": {"pattern": _EVIL},
        "enum": [{"pattern": _EVIL}],
        "examples": [{"patternProperties": {_EVIL: {}}}],
        "x-note": {"pattern": _EVIL},
    }
    assert check_schema(schema) == []


def test_references_are_followed_once_and_only_inside_the_document() -> None:
    schema = {
        "x-shared": {"token": {"pattern": _EVIL, "items": {"$ref": "#/x-shared/token"}}},
        "anyOf": [
            {"$ref": "#/x-shared/token"},
            {"$dynamicRef": "#/x-shared/token"},
            {"$ref": "https://example.com/other.json"},
            {"$ref": "#/no/such"},
            {"$ref": "#"},
            {"$ref": "#name"},
        ],
    }
    assert _verdicts(schema) == {"/x-shared/token/pattern": "exponential"}


def test_pointers_escape_what_json_pointer_escapes() -> None:
    assert list(_verdicts({"properties": {"a/b~c": {"pattern": "a"}}})) == ["/properties/a~1b~0c/pattern"]


def test_a_pattern_is_judged_without_u_where_only_that_compiles() -> None:
    (finding,) = check_schema({"pattern": "^[\\w-.]+$"})
    assert finding.verdict == "safe"
    assert "without the u flag" in finding.reason


def test_a_finding_carries_the_limit_beside_it_and_the_attack() -> None:
    (finding,) = check_schema({"pattern": "\\s+$", "maxLength": 100})
    assert (finding.verdict, finding.degree, finding.max_length, finding.keyword) == ("polynomial", 2, 100, "pattern")
    assert finding.witness is not None
    assert finding.unsafe


@pytest.mark.parametrize("schema", [True, False, None, 1, "x", [], {}, {"pattern": 3}, {"properties": [1]}, {1: 2}])
def test_odd_values_have_no_patterns(schema: object) -> None:
    assert check_schema(schema) == []


def test_an_object_that_holds_itself_is_read_once() -> None:
    schema: dict[str, object] = {"pattern": _EVIL}
    schema["not"] = schema
    schema["items"] = [schema, {"additionalProperties": schema}]
    assert _verdicts(schema) == {"/pattern": "exponential"}


def test_an_object_that_stands_at_two_places_is_found_at_both() -> None:
    shared = {"pattern": _EVIL}
    assert set(_verdicts({"properties": {"a": shared, "b": shared}})) == {
        "/properties/a/pattern",
        "/properties/b/pattern",
    }


def _unread(findings: list[Finding]) -> bool:
    return findings[-1].verdict == "unknown" and findings[-1].pointer == ""


def test_a_schema_of_endless_depth_is_unknown() -> None:
    schema: dict[str, object] = {}
    for _ in range(50_000):
        schema = {"not": schema}
    assert _unread(check_schema(schema))


def test_a_schema_that_unfolds_without_end_is_unknown() -> None:
    schema: dict[str, object] = {"pattern": "a"}
    for _ in range(20):
        schema = {"properties": {"l": schema, "r": schema}}
    assert _unread(check_schema(schema))


def test_a_schema_of_a_million_characters_is_read() -> None:
    schema = {"properties": {f"p{i}": {"type": "string", "pattern": f"^x{i}$"} for i in range(20_000)}}
    assert len(check_schema(schema)) == 20_000


def test_patterns_beyond_the_allowance_are_unknown_not_safe() -> None:
    hard = [f"^(?:[a-z]{{1,60}}\\.){{1,{i}}}[a-z]{{1,60}}(x+x+)+y$" for i in range(10, 110)]
    findings = check_schema({"anyOf": [{"pattern": pattern} for pattern in hard]})
    assert {finding.verdict for finding in findings} <= {"exponential", "unknown", "polynomial"}
