"""What becomes of an erasure in a SQLite store when the files do not let it finish."""

import sqlite3
from pathlib import Path

import pytest

from mcp_memory_server.providers.base import ForgetRequest, WriteRequest
from mcp_memory_server.providers.sqlite import forgetting, open_sqlite
from mcp_memory_server.records import MemoryOrigin

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
