"""Where the shared keys come from, and which ones cannot work."""

from pathlib import Path

import pytest

from mcp_memory_server.config import Settings
from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.server.state_keys import read_state_keys

ONE, TWO = "1" * 32, "2" * 43


def settings(**given: str) -> Settings:
    return Settings.of({"actor": "ann", **given}, {name: f"--{name}" for name in given})


def refusal(**given: str) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read_state_keys(settings(**given))
    return str(refused.value)


def test_without_a_setting_there_are_none() -> None:
    assert read_state_keys(settings()) == read_state_keys(settings(state_keys=" ")) == ()


def test_they_are_read_in_order_from_the_setting_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# the newest first\n{TWO}\n\n  {ONE} \n", "utf-8")
    assert read_state_keys(settings(state_keys=f" {ONE}, {TWO},")) == (ONE, TWO)
    assert read_state_keys(settings(state_keys_file=str(file))) == (TWO, ONE)


def test_what_cannot_work_is_told_without_a_key(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    assert "cannot be read: No such file" in refusal(state_keys_file=str(file))
    file.write_bytes(b"\xff" * 40)
    assert "it is no file of text" in refusal(state_keys_file=str(file))
    file.write_text(f"{ONE}\nshort\n", "utf-8")
    short = refusal(state_keys_file=str(file))
    assert short.startswith("The setting state_keys_file (--state_keys_file) has key 2 with 5 bytes; a key has 32")
    assert "token_urlsafe(32)" in short
    assert "short" not in short
    twice = refusal(state_keys=f"{ONE},{TWO},{ONE}")
    assert "has key 3 twice" in twice
    assert ONE not in twice
    assert "holds no key" in refusal(state_keys=",")
    assert "are both given" in refusal(state_keys=ONE, state_keys_file=str(file))
