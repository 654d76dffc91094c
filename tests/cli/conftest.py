"""The command line in this process, on a store of its own."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mcp_memory_server.cli import commands
from mcp_memory_server.config import Settings, unknown_variables


@dataclass(frozen=True)
class CommandLine:
    """Runs commands as Ann of Acme, unless flags say otherwise."""

    folder: Path

    def run(self, *arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(commands, arguments, input=stdin, prog_name="mcp-memory-server")

    def ok(self, *arguments: str, stdin: str | bytes | None = None) -> str:
        """What a command that works prints."""
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
        return result.stdout

    def json(self, *arguments: str, stdin: str | bytes | None = None) -> Any:
        """The one document that a command prints with `--json`."""
        return json.loads(self.ok(*arguments, "--json", stdin=stdin))

    def fails(self, *arguments: str, status: int = 1, stdin: str | bytes | None = None) -> str:
        """What a command that fails says on standard error."""
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == status, result.output
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        return result.stderr

    def held(self, *arguments: str) -> dict[str, str]:
        """Texts by scope and key."""
        records = self.json("list", *arguments)["records"]
        return {f"{record['scope']} {record['key']}": record["text"] for record in records}


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    for name in unknown_variables():
        monkeypatch.delenv(name)
    for name in (*Settings.model_fields, "config"):
        monkeypatch.delenv(f"MCP_MEMORY_{name.upper()}", raising=False)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("MCP_MEMORY_URL", f"sqlite:///{tmp_path}/memory.db")
    monkeypatch.setenv("MCP_MEMORY_ACTOR", "ann")
    monkeypatch.setenv("MCP_MEMORY_TENANT", "acme")
    monkeypatch.chdir(tmp_path)
    return CommandLine(tmp_path)
