"""A client that is not ours: the MCP Inspector's command line attaches over stdio and HTTP, in each protocol era."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mcp_memory_server.server.prompts import LISTED as PROMPTS
from mcp_memory_server.server.resources import LISTED, TEMPLATES

from .web import web_process

pytestmark = pytest.mark.process

INSPECTOR = shutil.which("mcp-inspector")
if INSPECTOR is None:
    if os.environ.get("CI"):
        raise RuntimeError("CI must have the Inspector on its path: npm install --prefix .ci/node")
    pytest.skip("needs mcp-inspector on the path: npm install --prefix .ci/node", allow_module_level=True)

ERAS = ("legacy", "modern", "auto")


@dataclass(frozen=True, slots=True)
class Target:
    """What the Inspector attaches to: a command that starts a server, for each run anew, or an address."""

    home: Path
    words: tuple[str, ...]

    @property
    def starts_servers(self) -> bool:
        return len(self.words) > 1

    def inspect(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One run of the Inspector."""
        assert INSPECTOR is not None
        return subprocess.run(
            [INSPECTOR, "--cli", *self.words, *arguments, "--format", "json", "-q"],
            env={**os.environ, "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def answer(self, *arguments: str) -> dict[str, Any]:
        done = self.inspect(*arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["result"]


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    """A server on a store of its own, reached in each way."""
    if request.param == "stdio":
        url = f"sqlite:///{tmp_path / 'memory.db'}"
        yield Target(tmp_path, (sys.executable, "-m", "mcp_memory_server", "--url", url, "--actor", "ann"))
        return
    with web_process(tmp_path) as web:
        yield Target(tmp_path, (f"{web.base}/mcp",))


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_pass_the_strict_portability_check(target: Target, era: str) -> None:
    done = target.inspect("--method", "tools/list", "--strict", "--protocol-era", era)
    assert done.returncode == 0, done.stderr
    names = [tool["name"] for tool in json.loads(done.stdout)["result"]["tools"]]
    assert names == ["remember", "recall_digest", "forget", "check_tool_schema"]


@pytest.mark.parametrize("era", ERAS[:2])
def test_everything_can_be_listed_and_called(target: Target, era: str) -> None:
    def call(method: str, *arguments: str) -> dict[str, Any]:
        return target.answer("--method", method, *arguments, "--protocol-era", era)

    def tool(name: str, **arguments: str) -> dict[str, Any]:
        pairs = [f"{key}={value}" for key, value in arguments.items()]
        return call("tools/call", "--tool-name", name, "--tool-arg", *pairs)["structuredContent"]

    stored = tool("remember", key="tea", fact="Ann drinks green tea.")
    assert stored["status"] == "stored"
    listed = [resource.uri for resource in LISTED]
    assert {"memory://block", "memory://digest", "memory://stats"} <= set(listed)
    uris = [*listed, "memory://block?query=tea", f"memory://records/{stored['record']['id']}"]
    names = [prompt.name for prompt in PROMPTS]
    # Where each read starts a server, one era reads everything and the other one of each: the SDK's client reads all.
    some = slice(1) if target.starts_servers and era == "legacy" else slice(None)
    # Each call is a process of Node, and over stdio one of the server: what only reads runs beside each other.
    with ThreadPoolExecutor(os.cpu_count()) as beside:
        recalled = beside.submit(tool, "recall_digest", query="Which tea?")
        resources, templates, prompts = (
            beside.submit(call, method) for method in ("resources/list", "resources/templates/list", "prompts/list")
        )
        everything = beside.submit(call, "resources/read", "--uri", "memory://scopes/actor%3Aann")
        read = beside.map(partial(call, "resources/read", "--uri"), uris[some])
        got = beside.map(partial(call, "prompts/get", "--prompt-name"), names[some])
        assert [entry["key"] for entry in recalled.result()["entries"]] == ["tea"]
        assert [resource["uri"] for resource in resources.result()["resources"]] == listed
        assert len(templates.result()["resourceTemplates"]) == len(TEMPLATES)
        assert [prompt["name"] for prompt in prompts.result()["prompts"]] == names
        assert "green tea" in everything.result()["contents"][0]["text"]
        assert all(answer["contents"][0]["text"] for answer in read)
        assert all(answer["messages"] for answer in got)
    assert tool("forget", key="tea")["forgotten"] is True


def test_a_failed_call_is_told_from_a_good_one(target: Target) -> None:
    done = target.inspect("--method", "tools/call", "--tool-name", "forget", "--tool-arg", "key=nothing")
    assert done.returncode == 5
