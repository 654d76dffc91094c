"""The parsers refuse what the engines refuse, and accept what they accept."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest

from mcp_memory_server.regexsafety.builder import InvalidPattern, UnsupportedPattern
from mcp_memory_server.regexsafety.ecma_parser import parse_ecma
from mcp_memory_server.regexsafety.python_parser import parse_python
from mcp_memory_server.regexsafety.unicode_properties import property_set
from tests.regexsafety import patterns, v8

_CORPUS = Path(__file__).parent / "data" / "patterns.jsonl"


def _corpus() -> list[tuple[str, str]]:
    lines = _CORPUS.read_text(encoding="utf-8").splitlines()
    return [(entry["pattern"], entry["flags"]) for entry in map(json.loads, lines)]


def _ecma_accepts(pattern: str, flags: str) -> bool:
    try:
        parse_ecma(pattern, flags)
    except InvalidPattern:
        return False
    return True


def _python_accepts(pattern: str, flags: str) -> bool:
    try:
        parse_python(pattern, flags)
    except InvalidPattern:
        return False
    return True


def _re_accepts(pattern: str, flags: str) -> bool:
    letters = {"i": re.I, "m": re.M, "s": re.S, "x": re.X, "a": re.A}
    combined = 0
    for letter in flags:
        combined |= letters[letter]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern, combined)
    except (re.error, OverflowError, ValueError):
        return False
    return True


def test_the_ecma_parser_agrees_with_v8_on_the_corpus_with_and_without_u() -> None:
    cases = [(pattern, flags) for pattern, flags in _corpus()]
    cases += [(pattern, flags.replace("u", "") if "u" in flags else flags + "u") for pattern, flags in cases]
    answers = v8.compiles(cases)
    wrong = [case for case, answer in zip(cases, answers, strict=True) if _ecma_accepts(*case) is not answer]
    assert wrong == []


@pytest.mark.parametrize("flags", ["", "u", "i", "iu"])
def test_the_ecma_parser_agrees_with_v8_on_glued_pieces(flags: str) -> None:
    cases = [(text, flags) for text in patterns.glued(patterns.ECMA_PIECES, seed=len(flags), count=4000)]
    answers = v8.compiles(cases)
    wrong = [case for case, answer in zip(cases, answers, strict=True) if _ecma_accepts(*case) is not answer]
    assert wrong == []


def test_the_python_parser_agrees_with_re_on_the_corpus() -> None:
    cases = [(pattern, "".join(set(flags) & set("ims"))) for pattern, flags in _corpus()]
    assert [case for case in cases if _python_accepts(*case) is not _re_accepts(*case)] == []


@pytest.mark.parametrize("flags", ["", "i", "x", "a", "ms"])
def test_the_python_parser_agrees_with_re_on_glued_pieces(flags: str) -> None:
    texts = patterns.glued(patterns.PYTHON_PIECES, seed=len(flags), count=5000)
    assert [text for text in texts if _python_accepts(text, flags) is not _re_accepts(text, flags)] == []


@pytest.mark.parametrize(
    ("name", "value"), [("L", None), ("Lowercase_Letter", None), ("Script", "Greek"), ("sc", "Latn"), ("Emoji", None)]
)
def test_known_unicode_properties_have_members(name: str, value: str | None) -> None:
    assert property_set(name, value)


@pytest.mark.parametrize(("name", "value"), [("IsWhitespace", None), ("Line_Break", "Alphabetic"), ("L", "L")])
def test_unknown_unicode_properties_are_refused(name: str, value: str | None) -> None:
    assert property_set(name, value) is None


@pytest.mark.parametrize("flags", ["uu", "z", "uv"])
def test_flags_that_no_engine_takes_make_a_pattern_invalid(flags: str) -> None:
    with pytest.raises(InvalidPattern, match="flags"):
        parse_ecma("a", flags)


def test_set_notation_is_unsupported_rather_than_guessed_at() -> None:
    with pytest.raises(UnsupportedPattern):
        parse_ecma("[a--b]", "v")


def test_python_groups_nested_too_deeply_are_unsupported() -> None:
    with pytest.raises(UnsupportedPattern):
        parse_python("(" * 5000 + ")" * 5000)


def test_global_flags_of_python_take_effect() -> None:
    verbose = parse_python("(?x) a # a comment\n b")
    assert verbose.tree == parse_python("ab").tree
    assert parse_python("(?i)a").tree == parse_python("[aA]").tree


def test_case_is_folded_as_each_engine_folds_it() -> None:
    assert parse_ecma("s", "iu").tree == parse_ecma("[sS\u017f]", "u").tree
    assert parse_ecma("s", "i").tree == parse_ecma("[sS]").tree
    assert parse_python("k", "i").tree == parse_python("[kK\u212a]").tree
    assert parse_python("k", "ai").tree == parse_python("[kK]").tree
    assert parse_ecma("\u03c3", "i").tree == parse_ecma("[\u03c2\u03c3\u03a3]").tree
