"""`check-schema`: whatever a file holds, it is judged or refused in a sentence."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import CommandLine

EVIL = "^(a+)+$"
SCHEMA: dict[str, Any] = {
    "properties": {"q": {"pattern": EVIL}, "n": {"pattern": r"\s+$", "maxLength": 1000}, "ok": {"pattern": "^a$"}}
}
TOOL: dict[str, Any] = {"name": "search", "inputSchema": SCHEMA, "outputSchema": {"patternProperties": {"(": {}}}}


def check(line: CommandLine, document: Any, *options: str) -> tuple[int, str]:
    result = line.run("check-schema", "-", *options, stdin=json.dumps(document))
    assert result.stderr == ""
    return result.exit_code, result.stdout


def test_a_table_names_pointer_verdict_cost_and_pattern(line: CommandLine) -> None:
    status, shown = check(line, SCHEMA)
    heading, first, second, *_ = shown.splitlines()
    assert status == 1
    assert heading.split() == ["POINTER", "VERDICT", "COST", "PATTERN"]
    assert first.split()[:2] == ["/properties/q/pattern", "exponential"]
    assert first.endswith(EVIL)
    assert "maxLength 1,000" in second
    assert "3 patterns, of which not safe: 1 exponential, 1 polynomial." in shown


def test_tools_are_named_with_the_schema_that_it_is(line: CommandLine) -> None:
    _, shown = check(line, [TOOL])
    rows = [row.split()[:3] for row in shown.splitlines()[1:4]]
    assert rows[0] == ["search", "inputSchema", "/properties/q/pattern"]
    assert rows[2] == ["search", "outputSchema", "/patternProperties/("]
    assert "4 patterns in 1 tool" in shown


@pytest.mark.parametrize("document", [TOOL, [TOOL], {"tools": [TOOL]}, {"jsonrpc": "2.0", "result": {"tools": [TOOL]}}])
def test_a_tool_a_list_and_an_answer_of_a_server_are_the_same(line: CommandLine, document: Any) -> None:
    status, shown = check(line, document, "--json")
    report = json.loads(shown)
    assert status == 1
    assert (report["safe"], report["tools"], report["checked"]) == (False, 1, 4)
    assert [(found["place"], found["pointer"]) for found in report["findings"]] == [
        ("inputSchema", "/properties/q/pattern"),
        ("inputSchema", "/properties/n/pattern"),
        ("outputSchema", "/patternProperties/("),
    ]


def test_safe_patterns_are_listed_when_asked_for(line: CommandLine) -> None:
    assert "/properties/ok/pattern" not in check(line, SCHEMA)[1]
    assert "/properties/ok/pattern" in check(line, SCHEMA, "--all")[1]
    assert len(json.loads(check(line, SCHEMA, "--all", "--json")[1])["findings"]) == 3


def test_a_file_is_read_by_its_path_and_sarif_points_into_it(line: CommandLine) -> None:
    path = line.folder / "tools.json"
    path.write_text(json.dumps({"tools": [TOOL]}))
    result = line.run("check-schema", str(path), "--sarif")
    assert result.exit_code == 1
    (run,) = json.loads(result.stdout)["runs"]
    places = [found["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] for found in run["results"]]
    assert places[0] == f"{path}#/tools/0/inputSchema/properties/q/pattern"
    assert [found["ruleId"] for found in run["results"]] == ["regex-exponential", "regex-polynomial", "regex-invalid"]


@pytest.mark.parametrize("document", [True, {}, [], {"const": {"pattern": EVIL}}, {"tools": EVIL}])
def test_what_holds_no_pattern_is_safe(line: CommandLine, document: Any) -> None:
    status, shown = check(line, document)
    assert status == 0
    assert "nothing that can hang a host" in shown


@pytest.mark.parametrize(
    "text", [b"", b"{", b"nope", b"\xff\xfe{", b"3", b"null", b'"(a+)+$"', b"[" * 100_000, b"9" * 9_999]
)
def test_what_is_no_schema_is_refused_in_one_line(line: CommandLine, text: bytes) -> None:
    told = line.fails("check-schema", "-", status=2, stdin=text)
    assert told.startswith("Error: stdin ")
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    "document",
    [
        [3, None, "x", [], {"pattern": EVIL}],
        {"inputSchema": 7, "outputSchema": [EVIL]},
        {"tools": [{"name": {"a": 1}, "inputSchema": {"pattern": EVIL}}]},
        {"pattern": 5, "properties": [], "items": {"pattern": EVIL}},
        {"$ref": "#", "allOf": [{"$ref": "#/allOf/0"}], "pattern": EVIL},
        {"pattern": "\ud800(a+)+$"},
    ],
)
def test_odd_documents_are_judged_all_the_same(line: CommandLine, document: Any) -> None:
    for form in ([], ["--json"], ["--sarif"]):
        assert check(line, document, *form)[0] == 1


def test_hostile_names_neither_steer_the_terminal_nor_fill_it(line: CommandLine) -> None:
    _, shown = check(line, [{"name": "\x1b[2J" + "t" * 5_000, "inputSchema": {"properties": {"p" * 5_000: SCHEMA}}}])
    assert all(row.isprintable() for row in shown.splitlines())
    assert max(map(len, shown.splitlines())) < 500


def test_a_missing_file_and_two_forms_at_once_are_wrong_usage(line: CommandLine, tmp_path: Path) -> None:
    assert "No such file" in line.fails("check-schema", "missing.json", status=2)
    assert "Is a directory" in line.fails("check-schema", str(tmp_path), status=2)
    assert "not both" in line.fails("check-schema", "-", "--json", "--sarif", status=2, stdin="{}")
