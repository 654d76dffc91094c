"""The figures on the labelled corpus, as far as they do not depend on the clock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from mcp_memory_server.regexsafety import PatternVerdict, check_pattern
from tests.regexsafety import v8

_CORPUS = Path(__file__).parent / "data" / "patterns.jsonl"
_UNSAFE = ("exponential", "polynomial")


@dataclass(frozen=True)
class _Case:
    label: str
    degree: int | None
    from_schema: bool
    judged: PatternVerdict

    @property
    def flagged(self) -> bool:
        return self.judged.verdict in _UNSAFE


def _entries() -> Iterator[dict[str, object]]:
    for line in _CORPUS.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@cache
def _cases() -> tuple[_Case, ...]:
    cases: list[_Case] = []
    for entry in _entries():
        pattern, flags, label, degree = (entry.get(key) for key in ("pattern", "flags", "label", "degree"))
        assert isinstance(pattern, str)
        assert isinstance(flags, str)
        assert isinstance(label, str)
        judged = check_pattern(pattern, flags)
        cases.append(_Case(label, degree if isinstance(degree, int) else None, bool(entry.get("schema")), judged))
    return tuple(cases)


def _share(part: list[_Case], whole: list[_Case]) -> float:
    return len(part) / len(whole)


def test_super_linear_patterns_are_found() -> None:
    unsafe = [case for case in _cases() if case.label in _UNSAFE]
    assert _share([case for case in unsafe if case.flagged], unsafe) >= 0.990


def test_exponential_patterns_are_found_and_called_exponential() -> None:
    exponential = [case for case in _cases() if case.label == "exponential"]
    assert _share([case for case in exponential if case.flagged], exponential) >= 0.995
    assert _share([case for case in exponential if case.judged.verdict == "exponential"], exponential) >= 0.99


def test_safe_patterns_are_left_alone() -> None:
    flagged = [case for case in _cases() if case.flagged]
    assert _share([case for case in flagged if case.label in _UNSAFE], flagged) >= 0.997
    assert len([case for case in flagged if case.label == "safe" and case.from_schema]) <= 1


def test_degrees_are_those_that_were_measured() -> None:
    both = [case for case in _cases() if case.label == "polynomial" and case.judged.verdict == "polynomial"]
    assert _share([case for case in both if case.judged.degree == case.degree], both) >= 0.92


def test_invalid_patterns_are_told_from_valid_ones() -> None:
    invalid = [case for case in _cases() if case.label == "invalid"]
    assert _share([case for case in invalid if case.judged.verdict == "invalid"], invalid) >= 0.995
    assert [
        case.judged.pattern for case in _cases() if case.judged.verdict == "invalid" and case.label != "invalid"
    ] == []


def test_hardly_any_pattern_stays_unjudged() -> None:
    assert len([case for case in _cases() if case.judged.verdict == "unknown"]) <= 10


def test_every_unsafe_verdict_has_a_witness_a_loop_or_a_reason_and_a_length() -> None:
    for case in _cases():
        if case.flagged:
            assert case.judged.witness is not None
            assert case.judged.witness.pump
            assert case.judged.length_for_one_second
            assert "characters cost a second" in case.judged.reason


def test_exponential_witnesses_blow_up_in_v8() -> None:
    exponential = [case.judged for case in _cases() if case.judged.verdict == "exponential"][:12]
    subjects = [[judged.witness.subject(n) for n in range(4, 200)] for judged in exponential if judged.witness]
    costs = v8.costs(
        [(judged.pattern, judged.flags, words) for judged, words in zip(exponential, subjects, strict=True)]
    )
    harmless = [judged.pattern for judged, spent in zip(exponential, costs, strict=True) if spent[-1] <= 0.2]
    assert harmless == []


@pytest.mark.parametrize("degree", [2, 3])
def test_polynomial_witnesses_grow_with_their_power_in_v8(degree: int) -> None:
    found = [case.judged for case in _cases() if case.judged.degree == degree and case.label == "polynomial"][:5]
    harmless: list[str] = []
    for judged in found:
        assert judged.witness is not None
        assert judged.length_for_one_second is not None
        length = len(judged.witness.pump)
        sizes = [max(8, judged.length_for_one_second // length * share // 16) for share in (2, 4, 8, 16, 32)]
        subjects = [judged.witness.subject(size) for size in sizes if size * length < 600_000]
        (spent,) = v8.costs([(judged.pattern, judged.flags, subjects)])
        if max(spent) < 0.03:
            harmless.append(judged.pattern)
    assert harmless == []
