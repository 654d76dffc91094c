"""How good and how fast is the regex checker, and how does it compare with recheck (npm) in the same run?

    python benchmarks/redos.py [--corpus FILE] [--schemas DIR] [--recheck DIR [--sample N]]

The corpus is JSON lines with pattern, flags, label, degree; the schemas a folder with expected.json. `--recheck` names
a folder in which `npm install recheck` was run; a random sample of the corpus is then judged by both, on CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_memory_server.regexsafety import check_pattern, check_schema

_CORPUS = Path(__file__).parent.parent / "tests" / "regexsafety" / "data" / "patterns.jsonl"
_UNSAFE = ("exponential", "polynomial")
_RECHECK_LIMIT_S = 15
_RECHECK = """
const { checkSync } = require("recheck");
require("readline").createInterface({ input: process.stdin }).on("line", line => {
  const { pattern, flags } = JSON.parse(line), before = process.cpuUsage();
  let status = "unknown", degree = null;
  try {
    const found = checkSync(pattern, flags, { timeout: 10000 });
    const complexity = found.complexity?.type;
    if (found.status === "vulnerable") status = complexity === "exponential" ? "exponential" : "polynomial";
    else if (found.status === "safe") status = "safe";
    else if (found.error?.kind === "invalid") status = "invalid";
    degree = found.complexity?.degree ?? null;
  } catch {}
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ verdict: status, degree, ms: (user + system) / 1000 }));
});
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict and what it cost."""

    verdict: str
    degree: int | None
    ms: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    must: str
    value: str


def ours(entry: dict[str, Any]) -> Answer:
    """Our verdict on a line of the corpus."""
    begun = time.process_time()
    judged = check_pattern(entry["pattern"], entry["flags"])
    return Answer(judged.verdict, judged.degree, (time.process_time() - begun) * 1000)


def recheck(folder: Path, entries: Sequence[dict[str, Any]]) -> list[Answer]:
    """recheck's verdicts; a pattern on which it hangs costs it the limit, and a new process."""
    answers: list[Answer] = []
    environment = {**os.environ, "RECHECK_SYNC_BACKEND": "pure"}
    while len(answers) < len(entries):
        rest = entries[len(answers) :]
        with subprocess.Popen(
            ["node", "-e", _RECHECK],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for entry in rest:
                process.stdin.write(json.dumps({"pattern": entry["pattern"], "flags": entry["flags"]}) + "\n")
                process.stdin.flush()
                line = _line_within(process, _RECHECK_LIMIT_S)
                if not line:
                    answers.append(Answer("unknown", None, _RECHECK_LIMIT_S * 1000))
                    process.kill()
                    break
                found = json.loads(line)
                answers.append(Answer(found["verdict"], found["degree"], found["ms"]))
            process.stdin.close()
    return answers


def _line_within(process: subprocess.Popen[str], limit_s: float) -> str:
    import select  # noqa: PLC0415  # exists on POSIX only, like this comparison

    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], limit_s)
    return process.stdout.readline() if ready else ""


def share(part: int, whole: int) -> str:
    """A proportion to three places."""
    return f"{part / whole:.4f}" if whole else "-"


def quantile(values: Sequence[float], at: float) -> float:
    """The value below which that share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(at * len(ordered)))]


def table(entries: Sequence[dict[str, Any]], answers: Sequence[Answer]) -> list[Row]:
    """The figures of one checker on the corpus."""
    pairs = list(zip(entries, answers, strict=True))
    valid = [(entry, answer) for entry, answer in pairs if entry["label"] != "invalid"]
    unsafe = [(entry, answer) for entry, answer in valid if entry["label"] in _UNSAFE]
    found = [answer for _, answer in unsafe if answer.verdict in _UNSAFE]
    exponential = [answer for entry, answer in unsafe if entry["label"] == "exponential"]
    alarms = [entry for entry, answer in valid if entry["label"] == "safe" and answer.verdict in _UNSAFE]
    degrees = [(e, a) for e, a in unsafe if e["label"] == a.verdict == "polynomial" and e["degree"]]
    invalid = [answer for entry, answer in pairs if entry["label"] == "invalid"]
    ms = [answer.ms for answer in answers]
    verdicts = Counter(answer.verdict for answer in answers)
    return [
        Row("recall, any super-linear", "0.990", share(len(found), len(unsafe))),
        Row("recall, exponential", "0.995", share(sum(a.verdict in _UNSAFE for a in exponential), len(exponential))),
        Row(
            "exponential called so",
            "0.99",
            share(sum(a.verdict == "exponential" for a in exponential), len(exponential)),
        ),
        Row("precision", "0.997", share(len(found), len(found) + len(alarms))),
        Row("false alarms, schema patterns", "<= 1", str(sum(bool(entry.get("schema")) for entry in alarms))),
        Row("degree exact", "0.92", share(sum(a.degree == e["degree"] for e, a in degrees), len(degrees))),
        Row("invalid recalled", "0.995", share(sum(a.verdict == "invalid" for a in invalid), len(invalid))),
        Row("valid called invalid", "0", str(sum(a.verdict == "invalid" for _, a in valid))),
        Row("unknown", "<= 10", str(verdicts["unknown"])),
        *(
            Row(f"CPU ms {name}", must, f"{quantile(ms, at):.2f}")
            for name, must, at in (("p50", "0.5", 0.5), ("p95", "20", 0.95), ("p99", "80", 0.99), ("max", "500", 1.0))
        ),
        Row("CPU s, all", "", f"{sum(ms) / 1000:.2f}"),
    ]


def schemas_row(folder: Path) -> Row:
    """In how many schemas every pointer got its label and nothing else was found."""
    files = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["files"]
    right = 0
    for name, expected in files.items():
        found = {f.pointer: f.verdict for f in check_schema(json.loads((folder / name).read_text(encoding="utf-8")))}
        right += found == {entry["pointer"]: entry["label"] for entry in expected}
    return Row("schemas: every pointer, no decoy", "all", f"{right} of {len(files)}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=_CORPUS)
    parser.add_argument("--schemas", type=Path, default=_CORPUS.parent)
    parser.add_argument("--recheck", type=Path)
    parser.add_argument("--sample", type=int, default=300)
    asked = parser.parse_args()
    entries: list[dict[str, Any]] = [json.loads(line) for line in asked.corpus.read_text(encoding="utf-8").splitlines()]
    print(f"{'figure':36}{'must':>8}{'measured':>12}")
    for row in [*table(entries, [ours(entry) for entry in entries]), schemas_row(asked.schemas)]:
        print(f"{row.name:36}{row.must:>8}{row.value:>12}")
    if asked.recheck is not None:
        sample = random.Random(1).sample(entries, min(asked.sample, len(entries)))
        mine, theirs = [ours(entry) for entry in sample], recheck(asked.recheck, sample)
        print(f"\non {len(sample)} of them, drawn at random{'ours':>14}{'recheck':>12}")
        for left, right in zip(table(sample, mine), table(sample, theirs), strict=True):
            print(f"{left.name:40}{left.value:>12}{right.value:>12}")
        ratio = sum(answer.ms for answer in theirs) / sum(answer.ms for answer in mine)
        print(f"recheck took {ratio:.0f} times as long")


if __name__ == "__main__":
    main()
