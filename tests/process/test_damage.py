"""A damaged file: the server starts, says so, keeps a copy, and what can be read is read."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from .conftest import Launch
from .session import acknowledged, numbered

pytestmark = pytest.mark.process

PAGE = 4096
FACTS = {key: fact + " in many words" * 14 for key, fact in numbered("before", 300)}


def _with_garbage(content: bytes) -> bytes:
    return content + b'{"half": "writ'


def _cut(content: bytes) -> bytes:
    return content[: int(len(content) * 0.6)]


def _zeroed_inside(content: bytes) -> bytes:
    """A whole page in the middle: of half a page, also what is left would be out of reach."""
    begin = len(content) // PAGE // 2 * PAGE
    return content[:begin] + bytes(PAGE) + content[begin + PAGE :]


@pytest.mark.parametrize("damage", [_with_garbage, _cut, _zeroed_inside])
def test_a_damaged_store_is_served_with_what_can_be_read(
    launch: Launch, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    """A3: garbage appended, 40 % cut off or a page zeroed: no call fails, and the damage is told."""
    with launch(synchronous="NORMAL").ready() as server:
        acknowledged(server, {server.begin("remember", key=key, fact=fact): key for key, fact in FACTS.items()})
    store = tmp_path / "memory.db"
    fold_log_into(store)
    content = damage(store.read_bytes())
    store.write_bytes(content)
    whole_pages = content[: len(content) // PAGE * PAGE]  # of a page that was cut, also what is left is out of reach
    intact = {key: fact for key, fact in FACTS.items() if fact.encode() in whole_pages}

    server = launch().ready()
    held = server.held("actor:ann")
    assert intact.items() <= held.items() <= FACTS.items()
    assert len(intact) > 20
    assert server.call("remember", key="after", fact="stored after the damage").data["status"] == "stored"
    assert "stored after the damage" in server.recall("after the damage")


def test_a_damaged_file_is_kept_until_something_is_forgotten(launch: Launch, tmp_path: Path) -> None:
    """A3: the damage is told with where the copy is, and a later forget leaves no bytes in it."""
    with launch().ready() as server:
        server.call("remember", key="editor", fact="uses Helix")
    store = tmp_path / "memory.db"
    fold_log_into(store)
    store.write_bytes(_cut(store.read_bytes()))

    server = launch().ready()
    (copy,) = tmp_path.glob("memory.db.corrupt-*")
    assert str(copy) in server.logged()
    server.call("remember", key="office", fact="Lyon")
    assert server.call("forget", key="office").data["erasure"] == "done"
    assert not copy.exists()


def test_what_a_killed_process_left_while_mending_goes_when_it_is_mended(launch: Launch, tmp_path: Path) -> None:
    """Its unfinished store holds facts, and nobody would erase them there."""
    with launch().ready() as server:
        server.call("remember", key="editor", fact="uses Helix")
    store = tmp_path / "memory.db"
    fold_log_into(store)
    store.write_bytes(_cut(store.read_bytes()))
    left = tmp_path / "memory.db.mending-20260101T000000000000"
    left.write_bytes(b"uses Helix")
    launch().ready()
    assert not left.exists()


def fold_log_into(store: Path) -> None:
    """So that the damage is to the file that holds the facts, and not to a log that is copied over it."""
    with closing(sqlite3.connect(store)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
