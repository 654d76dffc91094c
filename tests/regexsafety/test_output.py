"""Lines, reports and drawings, as the command line shows them."""

from __future__ import annotations

import json
from typing import cast

import pytest

from mcp_memory_server.regexsafety import check_pattern, check_schema
from mcp_memory_server.regexsafety.explain import explain
from mcp_memory_server.regexsafety.lines import BadLine, check_regex_lines
from mcp_memory_server.regexsafety.report import HEADINGS, Located, finding_json, rows, sarif

_EVIL = "^(a+)+$"


def test_lines_are_answered_in_order_with_the_fields_of_the_protocol() -> None:
    asked = ['{"pattern": "^(a+)+$", "flags": "u", "other": 1}\n', "\n", '{"pattern": "\\ud83d"}', '{"pattern": "("}']
    answers = [json.loads(line) for line in check_regex_lines(asked)]
    assert [answer["verdict"] for answer in answers] == ["exponential", "safe", "invalid"]
    assert list(answers[0]) == ["pattern", "flags", "verdict", "degree", "attack", "ms"]
    assert set(answers[0]["attack"]) == {"prefix", "pump", "suffix"}
    assert answers[1]["pattern"] == "\ud83d"
    assert answers[1]["flags"] == ""


def test_each_line_is_answered_before_the_next_is_read() -> None:
    read: list[int] = []

    def lines() -> object:
        for number in range(3):
            read.append(number)
            yield '{"pattern": "a"}'

    answers = check_regex_lines(lines())  # pyright: ignore[reportArgumentType]
    next(answers)
    assert read == [0]


def test_answers_are_ascii() -> None:
    (line,) = check_regex_lines(['{"pattern": "\\u00e9+\\u00e9+$"}'])
    assert line.isascii()


@pytest.mark.parametrize(
    "line", ["{", "[]", "3", '{"pattern": 3}', "{}", '{"pattern": "a", "flags": 1}', "[" * 100_000]
)
def test_a_line_that_is_no_request_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(BadLine) as refused:
        list(check_regex_lines(['{"pattern": "a"}', line]))
    assert refused.value.number == 2


def test_an_explanation_shows_two_ways_to_read_one_string() -> None:
    drawn = explain(check_pattern(_EVIL))
    assert "one way" in drawn
    assert "another" in drawn
    assert "~~~~~" in drawn


@pytest.mark.parametrize(
    "pattern", ["abc", "(", "(a)\\1+$", "^(?=a*a*b)", "\\s+$", "\U0001f600+\U0001f600+$", "(?<=a*)b", "a{9,}"]
)
def test_every_verdict_can_be_explained(pattern: str) -> None:
    assert check_pattern(pattern).verdict in explain(check_pattern(pattern))


def _located() -> list[Located]:
    schema = {"properties": {"q": {"pattern": _EVIL}, "r": {"pattern": "a\x1b\\[31m"}, "s": {"pattern": "("}}}
    return [Located("tool one", finding) for finding in check_schema(schema)]


def test_rows_name_the_place_and_the_verdict_and_cannot_steer_a_terminal() -> None:
    shown = rows(_located(), include_safe=True)
    assert len(HEADINGS) == len(shown[0])
    assert shown[0][:2] == ("tool one#/properties/q/pattern", "exponential")
    assert all(cell.isprintable() for row in shown for cell in row)


def test_safe_patterns_are_no_rows_unless_asked_for() -> None:
    assert [row[1] for row in rows(_located())] == ["exponential", "invalid"]


def test_json_findings_hold_the_attack() -> None:
    found = finding_json(_located()[0])
    assert found["pointer"] == "/properties/q/pattern"
    assert json.loads(json.dumps(found))["attack"]["pump"]


def test_sarif_names_rule_level_and_place_of_each_unsafe_finding() -> None:
    log = json.loads(json.dumps(sarif(_located(), "1.0")))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    results = cast("list[dict[str, object]]", run["results"])
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert [result["ruleId"] for result in results] == ["regex-exponential", "regex-invalid"]
    assert {result["ruleId"] for result in results} <= rules
    assert "tool%20one" in json.dumps(results[0])
