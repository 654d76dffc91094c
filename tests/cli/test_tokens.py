"""`token add`, `token list` and `token revoke`."""

import json

import pytest

from mcp_memory_server.server.auth.token_file import TokenFile

from .conftest import CommandLine

NOW = "2026-01-01T00:00:00.000Z"


@pytest.fixture
def tokens(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> TokenFile:
    monkeypatch.setenv("MCP_MEMORY_TOKEN_FILE", str(line.folder / "tokens.json"))
    return TokenFile(line.folder / "tokens.json")


def test_a_token_is_printed_once_and_alone(line: CommandLine, tokens: TokenFile) -> None:
    added = line.run("token", "add", "desk", "--actor", "ann", "--tenant", "acme", "--roles", "memory:reader")
    assert added.exit_code == 0
    entry = tokens.find(added.stdout.removesuffix("\n"), NOW)
    assert entry is not None
    assert (entry.actor.id, entry.actor.tenant_id, entry.actor.roles) == ("ann", "acme", {"memory:reader"})
    assert "not shown again" in added.stderr
    token = added.stdout.strip()
    assert token not in line.ok("token", "list") + line.ok("token", "list", "--json")


def test_whose_token_it_is_does_not_hang_on_the_operator_s_own_settings(line: CommandLine, tokens: TokenFile) -> None:
    added = json.loads(line.ok("token", "add", "bob", "--json"))
    assert added.pop("token").startswith("mms_")
    added.pop("created_at")
    assert added == {"name": "bob", "actor": "bob"}


def test_tokens_are_listed_and_revoked(line: CommandLine, tokens: TokenFile) -> None:
    assert line.ok("token", "list") == "There are no tokens.\n"
    line.run("token", "add", "ann", "--expires", "2999-01-01T00:00:00Z")
    line.run("token", "add", "bob", "--expires", "90d")
    shown = line.ok("token", "list")
    assert "2999-01-01 00:00Z" in shown
    assert [token["name"] for token in line.json("token", "list")["tokens"]] == ["ann", "bob"]
    assert line.ok("token", "revoke", "ann") == "Revoked 'ann': it lets nobody in any more.\n"
    assert [token["name"] for token in line.json("token", "list")["tokens"]] == ["bob"]
    assert "No token 'ann'" in line.fails("token", "revoke", "ann")


@pytest.mark.parametrize(
    ("arguments", "said", "status"),
    [
        (["add"], "Give the NAME", 2),
        (["list", "ann"], "takes no NAME", 2),
        (["add", "ann", "--roles", "memory:king"], "unknown ones: 'memory:king'", 1),
        (["add", "ann", "--expires", "tomorrow"], "90d", 1),
        (["add", "ann", "--expires", "2020-01-01T00:00:00Z"], "in the past", 1),
    ],
)
def test_what_cannot_be_done_is_told(
    line: CommandLine, tokens: TokenFile, arguments: list[str], said: str, status: int
) -> None:
    assert said in line.fails("token", *arguments, status=status)
    assert tokens.entries() == ()


def test_without_a_file_nothing_is_made(line: CommandLine) -> None:
    assert "--token-file" in line.fails("token", "add", "ann", status=2)
