"""The bundle that desktop hosts install: its manifest is the format's, says what the server is, and packs all of it."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pytest

import mcp_memory_server
from mcp_memory_server import MemoryService, open_provider
from mcp_memory_server.config import ENV_PREFIX, Settings
from mcp_memory_server.server.tools import served_tools

pytestmark = pytest.mark.process

PACKER = shutil.which("mcpb")
if PACKER is None:
    if os.environ.get("CI"):
        raise RuntimeError("CI must have mcpb on its path: npm install --prefix .ci/node")
    pytest.skip("needs mcpb on the path: npm install --prefix .ci/node", allow_module_level=True)

ROOT: Final = Path(__file__).parents[2]
FILE: Final = ROOT / "mcpb" / "manifest.json"
MANIFEST: Final[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_manifest_is_valid() -> None:
    assert PACKER is not None
    run(PACKER, "validate", FILE)
    assert MANIFEST["manifest_version"] == "0.4"


async def test_it_says_what_the_server_is() -> None:
    assert MANIFEST["name"] == PROJECT["name"]
    assert MANIFEST["version"] == PROJECT["version"] == version("mcp-memory-server")
    assert MANIFEST["license"] == PROJECT["license"]
    assert MANIFEST["compatibility"]["runtimes"]["python"] == PROJECT["requires-python"]
    async with open_provider("memory://") as provider:
        served = served_tools(MemoryService(provider), project=None)
    assert [tool["name"] for tool in MANIFEST["tools"]] == list(served)


def test_its_configuration_is_ours() -> None:
    config = MANIFEST["server"]["mcp_config"]
    assert config["args"][-1] in PROJECT["scripts"]
    assert set(config["env"]) <= {f"{ENV_PREFIX}{name.upper()}" for name in Settings.model_fields}
    assert set(config["env"].values()) == {f"${{user_config.{name}}}" for name in MANIFEST["user_config"]}
    # An empty variable counts as not set, so that nothing needs to be filled in.
    assert {field["default"] for field in MANIFEST["user_config"].values()} == {""}


def test_the_packed_bundle_holds_a_whole_server(tmp_path: Path) -> None:
    assert PACKER is not None
    bundle, content = tmp_path / "memory.mcpb", tmp_path / "unpacked"
    run(sys.executable, ROOT / "mcpb" / "pack.py", bundle)
    run(PACKER, "unpack", bundle, content)
    assert (content / MANIFEST["server"]["entry_point"]).is_file()
    assert {"manifest.json", "pyproject.toml", "README.md", "LICENSE"} <= {path.name for path in content.iterdir()}
    package = Path(mcp_memory_server.__file__).parent

    def files(folder: Path) -> set[str]:
        found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(folder).as_posix() for path in found}

    assert files(content / package.name) == files(package)
    # With the bundle's own code, and the dependencies of this environment in place of those that uv would install.
    status = "import mcp_memory_server as m; print(m.__file__)"
    assert Path(run(sys.executable, "-c", status, cwd=content).strip()).is_relative_to(content)
    shown = run(sys.executable, "-m", "mcp_memory_server", "doctor", "--url", "memory://", cwd=content)
    assert shown
