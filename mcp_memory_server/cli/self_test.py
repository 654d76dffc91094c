"""Does this machine do what the server needs? Tried on a scratch store, never on the user's."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcp_memory_server.config import Settings
from mcp_memory_server.identity import Actor, RequestContext
from mcp_memory_server.opening import open_service
from mcp_memory_server.service import MemoryService

_ASKING: Final = RequestContext(Actor("self-test"))
_OLD_FACT: Final = "The self-test wrote this line first."
_FACT: Final = "The self-test corrected this line."


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was tried; `fault` says how it failed."""

    name: str
    fault: str | None = None


async def self_test(settings: Settings) -> list[Step]:
    """Write, read back, search, correct and forget, with the last step that was reached at the end."""
    done: list[Step] = []
    reached = "open"
    try:
        with tempfile.TemporaryDirectory(prefix="mcp-memory-server-", ignore_cleanup_errors=True) as folder:
            scratch = settings.model_copy(update={"url": f"sqlite:///{Path(folder, 'self-test.db')}"})
            async with open_service(scratch) as service, aclosing(_steps(service, Path(folder))) as steps:
                async for reached in steps:
                    done.append(Step(reached))
    except Exception as error:  # whatever is wrong here is what a doctor is asked for
        done.append(Step(f"after {reached}", f"{type(error).__name__}: {error}"))
    return done


async def _steps(service: MemoryService, folder: Path) -> AsyncGenerator[str]:
    """Names each step once it has held."""
    yield "open"
    record = (await service.state(_ASKING, "self-test", _OLD_FACT)).record
    yield "write"
    offered = await service.offer(_ASKING)
    _require([entry.id for entry in offered.digest.entries] == [record.id], "what was written is not read back")
    yield "read back"
    found = await service.offer(_ASKING, "which line did the test write?")
    _require([entry.id for entry in found.digest.entries] == [record.id], "what was written is not found")
    yield "search"
    await service.state(_ASKING, "self-test", _FACT)
    versions = await service.record_versions(_ASKING, record.id)
    _require([version.text for version in versions] == [_OLD_FACT, _FACT], "the history is not what was written")
    yield "correct"
    gone = await service.forget(_ASKING, id=record.id)
    _require(gone.erasure == "done", "the erasure waits")
    _require(not (left := holders(folder, _OLD_FACT, _FACT)), f"bytes are left in {', '.join(left)}")
    yield "forget"


def holders(folder: Path, *texts: str) -> list[str]:
    """The files in the folder that hold the bytes of any of the texts."""
    contents = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    return [name for name, held in contents.items() if any(text.encode() in held for text in texts)]


def _require(held: bool, fault: str) -> None:
    if not held:
        raise RuntimeError(fault)
