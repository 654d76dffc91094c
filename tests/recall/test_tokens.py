"""The token estimator errs high: against counts of eight tokenizers, and never by failing."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given

from mcp_memory_server.recall import estimate_tokens

from .notes import anything

_DATA: Final = Path(__file__).with_name("data") / "token_counts.jsonl"
COUNTED: Final[list[dict[str, Any]]] = [json.loads(line) for line in _DATA.read_text(encoding="utf-8").splitlines()]
# What is known to come out too low, and by how much at most.
LOW: Final = {"RandomLower": 0.66, "Welsh": 0.85, "Lao": 0.95, "Armenian": 0.99}


@pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted["sample"])
def test_no_tokenizer_makes_more_tokens_than_estimated(counted: dict[str, Any]) -> None:
    least = LOW.get(counted["sample"], 1.0)
    assert estimate_tokens(counted["text"]) >= least * max(counted["tokens"].values())


def test_the_counts_are_of_many_scripts_and_tokenizers() -> None:
    assert len({counted["sample"] for counted in COUNTED}) > 60
    assert {len(counted["tokens"]) for counted in COUNTED} == {8}


def test_prose_is_not_estimated_beyond_use() -> None:
    """Twice as many tokens as there are is the price of not knowing the model; four times would waste the budget."""
    prose = [counted for counted in COUNTED if counted["sample"] in {"English", "German", "French", "Code", "URL"}]
    for counted in prose:
        assert estimate_tokens(counted["text"]) <= 2.2 * max(counted["tokens"].values())


@given(anything)
def test_any_string_has_an_estimate_that_grows_with_it(text: str) -> None:
    assert 1 <= estimate_tokens(text) <= 2 * len(text.encode("utf-8", "surrogatepass")) + 1
    assert estimate_tokens(text + "\n" + text) > estimate_tokens(text)
