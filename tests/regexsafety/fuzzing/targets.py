"""What must hold for any bytes. A target returns, or fails with an AssertionError (or any other exception)."""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Callable

from mcp_memory_server.regexsafety import POLICIES, check_pattern, check_schema, find_equal_safe_pattern, guard_tools
from mcp_memory_server.regexsafety.alphabet import build_alphabet
from mcp_memory_server.regexsafety.analysis import character_sets
from mcp_memory_server.regexsafety.budget import Budget, BudgetExceeded
from mcp_memory_server.regexsafety.builder import InvalidPattern, ParsedPattern, UnsupportedPattern
from mcp_memory_server.regexsafety.casing import Casing, canonical
from mcp_memory_server.regexsafety.compiler import CompileOptions, compile_program
from mcp_memory_server.regexsafety.engine import Count, StepCounter, Subject
from mcp_memory_server.regexsafety.explain import explain
from mcp_memory_server.regexsafety.program import Program
from mcp_memory_server.regexsafety.python_parser import parse_python
from mcp_memory_server.regexsafety.report import Located, finding_json, rows, sarif, verdict_json
from mcp_memory_server.regexsafety.schema import Finding, is_list, is_mapping
from tests.regexsafety.fuzzing.reader import Reader

MOST_CPU_S = 5.0
"""Five times what is promised, since a fuzzer's instrumentation slows the package down."""
MOST_COST = 2_000_000
"""Analysis steps of one verdict, over all budgets."""
_BEARABLE = 20_000
"""Steps that `re` may be asked to take."""
_STEPS = 200_000
_PYTHON_FLAGS = {"": 0, "i": re.I, "x": re.X, "a": re.A, "ms": re.M | re.S, "is": re.I | re.S, "ai": re.A | re.I}
_FLAGS = ("u", "", "iu", "i", "ms", "msu", "y", "s")
_REGULAR = (
    "a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\s", "(", "(?:", ")", "*", "+", "?", "*?", "+?", "??", "|", "^", "$",
    "\\b", "\\B", "(?=a)", "(?!b)", "(?<=a)", "(?<!b)", "{2}", "{1,3}", "{2,}", "ab", "\n",
)  # fmt: skip
"""What the analysis proves rather than searches: no lookaround over several characters, no reference."""
_STEEPER_THAN_LINEAR = 3.0


def parsers(data: bytes) -> None:
    """`re` and our parser of its dialect accept the same; what they accept matches the same."""
    reader = Reader(data)
    flags = tuple(_PYTHON_FLAGS)[reader.below(len(_PYTHON_FLAGS))]
    pattern = reader.text(keep=6)
    try:
        parsed = parse_python(pattern, flags)
    except UnsupportedPattern:
        return
    except InvalidPattern:
        parsed = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = re.compile(pattern, _PYTHON_FLAGS[flags])
    except (re.error, OverflowError):
        theirs = None
    except RecursionError:
        return
    assert (parsed is None) == (theirs is None), f"{pattern!r} {flags!r}: re {'refuses' if parsed else 'accepts'} it"
    if parsed is None or theirs is None:
        return
    casing = Casing.PYTHON_ASCII if theirs.flags & re.A else Casing.PYTHON
    try:
        program = _program(parsed)
        atoms = [reader.below(len(program.alphabet.characters)) for _ in range(6)]
        counted = _search(program, atoms, casing, ecma=False)
    except BudgetExceeded:
        return
    if counted.steps > _BEARABLE:
        return
    subject = "".join(chr(program.alphabet.characters[atom]) for atom in atoms)
    found = theirs.search(subject)
    ours = None if counted.start is None else (counted.start, counted.end)
    assert ours == (found.span() if found else None), f"{pattern!r} {flags!r} on {subject!r}"


def _program(parsed: ParsedPattern) -> Program:
    alphabet = build_alphabet(character_sets(parsed.tree), parsed.last_code, Budget("fuzzing", _STEPS))
    return compile_program(parsed.tree, alphabet, CompileOptions(16, True, parsed.conditional_captures))


def _search(program: Program, atoms: list[int], casing: Casing, ecma: bool) -> Count:
    codes = [program.alphabet.characters[atom] for atom in atoms]
    return StepCounter(program, Subject(codes, atoms), Budget("fuzzing", _STEPS), canonical(casing), ecma).search()


def verdicts(data: bytes) -> None:
    """Every text gets a verdict that is whole, for a bounded price, in words and drawings, too."""
    reader = Reader(data)
    choice = reader.below(2 * len(_FLAGS) + 2)
    python = choice >= 2 * len(_FLAGS)
    flags = ("", "i")[choice % 2] if python else _FLAGS[choice % len(_FLAGS)]
    pattern = reader.text()
    begun = time.process_time()
    judged = check_pattern(pattern, flags, "python" if python else "ecma")
    spent = time.process_time() - begun
    assert spent < MOST_CPU_S, f"{pattern!r} {flags!r} took {spent:.1f} s"
    assert judged.cost <= MOST_COST, f"{pattern!r} {flags!r} took {judged.cost} steps"
    assert judged.reason
    harmful = judged.verdict in ("polynomial", "exponential")
    assert (judged.witness is not None) == harmful == (judged.length_for_one_second is not None)
    assert (judged.degree is not None) == (judged.verdict == "polynomial")
    if judged.witness is not None:
        assert all(pump for _, pump in judged.witness.pumps)
        assert len(judged.witness.subject(4)) > len(judged.witness.subject(3))
        assert (judged.degree or 2) >= 2
    if judged.loop is not None:
        assert 0 <= judged.loop.start < judged.loop.end <= len(pattern)
    explain(judged)
    json.dumps(verdict_json(judged))
    if harmful and choice % 4 == 0:
        equal = find_equal_safe_pattern(pattern)
        assert equal is None or check_pattern(equal, "u").verdict == "safe"


def growth(data: bytes) -> None:
    """What is called safe without being searched for attacks takes linear time on every string."""
    reader = Reader(data)
    prefix_length, pump_length, suffix_length = reader.below(4), 1 + reader.below(4), reader.below(3)
    pattern = reader.text(_REGULAR, keep=10)
    if len(pattern) > 40 or check_pattern(pattern, "", "python").verdict != "safe":
        return
    program = _program(parse_python(pattern))
    letters = [reader.below(len(program.alphabet.characters)) for _ in range(10)]
    prefix, pump = letters[:prefix_length], letters[3 : 3 + pump_length]
    suffix = letters[7 : 7 + suffix_length]
    for word in (pump, *([atom] for atom in range(len(program.alphabet.characters)))):
        _assert_linear(program, pattern, (prefix, word, suffix))


def _assert_linear(program: Program, pattern: str, attack: tuple[list[int], list[int], list[int]]) -> None:
    prefix, pump, suffix = attack
    subjects = [prefix + pump * pumps + suffix for pumps in (12, 24, 48)]
    try:
        steps = [_search(program, subject, Casing.PYTHON, ecma=False).steps for subject in subjects]
    except BudgetExceeded:
        return
    early, late = steps[1] - steps[0], steps[2] - steps[1]
    words = ["".join(chr(program.alphabet.characters[atom]) for atom in word) for word in attack]
    assert late <= max(_STEEPER_THAN_LINEAR * early, 200), f"{pattern!r} is called safe; {words} costs {steps}"


def schemas(data: bytes) -> None:
    """Every finding stands where it says, and what a policy lets through has nothing left that it acts on."""
    value = Reader(data).json()
    findings = check_schema(value)
    for finding in findings:
        if finding.pointer:
            assert _at(value, finding) == finding.pattern
    located = [Located("fuzzing", finding) for finding in findings]
    rows(located, include_safe=True)
    json.dumps([[finding_json(entry) for entry in located], sarif(located, "0")])
    before = repr(value)
    for name, policy in POLICIES.items():
        guarded = guard_tools([{"name": "t", "inputSchema": value}], name)
        assert repr(value) == before
        for tool in guarded.tools:
            left = [policy.action_for(finding) for finding in check_schema(tool.get("inputSchema"))]
            assert set(left) <= {"keep", "warn"}, f"{name} leaves {tool}"


def _at(value: object, finding: Finding) -> object:
    """What stands at the pointer: the pattern, or the key that is one."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in finding.pointer.split("/")[1:]]
    for step in steps[:-1]:
        assert is_mapping(value) or is_list(value)
        value = value[step] if is_mapping(value) else value[int(step)]
    assert is_mapping(value)
    assert steps[-1] in value
    return steps[-1] if finding.keyword == "patternProperties" else value[steps[-1]]


TARGETS: dict[str, Callable[[bytes], None]] = {
    "parsers": parsers,
    "verdicts": verdicts,
    "growth": growth,
    "schemas": schemas,
}
