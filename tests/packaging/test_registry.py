"""server.json, by which registries and hosts learn how to run the server.

`data/server.schema.json` is a copy of the registry's schema of 2025-12-11, for tests need no network.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from mcp_memory_server.config import ENV_PREFIX, load_settings

ROOT: Final = Path(__file__).parents[2]
SCHEMA: Final = Path(__file__).parent / "data" / "server.schema.json"
MANIFEST: Final[dict[str, Any]] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))


def test_the_manifest_is_valid_by_the_schema_that_it_names() -> None:
    schema = json.loads(SCHEMA.read_bytes())
    assert MANIFEST["$schema"] == schema["$id"]
    jsonschema.validate(MANIFEST, schema)


def test_both_transports_are_there() -> None:
    assert [package["transport"]["type"] for package in MANIFEST["packages"]] == ["stdio", "streamable-http"]


@pytest.mark.parametrize("package", MANIFEST["packages"], ids=lambda package: package["transport"]["type"])
def test_the_server_starts_as_the_manifest_says(package: dict[str, Any]) -> None:
    """Its arguments and variables are settings of ours, and make the transport that the package declares."""
    named = {each["name"].removeprefix("--"): each["value"] for each in package.get("packageArguments", [])[1:]}
    settings = load_settings(named)
    assert settings.transport == (package["transport"]["type"],)
    variables = {each["name"]: each for each in package["environmentVariables"]}
    for variable, each in variables.items():
        field = variable.removeprefix(ENV_PREFIX).lower()
        assert field in type(settings).model_fields
        if "default" in each:
            assert each["default"] == str(type(settings).model_fields[field].default)
    # What stands in braces is filled in by the host, from a variable of that name.
    assert set(re.findall(r"\{(\w+)\}", package["transport"].get("url", ""))) <= set(variables)
