"""The engine matches as `re` and V8 do, and its counts are those of a matcher without memory."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

from mcp_memory_server.regexsafety.alphabet import build_alphabet
from mcp_memory_server.regexsafety.analysis import character_sets
from mcp_memory_server.regexsafety.automaton import build_automaton
from mcp_memory_server.regexsafety.budget import Budget, BudgetExceeded
from mcp_memory_server.regexsafety.builder import ParsedPattern
from mcp_memory_server.regexsafety.compiler import CompileOptions, compile_program
from mcp_memory_server.regexsafety.ecma_parser import parse_ecma
from mcp_memory_server.regexsafety.engine import Count, StepCounter, subject_of
from mcp_memory_server.regexsafety.path_count import PathCounter
from mcp_memory_server.regexsafety.program import Op, Program
from mcp_memory_server.regexsafety.python_parser import parse_python
from tests.regexsafety import patterns, v8

_SHARED = ("^", "$", "\\b", "\\B", "(?=a)", "(?!ab)", "(?<=b)", "(?<!ab)")
_UNLIMITED = 10**9
_BEARABLE = 20_000
"""Steps that a real engine may be asked to take; random patterns can be as bad as any attack."""


def _program(parsed: ParsedPattern, unroll: int = 1000, exact: bool = True) -> Program:
    alphabet = build_alphabet(character_sets(parsed.tree), parsed.last_code, Budget("test", _UNLIMITED))
    return compile_program(
        parsed.tree, alphabet, CompileOptions(unroll, exact, conditional_captures=parsed.conditional_captures)
    )


@lru_cache(maxsize=4096)
def _ecma(pattern: str, flags: str = "", unroll: int = 1000) -> Program:
    return _program(parse_ecma(pattern, flags), unroll)


def _search(program: Program, subject: str, python: bool = False) -> Count:
    codes = [ord(character) for character in subject]
    counter = StepCounter(program, subject_of(codes, program), Budget("test", _UNLIMITED), str.lower, ecma=not python)
    return counter.search()


def _found(count: Count) -> tuple[int, int] | None:
    return None if count.start is None or count.end is None else (count.start, count.end)


def test_matches_are_those_of_re_for_random_patterns() -> None:
    for pattern in patterns.regular(seed=1, count=400, extras=_SHARED):
        program = _program(parse_python(pattern))
        for subject in patterns.subjects(seed=len(pattern), count=12):
            count = _search(program, subject, python=True)
            if count.steps > _BEARABLE:
                continue
            expected = re.search(pattern, subject)
            assert _found(count) == (expected.span() if expected else None), (pattern, subject)


def test_matches_are_those_of_v8_for_random_patterns() -> None:
    cases = [
        (pattern, flags, subject)
        for pattern in ("(a|b)?" + tail for tail in patterns.regular(2, 300, (*_SHARED, "\\1", "(?<=a+)")))
        for flags in ("", "iu", "ms")
        for subject in patterns.subjects(seed=len(pattern), count=6)
        if _search(_ecma(pattern, flags), subject).steps <= _BEARABLE
    ]
    answers = v8.searches(cases)
    for (pattern, flags, subject), expected in zip(cases, answers, strict=True):
        assert _found(_search(_ecma(pattern, flags), subject)) == expected, (pattern, flags, subject)


@pytest.mark.parametrize(
    ("pattern", "subject"),
    [
        ("(a*)b\\1c", "aabaac"),
        ("(?:(a)|b)*\\1", "abab"),
        ("(?=(a+))a*b\\1", "baaabac"),
        ("(a*)*", "b"),
        ("(z)((a+)?(b+)?(c))*", "zaacbbbcac"),
        ("(?<=(\\d+)(\\d+))$", "1053"),
        ("(?<=\\1(a))b", "aab"),
        ("(?!(a))\\1b", "cb"),
        ("(?:a?){3}b", "aab"),
        ("(?:){3}a", "a"),
    ],
)
def test_captures_and_empty_rounds_behave_as_in_v8(pattern: str, subject: str) -> None:
    assert [_found(_search(_ecma(pattern), subject))] == v8.searches([(pattern, "", subject)])


@pytest.mark.parametrize(
    ("pattern", "subject"),
    [
        ("(?>a+)ab", "aaab"),
        ("a++b", "aaab"),
        ("(a)?(?(1)b|c)", "ab"),
        ("(a)?(?(1)b|c)", "c"),
        ("a$", "a\n"),
        ("a\\Z", "a\n"),
        ("(?i:A)b", "ab"),
        ("(a*)*b", "aab"),
        ("\\bfoo\\B", "food"),
    ],
)
def test_what_only_python_has_behaves_as_in_re(pattern: str, subject: str) -> None:
    expected = re.search(pattern, subject)
    program = _program(parse_python(pattern))
    assert _found(_search(program, subject, python=True)) == (expected.span() if expected else None)


@pytest.mark.parametrize("pattern", ["a{2,40}b", "(?:ab){3,}c", "(a?){5,50}$", "(?:a|b{2,30}){4,20}c", "a{3}?b{0,9}"])
def test_counted_and_unrolled_repetitions_find_the_same(pattern: str) -> None:
    for subject in [*patterns.subjects(seed=5, count=40), "aaaabbbb", "abababc", "a" * 30 + "b"]:
        counted, unrolled = _ecma(pattern, unroll=3), _ecma(pattern)
        assert _found(_search(counted, subject)) == _found(_search(unrolled, subject))


def _naive_steps(program: Program, subject: str) -> int:  # noqa: C901  # a second matcher, as plain as can be
    """The same program on a matcher that really takes every step."""
    atoms = [program.alphabet.atom_of(ord(character)) for character in subject]
    masks = [1 << atom for atom in atoms] + [program.alphabet.edge]
    steps = 0

    def run(pc: int, position: int, bits: int) -> bool:  # noqa: C901, PLR0912  # a second matcher, as plain as can be
        nonlocal steps
        while True:
            op, arg = program.ops[pc], program.args[pc]
            if op == Op.CHAR:
                steps += 1
                if not arg & masks[position]:
                    return False
                position, bits = position + 1, 0
            elif op == Op.SPLIT:
                steps += 1
                if run(program.nexts[pc], position, bits):
                    return True
                pc = program.alts[pc]
                continue
            elif op == Op.AHEAD:
                if not arg & masks[position]:
                    return False
            elif op == Op.BEHIND:
                if not arg & masks[position - 1 if position else -1]:
                    return False
            elif op == Op.OPEN:
                bits |= arg
            elif op == Op.CHECK:
                if bits & arg:
                    return False
            else:
                return True
            pc = program.nexts[pc]

    for start in range(len(subject) + 1):
        if run(program.start, start, 0):
            break
    return steps


@pytest.mark.parametrize("pattern", ["(a+)+$", "a*a*b", "(a|a)*b", "(?:a?){6}a{6}", "^(a|ab|b)*c", "(a*)*b", "x*y"])
def test_steps_are_those_of_a_matcher_without_memory(pattern: str) -> None:
    for subject in ("", "a", "aaaaaa", "aaaaab", "abababab", "xxxxx"):
        program = _ecma(pattern)
        assert _search(program, subject).steps == _naive_steps(program, subject)


def test_astronomical_counts_are_exact_and_cheap() -> None:
    program = _ecma("^(a|a)*b")
    budget = Budget("test", 5_000)
    counts = [StepCounter(program, subject_of([ord("a")] * n, program), budget).search().steps for n in (100, 101, 102)]
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])
    assert counts[0] > 2**100


def test_the_engine_stops_when_its_budget_does() -> None:
    program = _ecma("(a*)*b")
    with pytest.raises(BudgetExceeded):
        StepCounter(program, subject_of([ord("a")] * 500, program), Budget("test", 100)).search()


@pytest.mark.parametrize("pattern", ["(a+)+$", "a*a*b", "(a|ab)*c", "x*y", "\\s+$", "^(?:a?){8}a{8}$", "a|b"])
def test_counting_on_the_automaton_grows_as_the_engine_counts(pattern: str) -> None:
    automaton = build_automaton(_program(parse_ecma(pattern), exact=False), Budget("test", _UNLIMITED))
    paths = PathCounter(automaton)
    alphabet = automaton.program.alphabet
    for character in "abx ":
        atoms = [alphabet.atom_of(ord(character))] * 12
        engine = _search(_ecma(pattern), character * 12).steps
        counted = paths.count(atoms, Budget("test", _UNLIMITED))
        assert engine / 6 <= counted <= engine * 6, character
