"""Where the store is: any path that can work does, any other is one clear error at start."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from .conftest import Launch
from .session import HANG_S, SERVER, acknowledged, environment
from .test_damage import fold_log_into

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("sqlite:///relative.db", "relative.db"),
        ("sqlite:///~/in home.db", "in home.db"),
        ("sqlite:///missing/parents/here.db", "missing/parents/here.db"),
        ("sqlite:///odd ünï 空's #1 100%?x=y.db", "odd ünï 空's #1 100%?x=y.db"),
    ],
)
def test_a_path_that_can_work_does(launch: Launch, tmp_path: Path, url: str, place: str) -> None:
    """J1: relative to the working directory, with ~, with missing parents, with odd characters."""
    server = launch(url=url).ready()
    assert server.call("remember", key="editor", fact="Helix").data["status"] == "stored"
    assert (tmp_path / place).is_file()


def test_a_link_leads_to_the_one_store_behind_it(launch: Launch, tmp_path: Path) -> None:
    """Mending puts no second store in the link's place, and forgetting reaches the bytes behind it."""
    real, link = tmp_path / "real.db", tmp_path / "memory.db"
    link.symlink_to(real)
    with launch().ready() as server:
        facts = {f"key-{number}": f"said number {number}" + " in many words" * 14 for number in range(60)}
        acknowledged(server, {server.begin("remember", key=key, fact=fact): key for key, fact in facts.items()})
    fold_log_into(real)
    content = real.read_bytes()
    middle = len(content) // 4096 // 2 * 4096
    real.write_bytes(content[:middle] + bytes(4096) + content[middle + 4096 :])

    server = launch().ready()
    key, fact = next(iter(server.held("actor:ann").items()))
    assert server.call("forget", key=key).data["erasure"] == "done"
    assert link.is_symlink()
    assert not [file.name for file in tmp_path.glob("*.db*") if fact[:24].encode() in file.read_bytes()]


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///a circle",
        "sqlite:///a pipe",
        "sqlite:///a folder",
        "sqlite:///trailing/",
        "sqlite:///",
        "sqlite:///$HOME/memory.db",
        "sqlite:///a file/memory.db",
        "memory.db",
        "nosuch://store",
    ],
)
def test_a_path_that_cannot_work_is_one_clear_error_at_start(tmp_path: Path, url: str) -> None:
    """J1: and no write that fails later."""
    (tmp_path / "a circle").symlink_to(tmp_path / "a circle")
    os.mkfifo(tmp_path / "a pipe")
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a file").write_text("something else")
    ended = subprocess.run(
        SERVER,
        env=environment(tmp_path, url=url),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=HANG_S,
        check=False,
    )
    assert ended.returncode in (1, 2)
    assert ended.stdout == b""
    assert b"Error: " in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 3


def test_an_empty_setting_counts_as_none(launch: Launch, tmp_path: Path) -> None:
    """J1: hosts set variables to nothing."""
    server = launch(url="", actor="", tenant="", project="").ready()
    assert server.call("remember", key="editor", fact="Helix").data["status"] == "stored"
    assert list(tmp_path.rglob("memory.db"))


def test_the_default_store_is_the_user_s_own_and_the_log_names_it(launch: Launch, tmp_path: Path) -> None:
    """J2, H11: in the user's data directory, outside the package, for nobody else to read."""
    server = launch(url="").ready()
    server.call("remember", key="editor", fact="Helix")
    (store,) = tmp_path.rglob("memory.db")
    assert str(store) in server.logged()
    assert "mcp-memory-server" in store.parent.name
    assert stat.S_IMODE(os.stat(store.parent).st_mode) == 0o700
    for file in store.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
