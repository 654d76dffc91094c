"""The demo: a real client and the real server, over stdio, on a scratch store that is gone afterwards."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import mcp_types as types
from mcp import Client, StdioServerParameters

from mcp_memory_server.config import Settings
from mcp_memory_server.opening import open_service

_QUESTION: Final = "When does our fiscal year start?"
_SECRET: Final = "Ada is allergic to penicillin."


@dataclass(frozen=True, slots=True)
class Scene:
    """One step as it is shown: what happens, the call that makes it happen, and what came of it."""

    title: str
    call: str
    outcome: str
    form: Literal["text", "block", "json"] = "text"


async def scenes() -> AsyncGenerator[Scene]:
    """Play the demo; each scene comes when it has happened.

    Raises:
        RuntimeError: the server did not do what it should.
    """
    with tempfile.TemporaryDirectory(prefix="mcp-memory-demo-", ignore_cleanup_errors=True) as folder:
        # Nothing of the user's own settings: the demo is the same everywhere.
        settings = Settings(url=f"sqlite:///{Path(folder, 'memory.db')}", actor="ada", tenant="acme", project="apollo")
        yield await _publish(settings)
        async with Client(_server(settings, Path(folder))) as client:
            async for scene in _attached(client, Path(folder)):
                yield scene
    yield Scene("Use it: paste this into your client's configuration", "mcpServers", _snippet(), "json")


def _server(settings: Settings, folder: Path) -> StdioServerParameters:
    """This installation's server, with the demo's settings."""
    no_settings = folder / "config.toml"
    no_settings.touch()
    flags = {
        "--url": settings.url,
        "--actor": settings.actor,
        "--tenant": settings.tenant or "",
        "--project": settings.project or "",
        "--log-level": "WARNING",
        "--config": str(no_settings),
    }
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "mcp_memory_server", *(part for flag in flags.items() for part in flag)],
    )


async def _publish(settings: Settings) -> Scene:
    scope, key, fact = "tenant:acme", "fiscal-year", "The fiscal year starts in April."
    async with open_service(settings) as service:
        await service.state(settings.context(), key, fact, scope=scope, elevated=True)
        await service.state(settings.context(), "expenses", "Trips over 500 need approval.", scope=scope, elevated=True)
    return Scene(
        "A person publishes two facts for everyone at Acme",
        f'mcp-memory-server publish --elevated --scope {scope} {key} "{fact}"',
        f"Stored at {scope}. No assistant may write there.",
    )


async def _attached(client: Client, folder: Path) -> AsyncGenerator[Scene]:
    tools = (await client.list_tools()).tools
    names = ", ".join(tool.name for tool in tools)
    yield Scene("A client attaches over stdio", "tools/list", f"The server offers {names}.")
    async for scene in _remember(client):
        yield scene
    block = _text(await _call(client, "recall_digest", {"query": _QUESTION, "max_memories": 2}))
    _require("[actor:ada] fiscal-year" in block, "recall by relevance")
    lines = "\n".join(line for line in block.splitlines() if line.lstrip().startswith(("- [", "↳ [")))
    yield Scene(
        "A question recalls the facts that answer it, not all five",
        f'recall_digest(query="{_QUESTION}", max_memories=2)',
        lines,
    )
    block = await _read(client, "memory://block")
    _require("↳ [tenant:acme] person" in block, "the overridden value")
    yield Scene(
        "The block that a host puts into the prompt: Ada's answer wins, the published one stays in sight",
        "resources/read memory://block",
        block,
        "block",
    )
    yield await _correct(client)
    async for scene in _forget(client, folder):
        yield scene


async def _remember(client: Client) -> AsyncGenerator[Scene]:
    facts: dict[str, dict[str, Any]] = {
        "The assistant notes what Ada said, and learns that Acme says otherwise": {
            "key": "fiscal-year",
            "fact": "Ada plans by calendar year.",
        },
        "It notes something that Ada will want forgotten": {"key": "allergies", "fact": _SECRET},
        "It notes something that holds in this project only": {
            "key": "release-day",
            "fact": "Apollo ships on Tuesdays.",
            "where": "project",
        },
    }
    for title, arguments in facts.items():
        result = await _call(client, "remember", arguments)
        shown = ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items())
        yield Scene(title, f"remember({shown})", _text(result))


async def _correct(client: Client) -> Scene:
    arguments = {"key": "fiscal-year", "fact": "Ada plans from July to June."}
    result = _structured(await _call(client, "remember", arguments))
    _require(result["status"] == "replaced", "a correction")
    uri = f"memory://records/{result['record']['id']}"
    _require(result["previous"]["text"] in await _read(client, uri), "the history")
    return Scene(
        "A correction replaces the fact and keeps the old one as history",
        f"remember(key={json.dumps(arguments['key'])}, fact={json.dumps(arguments['fact'])})",
        f"version {result['record']['version']}: {result['record']['text']}\n"
        f"version {result['previous']['version']}: {result['previous']['text']}\n"
        f"Both are at {uri}.",
    )


async def _forget(client: Client, folder: Path) -> AsyncGenerator[Scene]:
    before = _holders(folder)
    _require(bool(before), "what is remembered is in the files")
    result = await _call(client, "forget", {"key": "allergies"})
    yield Scene("Forget", 'forget(key="allergies")', _text(result))
    block = await _read(client, "memory://block")
    after = _holders(folder)
    _require("penicillin" not in block and not after, "a forgotten fact is gone")
    yield Scene(
        "It is gone, also from the bytes on the disk",
        f'grep "{_SECRET}" {folder}/*',
        f"Before: in {', '.join(before)}. Now: in no file, and in no block.",
    )


def _holders(folder: Path) -> list[str]:
    """The files that hold the bytes of the fact that is to be forgotten."""
    return sorted(path.name for path in folder.iterdir() if path.is_file() and _SECRET.encode() in path.read_bytes())


async def _call(client: Client, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    result = await client.call_tool(name, arguments)
    _require(not result.is_error, f"{name} ({_text(result)})")
    return result


def _text(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


def _structured(result: types.CallToolResult) -> dict[str, Any]:
    return result.structured_content or {}


async def _read(client: Client, uri: str) -> str:
    contents = (await client.read_resource(uri)).contents
    return "\n".join(part.text for part in contents if isinstance(part, types.TextResourceContents))


def _require(held: bool, what: str) -> None:
    if not held:
        raise RuntimeError(f"The demo failed at: {what}. Run `mcp-memory-server doctor`.")


def _snippet() -> str:
    """A client's configuration that starts this very installation, from whatever folder the client runs in."""
    server = {"command": sys.executable, "args": ["-m", "mcp_memory_server"]}
    return json.dumps({"mcpServers": {"memory": server}}, indent=2)
