"""Time, through real servers in several time zones: the machine's own zone changes nothing (faults F)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from .conftest import Launch
from .session import Session, environment

pytestmark = pytest.mark.process

# As rules, not names: a machine without a table of zones would take an unknown name for UTC.
ZONES: Final = {
    "UTC": "UTC0",
    "Pacific/Kiritimati": "<+14>-14",
    "America/St_Johns": "NST3:30NDT,M3.2.0,M11.1.0",
}


def _line(version: int, text: str, updated_at: str, **fields: Any) -> str:
    record = {
        "id": "0192f0c4-0000-7000-8000-000000000001",
        "key": "home",
        "text": text,
        "scope": "actor:ann",
        "origin": {"author": "human"},
        "created_at": "2026-03-01T23:30:00.000Z",
        "updated_at": updated_at,
        "version": version,
    }
    return json.dumps(record | fields)


def _imported(folder: Path, zone: str) -> Path:
    """A store with a fact that was corrected half an hour after midnight, UTC."""
    lines = [
        json.dumps({"format": "mcp-memory-server", "version": 1}),
        _line(1, "Lives in Lyon", "2026-03-01T23:30:00.000Z"),
        _line(2, "Moved to Porto", "2026-04-01T00:30:00.000Z"),
    ]
    file = folder / "export.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    store = folder / "memory.db"
    flags = environment(folder, url=f"sqlite:///{store}", actor="ann") | {"TZ": zone}
    subprocess.run(
        [sys.executable, "-m", "mcp_memory_server", "import", str(file), "--trust"], env=flags, check=True, timeout=60
    )
    return store


def _told(server: Session) -> dict[str, Any]:
    """What a client hears about the past."""
    questions = {
        "just before": {"as_of": "2026-04-01T00:29:59Z"},
        "just after": {"as_of": "2026-04-01T00:30:00Z"},
        "with an offset": {"as_of": "2026-04-01T14:29:59+14:00"},
        "believed": {"known_at": "2026-03-31T21:59:59-02:30"},
        "never": {"known_at": "2026-03-01T00:00:00Z"},
    }
    digests = {name: server.call("recall_digest", **clocks).data for name, clocks in questions.items()}
    told = {
        name: [(entry["text"], entry["updated_at"]) for entry in digest["entries"]] for name, digest in digests.items()
    }
    asked = {name: (digest.get("as_of"), digest.get("known_at")) for name, digest in digests.items()}
    history = server.call("memory_history", key="home").data
    return {"told": told, "asked": asked, "history": history, "stats": json.loads(server.read("memory://stats"))}


def test_a_server_tells_the_same_in_every_time_zone(launch: Launch, tmp_path: Path) -> None:
    """F1, F3, F5, F7: answers hang on the instants alone, and every one of them is UTC with a Z."""
    answers: dict[str, dict[str, Any]] = {}
    for name, zone in ZONES.items():
        folder = tmp_path / name.replace("/", "-")
        folder.mkdir()
        server = launch(url=f"sqlite:///{_imported(folder, zone)}", toolsets="search", TZ=zone).ready()
        answers[name] = _told(server)
    first = answers["UTC"]
    lyon, porto = ("Lives in Lyon", "2026-03-01T23:30:00.000Z"), ("Moved to Porto", "2026-04-01T00:30:00.000Z")
    assert {name: [tuple(entry) for entry in told] for name, told in first["told"].items()} == {
        "just before": [lyon],
        "just after": [porto],
        "with an offset": [lyon],
        "believed": [lyon],
        "never": [],
    }
    assert first["asked"]["believed"] == (None, "2026-04-01T00:29:59.000Z")
    assert [version["valid_to"] for version in first["history"]["versions"][:1]] == [porto[1]]
    assert all(answer == first for answer in answers.values())


def test_a_fact_that_was_taken_in_keeps_its_own_time(launch: Launch, tmp_path: Path) -> None:
    """F9: import is no news of today."""
    server = launch(url=f"sqlite:///{_imported(tmp_path, 'UTC0')}", toolsets="search").ready()
    (hit,) = server.call("search_memories", until="2026-05-01T00:00:00Z").data["hits"]
    assert (hit["record"]["created_at"], hit["record"]["updated_at"]) == (
        "2026-03-01T23:30:00.000Z",
        "2026-04-01T00:30:00.000Z",
    )


def test_writing_a_key_again_keeps_what_it_said_and_says_so(launch: Launch) -> None:
    """A17: the older version is still there as history, and the answer says that it was replaced."""
    server = launch(toolsets="search").ready()
    server.call("remember", key="home", fact="Lives in Lyon")
    answer = server.call("remember", key="home", fact="Moved to Porto")
    assert answer.text.startswith("Replaced 'home'")
    assert "kept in its history" in answer.text
    history = server.call("memory_history", key="home")
    assert [version["text"] for version in history.data["versions"]] == ["Lives in Lyon", "Moved to Porto"]
    assert "1. [actor:ann] home: Lives in Lyon" in history.text
    assert server.recall() == ["Moved to Porto"]


def test_an_entry_tells_where_it_comes_from_and_why_it_is_there(launch: Launch) -> None:
    """L6: id, origin, recorded time, and what matched."""
    server = launch().ready()
    server.call("remember", key="home", fact="Lives in Lyon")
    (entry,) = server.call("recall_digest", query="Who lives in Lyon?").data["entries"]
    assert entry["why"] == {"rank": 1, "words": ["lives", "lyon"]}
    assert entry["id"]
    assert entry["origin"]["author"] == "agent"
    assert entry["updated_at"].endswith("Z")


_RELATIVE: Final = """
import json
from datetime import UTC, datetime
from mcp_memory_server.ranking.dates import named_times
now = datetime(2026, 4, 1, 0, 30, tzinfo=UTC)
print(json.dumps([repr(named_times(text, now)) for text in ("yesterday", "last week", "on 3 March", "today")]))
"""


def test_yesterday_is_the_same_day_in_every_time_zone() -> None:
    """F1: "yesterday" is told from the instant that is asked at, not from the wall clock of the machine."""
    answers = [
        subprocess.run(
            [sys.executable, "-c", _RELATIVE],
            env=environment(Path.cwd()) | {"TZ": zone},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for zone in ZONES.values()
    ]
    assert len(set(answers)) == 1
    assert "[]" not in answers[0]
