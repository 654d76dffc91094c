"""What becomes of an erasure in a SQLite store when the files do not let it finish."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_memory_server.providers.base import ForgetRequest, WriteRequest
from mcp_memory_server.providers.sqlite import forgetting, open_sqlite
from mcp_memory_server.records import MemoryOrigin, Rule, WorkingBlock

AGENT = MemoryOrigin(author="agent")
NOW = "2026-03-01T09:00:00.000Z"


@pytest.mark.parametrize(
    "fault", [sqlite3.OperationalError("disk I/O error"), PermissionError(13, "Permission denied")]
)
async def test_it_is_told_as_pending_and_completed_later_with_the_damaged_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """The record is gone whatever the files say: an error would have the caller try again, and find nothing."""

    def fail(*_: object) -> bool:
        raise fault

    async with open_sqlite(f"sqlite:///{tmp_path}/memory.db") as provider:
        written = await provider.write(WriteRequest("actor:ann", "k", "text", MemoryOrigin(author="agent"), NOW))
        copy = tmp_path / "memory.db.corrupt-20260101T000000000000"
        copy.write_bytes(b"text")
        with monkeypatch.context() as patched:
            patched.setattr(forgetting, "scrub", fail)
            gone = await provider.forget(ForgetRequest("actor:ann", written.record.id, by="ann", at=NOW))
        assert gone is not None
        assert gone.erasure == "pending"
        assert (await provider.stats(["actor:ann"])).pending_erasures == 1
        assert await provider.complete_erasures() == []
        assert not copy.exists()


BLOCK = WorkingBlock(value='the "zebrafish" line\nand a second one', char_limit=99)
RULE = Rule(condition="a zebrafish swims", steps=("feed the zebrafish",), success_criteria="the zebrafish is fed")


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("text with the zebrafish", {}),
        ("key of the zebrafish", {}),
        ("label with a zebrafish", {"tags": ("label with a zebrafish",)}),
        (r"the \"zebrafish\" line\nand a second", {"kind": "working", "working": BLOCK}),
        ("a zebrafish swims", {"kind": "procedural", "rule": RULE}),
        ("feed the zebrafish", {"kind": "procedural", "rule": RULE}),
        ("the zebrafish is fed", {"kind": "procedural", "rule": RULE}),
    ],
)
@pytest.mark.parametrize("replaced", [True, False])
async def test_what_balancing_left_of_any_part_in_a_gap_leaves_with_the_record(
    tmp_path: Path, said: str, parts: dict[str, Any], replaced: bool
) -> None:
    """SQLite may leave old copies of cells in a page's gap, which deleting does not reach."""
    store = tmp_path / "memory.db"
    fact = WriteRequest("actor:ann", "key of the zebrafish", "text with the zebrafish", AGENT, NOW, **parts)
    async with open_sqlite(f"sqlite:///{store}") as provider:
        record = (await provider.write(fact)).record
        if replaced:
            empty = {"working": WorkingBlock(value="", char_limit=9)} if "working" in parts else {}
            empty |= {"rule": Rule(condition="c", steps=("s",))} if "rule" in parts else {}
            await provider.write(replace(fact, text="another", tags=(), **empty))
    _leave_in_a_gap(store, said.encode())
    async with open_sqlite(f"sqlite:///{store}") as provider:
        gone = await provider.forget(ForgetRequest("actor:ann", record.id, by="ann", at=NOW))
        assert gone is not None
        assert gone.erasure == "done"
        assert b"zebrafish" not in store.read_bytes()


def _leave_in_a_gap(store: Path, said: bytes) -> None:
    """Write bytes where a leaf page of the file has room."""
    data = bytearray(store.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    page = next(at for at in range(size, len(data), size) if data[at] == 13 and not any(data[at + 500 : at + 900]))
    data[page + 600 : page + 600 + len(said)] = said
    store.write_bytes(data)
