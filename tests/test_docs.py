"""README, docs and manifests say what the code does: every documented thing exists, and every thing is documented."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import mcp_memory_server
from mcp_memory_server import MemoryService, errors, open_provider
from mcp_memory_server.cli import FAMILIES
from mcp_memory_server.config import ENV_PREFIX, Settings, is_secret
from mcp_memory_server.network import NetworkSettings
from mcp_memory_server.providers.base import Group
from mcp_memory_server.server import prompts, resources
from mcp_memory_server.server.tools import served_tools

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DEPLOY = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
PROVIDERS = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text under a heading of the README, up to the next one of its level."""
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table_of_network_settings() -> str:
    """They are many, and of use to who runs a server for others only."""
    return DEPLOY.split("\n## Settings\n")[1]


def first_column(table: str) -> list[str]:
    """The names in code spans in the first cell of each row."""
    return [name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)]


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len(README.splitlines()) < 150


async def test_every_tool_is_documented_with_its_arguments() -> None:
    async with open_provider("memory://") as provider:
        served = served_tools(MemoryService(provider), project=None)
    documented = re.findall(r"^\| `(\w+)\((.+?)\)`", README, re.MULTILINE)
    assert {name: set(re.findall(r"\w+(?=\?|,| or|$)", listed)) for name, listed in documented} == {
        name: set(tool.definition.input_schema["properties"]) for name, tool in served.items()
    }
    for name, listed in documented:
        required = {
            argument for argument in listed.split(", ") if not argument.endswith("?") and " or " not in argument
        }
        assert required == set(served[name].definition.input_schema["required"])


def test_every_resource_and_prompt_is_documented() -> None:
    known = {resource.uri for resource in resources.LISTED} | {each.uri_template for each in resources.TEMPLATES}
    assert set(re.findall(r"`(memory://[^`]*)`", section("What a client gets"))) == known
    assert {prompt.name for prompt in prompts.LISTED} == set(re.findall(r"`(\w+_memory)`", README))


def test_every_setting_is_documented_with_its_flag_and_its_variable() -> None:
    network = list(NetworkSettings.model_fields)
    flags = [f"--{name.replace('_', '-')}" for name in network if not is_secret(name)]
    assert first_column(table_of_network_settings()) == flags
    assert re.findall(rf"\| `({ENV_PREFIX}\w+)` \|", DEPLOY) == [f"{ENV_PREFIX}{name.upper()}" for name in network]
    names = [*(name for name in Settings.model_fields if name not in network), "config"]
    flagged = [name for name in names if name == "config" or not is_secret(name)]
    assert first_column(section("Settings")) == [f"--{name.replace('_', '-')}" for name in flagged]
    assert re.findall(rf"`({ENV_PREFIX}\w+)`", section("Settings")) == [f"{ENV_PREFIX}{name.upper()}" for name in names]


def test_every_command_is_documented() -> None:
    documented = {name.split()[0] for name in first_column(section("Command line"))}
    assert documented == {name for family in FAMILIES.values() for name in family}


def test_every_error_code_is_documented() -> None:
    def codes(kind: type[errors.MemoryServerError]) -> set[str]:
        below = {code for child in kind.__subclasses__() for code in codes(child)}
        return below or {kind.code}

    assert set(first_column(section("Errors"))) == {*codes(errors.MemoryServerError), "internal"}


def test_every_group_of_calls_is_documented() -> None:
    groups = PROVIDERS.split("\n## ")[1]
    assert first_column(groups) == list(Group)


def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.+?)```", section("Library"), re.DOTALL)
    assert code is not None
    done = subprocess.run(
        [sys.executable, "-c", code[1]], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert "- [actor:ann] time-zone: Ann works from Lyon." in done.stdout, done.stderr


def test_the_example_of_selective_recall_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "recall.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.+?)```", page, re.DOTALL)
    assert code is not None
    done = subprocess.run(
        [sys.executable, "-c", code[1]], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert "- [actor:ann] release list: Tag, changelog, wheel." in done.stdout, done.stderr
    assert done.stdout.endswith("</memory>\nnothing new\n")


def test_all_versions_are_one() -> None:
    manifest = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {project["version"], manifest["version"], *(package["version"] for package in manifest["packages"])}
    assert found == {version("mcp-memory-server")} == {mcp_memory_server.__version__}
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_manifest_names_the_server_as_the_readme_proves_it() -> None:
    manifest = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    assert f"<!-- mcp-name: {manifest['name']} -->" in README
    assert len(manifest["description"]) <= 100
    documented = {variable["name"] for package in manifest["packages"] for variable in package["environmentVariables"]}
    assert documented <= {f"{ENV_PREFIX}{name.upper()}" for name in Settings.model_fields}


def test_links_of_the_documentation_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]:
        prose = re.sub(r"```.+?```|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
