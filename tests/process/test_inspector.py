"""A client that is not ours: the MCP Inspector's command line attaches over stdio, in each protocol era."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mcp_memory_server.server.prompts import LISTED as PROMPTS
from mcp_memory_server.server.resources import LISTED, TEMPLATES

pytestmark = pytest.mark.process

INSPECTOR = shutil.which("mcp-inspector")
if INSPECTOR is None:
    if os.environ.get("CI"):
        raise RuntimeError("CI must have the Inspector on its path: npm install --prefix .ci/node")
    pytest.skip("needs mcp-inspector on the path: npm install --prefix .ci/node", allow_module_level=True)

ERAS = ("legacy", "modern", "auto")


def inspect(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One run of the Inspector against a server of its own on the store in `folder`."""
    assert INSPECTOR is not None
    server = [sys.executable, "-m", "mcp_memory_server", "--url", f"sqlite:///{folder / 'memory.db'}", "--actor", "ann"]
    command = [INSPECTOR, "--cli", *server, *arguments, "--format", "json", "-q"]
    return subprocess.run(
        command,
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def answer(folder: Path, *arguments: str) -> dict[str, Any]:
    done = inspect(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["result"]


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_pass_the_strict_portability_check(tmp_path: Path, era: str) -> None:
    done = inspect(tmp_path, "--method", "tools/list", "--strict", "--protocol-era", era)
    assert done.returncode == 0, done.stderr
    names = [tool["name"] for tool in json.loads(done.stdout)["result"]["tools"]]
    assert names == ["remember", "recall_digest", "forget", "check_tool_schema"]


@pytest.mark.parametrize("era", ERAS[:2])
def test_everything_can_be_listed_and_called(tmp_path: Path, era: str) -> None:
    def call(method: str, *arguments: str) -> dict[str, Any]:
        return answer(tmp_path, "--method", method, *arguments, "--protocol-era", era)

    def tool(name: str, **arguments: str) -> dict[str, Any]:
        pairs = [f"{key}={value}" for key, value in arguments.items()]
        return call("tools/call", "--tool-name", name, "--tool-arg", *pairs)["structuredContent"]

    stored = tool("remember", key="tea", fact="Ann drinks green tea.")
    assert stored["status"] == "stored"
    listed = [resource.uri for resource in LISTED]
    assert {"memory://block", "memory://digest", "memory://stats"} <= set(listed)
    uris = [*listed, "memory://block?query=tea", f"memory://records/{stored['record']['id']}"]
    names = [prompt.name for prompt in PROMPTS]
    # Each call is a process of Node and one of the server: what only reads runs beside each other.
    with ThreadPoolExecutor(os.cpu_count()) as beside:
        recalled = beside.submit(tool, "recall_digest", query="Which tea?")
        resources, templates, prompts = (
            beside.submit(call, method) for method in ("resources/list", "resources/templates/list", "prompts/list")
        )
        everything = beside.submit(call, "resources/read", "--uri", "memory://scopes/actor%3Aann")
        read = beside.map(partial(call, "resources/read", "--uri"), uris)
        got = beside.map(partial(call, "prompts/get", "--prompt-name"), names)
        assert [entry["key"] for entry in recalled.result()["entries"]] == ["tea"]
        assert [resource["uri"] for resource in resources.result()["resources"]] == listed
        assert len(templates.result()["resourceTemplates"]) == len(TEMPLATES)
        assert [prompt["name"] for prompt in prompts.result()["prompts"]] == names
        assert "green tea" in everything.result()["contents"][0]["text"]
        assert all(answer["contents"][0]["text"] for answer in read)
        assert all(answer["messages"] for answer in got)
    assert tool("forget", key="tea")["forgotten"] is True


def test_a_failed_call_is_told_from_a_good_one(tmp_path: Path) -> None:
    done = inspect(tmp_path, "--method", "tools/call", "--tool-name", "forget", "--tool-arg", "key=nothing")
    assert done.returncode == 5
