"""What a caller of `check_pattern` can rely on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mcp_memory_server.regexsafety import Span, check_pattern
from mcp_memory_server.regexsafety.verdict import Dialect


@pytest.mark.parametrize(
    ("pattern", "verdict", "degree"),
    [
        ("^(a+)+$", "exponential", None),
        ("(a|a)*b", "exponential", None),
        ("(a*)*b", "exponential", None),
        ("^(a?){25}(a){25}$", "exponential", None),
        ("(a{1,40}){1,40}$", "exponential", None),
        ("\\s+$", "polynomial", 2),
        ("x*y", "polynomial", 2),
        ("^a*a*$", "polynomial", 2),
        ("^a*a*a*$", "polynomial", 3),
        ("a{2147483647}", "polynomial", 2),
        ("(?=.*x)y", "polynomial", 2),
        ("(a+)(a+)\\1b", "polynomial", None),
        ("^[a-z]+$", "safe", None),
        ("^(a|b)*c", "safe", None),
        ("^\\d{4}-\\d{2}$", "safe", None),
        (".*", "safe", None),
        ("(?=a+a+$)$", "safe", None),
        ("(", "invalid", None),
    ],
)
def test_a_pattern_gets_its_verdict(pattern: str, verdict: str, degree: int | None) -> None:
    judged = check_pattern(pattern)
    assert judged.verdict == verdict
    if degree is not None:
        assert judged.degree == degree


@pytest.mark.parametrize(
    ("pattern", "verdict"),
    [
        ("(?P<x>a+)+$", "exponential"),
        ("(?>a+)+$", "polynomial"),
        ("^(?>a+)+b", "safe"),
        ("^(?:a++)+b", "safe"),
        ("(?:(?:x*)*c)*$", "exponential"),
        ("\\s+\\Z", "polynomial"),
        ("(?<=a+)b", "invalid"),
        ("(?i)^(kx|\u212ax)*$", "exponential"),
    ],
)
def test_pythons_dialect_has_its_own_rules(pattern: str, verdict: str) -> None:
    assert check_pattern(pattern, dialect="python").verdict == verdict


def test_an_empty_round_ends_a_loop_in_python_and_fails_in_ecma_262() -> None:
    assert check_pattern("^(?:(?:x?)*c)*$").verdict == "safe"
    assert check_pattern("^(?:(?:x?)*c)*$", dialect="python").verdict == "exponential"


def test_an_unsafe_verdict_says_where_how_and_how_much() -> None:
    judged = check_pattern("^x(a+)+$", "u")
    assert judged.loop == Span(2, 7)
    assert judged.witness is not None
    assert judged.witness.prefix.startswith("xa")
    assert set(judged.witness.pump) == {"a"}
    assert judged.length_for_one_second is not None
    assert 20 < judged.length_for_one_second < 40
    assert "'(a+)+' (characters 2 to 7)" in judged.reason


def test_the_loop_is_counted_in_characters_of_the_python_string() -> None:
    judged = check_pattern("^\U0001f44d+\\udc4d+$")
    assert judged.verdict == "polynomial"
    assert judged.loop is not None
    assert judged.pattern[judged.loop.start : judged.loop.end] in ("\U0001f44d+", "\\udc4d+")


def test_a_subject_for_v8_is_wide_when_the_pattern_is() -> None:
    judged = check_pattern("([^x]+) \u53d1")
    assert judged.witness is not None
    assert any(ord(character) > 0xFF for character in judged.witness.subject(1))


def test_the_same_question_gets_the_same_answer() -> None:
    pattern = "(?:([\\w]+)\\.)?(?:([\\w\\\\]+)\\:\\:)?([\\w]+)"
    assert check_pattern(pattern) == check_pattern(pattern)


@pytest.mark.parametrize("flags", ["", "i", "m", "s", "u", "y", "g", "iu"])
def test_flags_that_change_nothing_here_change_no_verdict(flags: str) -> None:
    assert check_pattern("^(a+)+b", flags).verdict == "exponential"


def test_a_sticky_pattern_is_tried_at_one_place_only() -> None:
    assert check_pattern("a+b", "y").verdict == "safe"
    assert check_pattern("a+b").verdict == "polynomial"


def test_what_is_no_text_or_no_dialect_is_refused() -> None:
    with pytest.raises(TypeError):
        check_pattern(b"a")  # pyright: ignore[reportArgumentType]
    unknown: Dialect = "perl"  # pyright: ignore[reportAssignmentType]
    with pytest.raises(ValueError, match="perl"):
        check_pattern("a", dialect=unknown)


def test_set_notation_and_endless_patterns_are_unknown() -> None:
    assert check_pattern("[a--b]", "v").verdict == "unknown"
    assert check_pattern("a" * 70_000).verdict == "unknown"


def test_witnesses_of_exponential_python_patterns_blow_up_in_re() -> None:
    script = "import re, sys; re.search(sys.argv[1], sys.argv[2])"
    for pattern in ("^(a+)+$", "(?:a|a)*!", "^(?:(?:x?)*c)*$", "^([A-Za-z](-|_|.)?)+$"):
        judged = check_pattern(pattern, dialect="python")
        assert judged.witness is not None
        with pytest.raises(subprocess.TimeoutExpired):
            subprocess.run([sys.executable, "-c", script, pattern, judged.witness.subject(60)], timeout=1.5, check=True)


def test_the_package_loads_nothing_heavy() -> None:
    script = (
        "import sys, importlib; importlib.import_module('mcp_memory_server.regexsafety');"
        "heavy = {'numpy', 'pydantic', 'mcp', 'anyio', 'asyncio'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
