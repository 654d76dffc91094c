"""Each fuzzing target for a bounded number of runs, in a process of its own, and what fuzzing has found."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_memory_server.regexsafety import check_pattern
from tests.regexsafety import patterns
from tests.regexsafety.fuzzing.reader import Reader, spelled

_ROOT = Path(__file__).parents[2]
_CORPUS = Path(__file__).parent / "data" / "patterns.jsonl"
_LIMIT_S = 240
"""Many times what it takes: a busy machine is no failure."""
_LONGEST_SEED = 60


def _require_atheris() -> None:
    if importlib.util.find_spec("atheris") is not None:
        return
    has_wheels = sys.platform == "linux" and platform.machine() == "x86_64" and sys.version_info < (3, 14)
    if os.environ.get("CI") == "true" and has_wheels:
        pytest.fail("atheris is missing, and this test needs it")
    pytest.skip("atheris is not installed")


def _seeds(target: str) -> list[bytes]:
    """Inputs to begin with: patterns of the corpus, or regular ones, with choices before and letters after them."""
    if target == "schemas":
        return []
    if target == "growth":
        texts = patterns.regular(11, 150, ("^", "$", "\\b", "(?=a)", "(?<!b)"))
        return [bytes((i % 4, i % 5, i % 3)) + spelled(text) + bytes(range(10)) for i, text in enumerate(texts)]
    entries = [json.loads(line)["pattern"] for line in _CORPUS.read_text(encoding="utf-8").splitlines()[::40]]
    return [
        bytes((i,)) + spelled(text) + (bytes(range(6)) if target == "parsers" else b"")
        for i, text in enumerate(entries)
        if len(text) <= _LONGEST_SEED
    ]


@pytest.mark.fuzz
@pytest.mark.parametrize(("target", "runs"), [("parsers", 2500), ("verdicts", 200), ("growth", 500), ("schemas", 200)])
def test_a_bounded_run_of_the_fuzzer_finds_nothing(target: str, runs: int, tmp_path: Path) -> None:
    _require_atheris()
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    for number, data in enumerate(_seeds(target)):
        (seeds / str(number)).write_bytes(data)
    options = [f"-runs={runs}", "-seed=1", "-max_len=72", "-timeout=60", f"-artifact_prefix={tmp_path}/found-"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.regexsafety.fuzzing", target, *options, str(seeds)],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    done_runs = re.search(r"^Done (\d+) runs", done.stderr, re.MULTILINE)
    assert done_runs is not None
    assert int(done_runs[1]) >= runs  # more where it was slow: seeds are then run again before the first count


@pytest.mark.parametrize("text", ["", "(a+)+$", "\\d{2,}|\U0001f600\ud83d", "[^\x7f]\u00e9"])
def test_a_spelled_text_is_read_back(text: str) -> None:
    assert Reader(spelled(text)).text() == text


@pytest.mark.parametrize(
    "pattern",
    [
        # Which of several characters with one effect is read decides whether the search ends.
        "(?:ab)+?|((?:[ab]))+(?:\\w)+(?=a)|^^(?:)",
        "(?:[^a]){2,}(?:[^a]){2}(?:[ab])+?",
        "((?<!b)(?:\\w){2,}(?:[ab])+)*(?<!b)",
        # The search for a worse kind of ambiguity left nothing for this one.
        "(?:aa)*((?:[^a]){0,2}?(?:\\s)|(?:\\w){2,})+(?!c)",
        # All ways of a loop are tried before the match that skips it.
        "(?:a)*(((?:[^a])*){1,3}(?:aa)+?)*(?:c)??",
        "(((\\b(?:[ab]){2})+(?:.)+?(?!c))|(?:[^a])??|(?:.)+)+(?:.)$",
        # A newline at the end does not make Python's `$` fail, two of them do.
        "((?:)+?^(?<!b))??(?:.)*$",
        "((((?:b)?(?:a)?|(?:b)))+?(?:.)(?!c)){2,}$",
    ],
)
def test_attacks_that_were_missed_are_found(pattern: str) -> None:
    for dialect in ("ecma", "python"):
        assert check_pattern(pattern, "", dialect).verdict in ("polynomial", "exponential")


def test_growth_by_a_lookahead_alone_is_told() -> None:
    judged = check_pattern('https?://(?![^" <>]*(?:jpg|png|gif))[^" <>]+')
    assert judged.verdict == "safe"
    assert judged.length_for_one_second
    assert "the square of the length" in judged.reason
    assert str(judged.length_for_one_second) in judged.reason


@pytest.mark.parametrize(
    ("pattern", "degree"),
    [("(.*)(1999 - Pizza & Cheese)(.*)(\\..*)", 3), ("(.*?<a>.*|.*?<b>.*?(c|d).*)x?", 3), ("a*b*a*$", 3)],
)
def test_a_chain_whose_last_loop_accepts_still_counts(pattern: str, degree: int) -> None:
    assert check_pattern(pattern).degree == degree
