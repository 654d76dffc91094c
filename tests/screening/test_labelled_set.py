"""The labelled texts of the benchmark: what they cover, and that no change makes the detectors worse on them."""

import importlib.util
import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mcp_memory_server.screening import find_credential, read_instruction
from mcp_memory_server.screening.lexicon import LANGUAGES

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
DISGUISES = {
    "base64", "base64-twice", "bidi", "binary", "entities", "fullwidth", "hex", "homoglyph", "leetspeak",
    "mathematical", "percent", "reversed", "rot13", "spaced", "tag-characters", "unicode-escapes",
    "variation-selectors", "zero-width",
}  # fmt: skip


@cache
def lines(name: str) -> list[dict[str, Any]]:
    text = (BENCHMARKS / "data" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def filled() -> Callable[[str, int], str]:
    spec = importlib.util.spec_from_file_location("fake_credentials", BENCHMARKS / "fake_credentials.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.filled


def test_the_set_covers_what_it_says() -> None:
    attacks = [line for line in lines("instructions.jsonl") if line["label"] == "attack"]
    honest = [line for line in lines("instructions.jsonl") if line["label"] == "honest"]
    assert len(attacks) >= 180
    assert len(honest) >= 220
    assert {line["language"] for line in attacks} == {line["language"] for line in honest} == set(LANGUAGES)
    assert {line["technique"] for line in attacks} >= DISGUISES
    assert len({line["text"] for line in lines("instructions.jsonl")}) == len(attacks) + len(honest)


@pytest.mark.parametrize("part", ["tuning", "kept"])
def test_instructions_are_told_from_memories(part: str) -> None:
    judged = Counter(
        (line["label"], read_instruction(line["text"]) is not None)
        for line in lines("instructions.jsonl")
        if line["part"] == part
    )
    hits, missed, alarms = judged["attack", True], judged["attack", False], judged["honest", True]
    assert hits / (hits + alarms) >= 0.97
    assert hits / (hits + missed) >= 0.90


@pytest.mark.parametrize("part", ["tuning", "kept"])
def test_credentials_are_told_from_what_resembles_them(part: str) -> None:
    fill = filled()
    judged = Counter(
        (line["label"], find_credential(fill(line["text"], seed)) is not None)
        for seed, line in enumerate(lines("credentials.jsonl"))
        if line["part"] == part
    )
    hits, missed, alarms = judged["credential", True], judged["credential", False], judged["harmless", True]
    assert alarms == 0
    assert hits / (hits + missed) >= 0.97


def test_no_ordinary_memory_is_held_or_refused() -> None:
    texts = [line["text"] for line in lines("memories.jsonl")]
    assert [text for text in texts if read_instruction(text) or find_credential(text)] == []
