"""The estimators that a deployment can put in place of ours."""

import json
from pathlib import Path

import pytest

from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.estimating import open_estimator


@pytest.mark.parametrize(("setting", "tokens"), [("chars:1", 9), ("chars:4", 3), ("chars:2.5", 4), ("chars:10", 1)])
def test_a_number_of_characters_makes_a_token(setting: str, tokens: int) -> None:
    assert open_estimator(setting)("nine char") == tokens
    assert open_estimator(setting)("") == 0


def test_a_tokenizer_counts_exactly_what_its_model_would(minilm_folder: Path) -> None:
    count = open_estimator(f"tokenizer:{minilm_folder / 'tokenizer.json'}")
    assert count("") == 0
    assert count("hello world") == 2
    assert count("unbelievably") > 1
    assert count("half of a pair \ud800") > 4


def test_a_tokenizer_that_would_cut_a_long_text_counts_all_of_it(minilm_folder: Path, tmp_path: Path) -> None:
    """Sentence models come with a tokenizer that cuts at their own length, and every long text would look short."""
    held = json.loads((minilm_folder / "tokenizer.json").read_text("utf-8"))
    held["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(held), "utf-8")
    assert open_estimator(f"tokenizer:{file}")("hello world " * 1_000) == 2_000


@pytest.mark.parametrize(
    "setting", ["chars:0.5", "chars:11", "chars:", "chars:nan", "chars:inf", "chars:-4", "tokens:4", "tokenizer:", "4"]
)
def test_other_forms_are_refused_with_those_that_there_are(setting: str) -> None:
    with pytest.raises(ConfigurationError, match="chars:N, characters a token from 1 to 10, or tokenizer:FILE"):
        open_estimator(setting)


@pytest.mark.parametrize("content", [None, "", "{}", "\x00\x01"])
def test_a_file_that_is_no_tokenizer_is_told(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "tokenizer.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigurationError, match="as a tokenizer"):
        open_estimator(f"tokenizer:{file}")
