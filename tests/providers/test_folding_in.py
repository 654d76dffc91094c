"""While the log is folded into the file, and where a process was killed at that, the store is whole all the same."""

import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

from mcp_memory_server.providers.base import CarryRequest, ForgetRequest, WriteRequest
from mcp_memory_server.providers.sqlite import SqliteProvider, open_sqlite
from mcp_memory_server.providers.sqlite.files import is_truncated
from mcp_memory_server.records import MemoryOrigin

AT = "2026-03-01T09:00:00.000Z"
PAGE = 4096
FRAME = 24 + PAGE


async def write(provider: SqliteProvider, count: int, name: str) -> str:
    origin = MemoryOrigin(author="agent")
    requests = [WriteRequest("a", f"{name} {number}", f"The fact of {name}", origin, AT) for number in range(count)]
    return (await provider.write_many(requests))[-1].record.id


def newest_frame(log: bytes, page: int) -> bytes:
    """The page as it stands in the log last."""
    starts = [start for start in range(32, len(log), FRAME) if struct.unpack_from(">I", log, start) == (page,)]
    return log[starts[-1] + 24 : starts[-1] + FRAME]


async def left_at_the_first_page(folder: Path) -> Path:
    """A store as a process leaves it that is killed when it has folded in one page: the header, which counts all."""
    path, copy = folder / "memory.db", folder / "copy.db"
    async with open_sqlite(f"sqlite:///{path}") as provider:
        forgotten = await write(provider, 1, "forgotten")
        await provider.forget(ForgetRequest("a", forgotten, "ann", AT))
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    async with open_sqlite(f"sqlite:///{path}") as provider:
        await write(provider, 300, "first")
        for file in (path, path.with_name("memory.db-wal")):
            shutil.copy(file, copy.with_name(file.name.replace("memory", "copy")))
    content, log = copy.read_bytes(), copy.with_name("copy.db-wal").read_bytes()
    copy.write_bytes(newest_frame(log, 1) + content[PAGE:])
    assert struct.unpack_from(">I", copy.read_bytes(), 28)[0] * PAGE > copy.stat().st_size
    return copy


async def test_a_store_whose_log_was_being_folded_in_is_whole(tmp_path: Path) -> None:
    path = await left_at_the_first_page(tmp_path)
    async with open_sqlite(f"sqlite:///{path}") as provider:
        condition = await provider.examine()
        assert (condition.details["records"], condition.details["damaged_copies"], condition.faults) == (300, 0, ())
        # What a mended store would have lost:
        assert len((await provider.carried(CarryRequest("audit", 9))).rows) == 1


async def test_a_file_is_truncated_when_the_log_lacks_pages_too(tmp_path: Path) -> None:
    path = await left_at_the_first_page(tmp_path)
    assert not is_truncated(path)
    log = path.with_name("copy.db-wal")
    log.write_bytes(log.read_bytes()[: -20 * FRAME])
    assert is_truncated(path)
    log.unlink()
    assert is_truncated(path)
