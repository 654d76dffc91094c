"""The line protocol of `check-regex --jsonl`: a pattern a line in, a verdict a line out, in order, as they come."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import cast

from .check import check_pattern
from .verdict import Dialect


class BadLine(Exception):
    """A line that is no request: no JSON, no object, no text under `pattern`, or an odd `flags`."""

    def __init__(self, number: int, problem: str) -> None:
        super().__init__(f"line {number}: {problem}")
        self.number = number


def check_regex_lines(lines: Iterable[str], dialect: Dialect = "ecma") -> Iterator[str]:
    """Answer each line as soon as it is read; blank lines are passed over.

    In: ``{"pattern","flags"}``, ``flags`` may be absent, other fields are ignored. Out, ASCII only:
    ``{"pattern","flags","verdict","degree","attack","ms"}`` with ``ms`` in milliseconds of CPU. Raises BadLine.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        pattern, flags = _request(number, line)
        begun = time.process_time()
        judged = check_pattern(pattern, flags, dialect)
        spent = (time.process_time() - begun) * 1000
        answer = {
            "pattern": pattern,
            "flags": flags,
            "verdict": judged.verdict,
            "degree": judged.degree,
            "attack": None if judged.witness is None else judged.witness.as_json(),
            "ms": round(spent, 3),
        }
        yield json.dumps(answer, ensure_ascii=True)


def _request(number: int, line: str) -> tuple[str, str]:
    try:
        request: object = json.loads(line)
    except (ValueError, RecursionError):
        raise BadLine(number, "no JSON") from None
    if not isinstance(request, dict):
        raise BadLine(number, "no JSON object")
    fields = cast("dict[str, object]", request)
    pattern, flags = fields.get("pattern"), fields.get("flags")
    if not isinstance(pattern, str) or not isinstance(flags, str | None):
        raise BadLine(number, "`pattern` must be text, and `flags` text or absent")
    return pattern, flags or ""
