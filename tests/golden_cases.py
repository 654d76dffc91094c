"""The golden cases in `tests/golden`: one JSON object a line, its names in camelCase. Each line is a test."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

_GOLDEN = Path(__file__).parent / "golden"


def golden_cases(file: str, ops: Iterable[str] = ()) -> list[ParameterSet]:
    """Every case of `tests/golden/<file>`, or every one with these `op`s; its line number is its id.

    Names are in snake_case; what they hold is as it stands in the file.
    """
    wanted = frozenset(ops)
    lines = (_GOLDEN / file).read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line, object_pairs_hook=_in_snake_case) for line in lines]
    return [
        pytest.param(case, id=f"{case.get('op', 'line')}-{number}")
        for number, case in enumerate(cases, start=1)
        if not wanted or case["op"] in wanted
    ]


def _in_snake_case(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {re.sub("[A-Z]", lambda big: f"_{big[0].lower()}", name): value for name, value in pairs}
