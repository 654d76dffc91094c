"""The SDK's own client over stdio, in both eras: everything is listed, and everything listed works."""

import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client

from .session import HANG_S, SERVER, environment

pytestmark = pytest.mark.process


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_real_client_lists_and_calls_everything(era: Any, tmp_path: Path) -> None:
    command, *arguments = map(str, SERVER)
    home = environment(tmp_path, url=f"sqlite:///{tmp_path / 'memory.db'}", actor="ann")
    server = StdioServerParameters(command=command, args=[*arguments], env=home, cwd=os.fspath(tmp_path))
    with anyio.fail_after(HANG_S):
        async with Client(server, mode=era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["remember", "recall_digest", "forget", "check_tool_schema"]
            for tool, given in (
                ("remember", {"key": "editor", "fact": "Helix"}),
                ("recall_digest", {"query": "Helix"}),
                ("forget", {"key": "editor"}),
                ("check_tool_schema", {"schema": {"pattern": "^a+$"}}),
            ):
                assert not (await client.call_tool(tool, given)).is_error
            for resource in (await client.list_resources()).resources:
                assert (await client.read_resource(resource.uri)).contents
            for prompt in (await client.list_prompts()).prompts:
                assert (await client.get_prompt(prompt.name)).messages
            assert (await client.list_resource_templates()).resource_templates
