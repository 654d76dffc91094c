"""Asks V8 by way of node, where it is installed; in CI its absence is a failure, not a skip."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence

import pytest

_COMPILES = """
const cases = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(cases.map(([p, f]) => { try { new RegExp(p, f); return true; } catch { return false; } })));
"""
_SEARCHES = """
const cases = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(cases.map(([p, f, s]) => {
  const found = new RegExp(p, f).exec(s);
  return found === null ? null : [found.index, found.index + found[0].length];
})));
"""
_COSTS = """
const cases = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(cases.map(([p, f, subjects]) => {
  const pattern = new RegExp(p, f), spent = [];
  for (const subject of subjects) {
    const before = process.cpuUsage();
    pattern.exec(subject);
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1e6);
    if (spent.at(-1) > 0.2) break;
  }
  return spent;
})));
"""


def _run(script: str, cases: object, limit_s: float = 120) -> list[object]:
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI") == "true":
            pytest.fail("node is missing, and this test needs V8")
        pytest.skip("node is not installed")
    done = subprocess.run(
        [node, "-e", script], input=json.dumps(cases), capture_output=True, text=True, timeout=limit_s, check=True
    )
    return json.loads(done.stdout)


def compiles(cases: Sequence[tuple[str, str]]) -> list[bool]:
    """Whether each (pattern, flags) compiles."""
    return [answer is True for answer in _run(_COMPILES, cases)]


def searches(cases: Sequence[tuple[str, str, str]]) -> list[tuple[int, int] | None]:
    """Begin and end of the first match of each (pattern, flags, subject), in UTF-16 code units."""
    answers = _run(_SEARCHES, cases)
    return [None if not isinstance(answer, list) else (int(answer[0]), int(answer[1])) for answer in answers]  # pyright: ignore[reportUnknownArgumentType]


def costs(cases: Sequence[tuple[str, str, Sequence[str]]]) -> list[list[float]]:
    """CPU seconds of each subject, stopping at the first that takes more than a fifth of a second."""
    return [[float(spent) for spent in answer] for answer in _run(_COSTS, cases) if isinstance(answer, list)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
