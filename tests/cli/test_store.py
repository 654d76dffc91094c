"""`stats`, `export`, `import` and `doctor`."""

import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from mcp_memory_server.providers.sqlite.migrate import latest_version

from .conftest import CommandLine


@pytest.fixture
def filled(line: CommandLine) -> CommandLine:
    line.ok("remember", "office", "Lyon")
    line.ok("remember", "office", "Paris", "--tag", "work")
    line.ok("pin", "office")
    line.ok("remember", "day", "Tuesday", "--project", "apollo", "--where", "project")
    line.ok("publish", "--scope", "tenant:acme", "year", "April", "--elevated")
    return line


def body(export: str) -> list[str]:
    """The records of an export: without the header, which holds the time, and the seal."""
    return export.splitlines()[1:-1]


def test_stats_count_what_is_within_reach(filled: CommandLine) -> None:
    counts = filled.json("stats")
    assert (counts["records"], counts["pinned"], counts["versions"]) == (2, 1, 3)
    assert filled.json("stats", "--mine")["by_scope"] == [
        {"scope": "actor:ann", "records": 1},
        {"scope": "actor:ann#apollo", "records": 1},
    ]
    assert "2 records, 1 pinned, 1 replaced version" in filled.ok("stats")
    headings = [part.split()[0] for part in filled.ok("stats").split("\n\n")[1:]]
    assert headings == ["SCOPE", "KIND", "STATUS"]
    assert filled.json("stats", "--all", "--elevated")["records"] == 3


def test_a_command_on_a_store_that_ends_with_it_says_that_nothing_is_kept(line: CommandLine) -> None:
    for command in (("remember", "office", "Lyon"), ("list",)):
        done = line.run(*command, "--url", "memory://")
        assert done.exit_code == 0
        assert done.stderr == "Warning: the store memory:// ends with this command; nothing in it is kept.\n"
    line.ok("remember", "office", "Lyon")


def test_an_export_comes_back_into_an_empty_store_the_same(filled: CommandLine) -> None:
    exported = filled.ok("export", "--all", "--elevated")
    url = ("--url", f"sqlite:///{filled.folder}/second.db")
    taken = filled.json("import", "-", "--all", "--elevated", *url, stdin=exported)
    assert taken == {"records": 3, "changed": 3, "waiting": 0, "seal": "own"}
    assert body(filled.ok("export", "--all", "--elevated", *url)) == body(exported)
    assert filled.json("history", "office", *url) == filled.json("history", "office")
    again = filled.json("import", "-", "--all", "--elevated", *url, stdin=exported)
    assert again == {"records": 3, "changed": 0, "waiting": 0, "seal": "own"}


def test_the_lines_of_an_export_are_records_behind_a_header(filled: CommandLine) -> None:
    header, *records, _ = map(json.loads, filled.ok("export", "--scope", "actor:ann").splitlines())
    assert (header["format"], header["version"]) == ("mcp-memory-server", 1)
    assert [(record["version"], record["text"]) for record in records] == [(1, "Lyon"), (2, "Paris")]
    assert "superseded_by" not in records[0]
    assert records[1]["pinned"] is True


def test_an_exported_file_is_the_owners_alone(filled: CommandLine) -> None:
    assert filled.json("export", "out.jsonl") == {"exported": 2, "file": "out.jsonl"}
    path = filled.folder / "out.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(body(path.read_text("utf-8"))) == 3
    assert stat.S_IMODE((filled.folder / "mcp-memory-server" / "export.key").stat().st_mode) == 0o600
    assert list(filled.folder.glob("*.partial")) == []
    assert "missing" in filled.fails("export", "missing/out.jsonl")


def test_ones_own_records_come_back_whichever_project_is_configured(filled: CommandLine) -> None:
    exported = filled.ok("export", "--mine")
    filled.ok("forget", "--mine", "--yes")
    assert filled.json("import", "-", stdin=exported)["changed"] == 2


def test_an_import_is_all_or_nothing(filled: CommandLine) -> None:
    exported = filled.ok("export", "--scope", "actor:ann")
    filled.ok("forget", "--mine", "--yes")
    *lines, _ = exported.splitlines()
    broken = "\n".join([*lines, lines[-1].replace("Paris", "Rome")])
    message = filled.fails("import", "-", stdin=broken)
    assert "line 4 is version 2" in message
    assert filled.held("--mine") == {}


def test_an_import_above_the_own_scope_needs_elevation(filled: CommandLine) -> None:
    exported = filled.ok("export", "--scope", "tenant:acme")
    filled.ok("forget", "year", "--elevated")
    assert "--elevated" in filled.fails("import", "-", stdin=exported)
    assert filled.json("import", "-", "--elevated", stdin=exported)["changed"] == 1
    foreign = exported.replace("tenant:acme", "tenant:other")
    message = filled.fails("import", "-", "--elevated", stdin=foreign)
    assert "'tenant:other' does not apply to you. These do: 'actor:ann', 'tenant:acme', 'global'." in message
    assert "--all --elevated" in message
    assert filled.json("import", "-", "--all", "--elevated", stdin=foreign)["changed"] == 1


def test_an_import_displaces_nothing_above_the_own_scope(filled: CommandLine) -> None:
    """A record of one's own with the id of a shared one would take its place."""
    exported = filled.ok("export", "--scope", "tenant:acme")
    mine = exported.replace("tenant:acme", "actor:ann")
    assert "--elevated" in filled.fails("import", "-", "--trust", stdin=mine)
    assert filled.json("import", "-", stdin=mine)["waiting"] == 1
    assert filled.held()["tenant:acme year"] == "April"


def test_a_file_that_is_not_there_is_wrong_usage(line: CommandLine) -> None:
    assert "No such file" in line.fails("import", "missing.jsonl", status=2)


# --- doctor -------------------------------------------------------------------------------------------


def test_doctor_tells_settings_with_their_origins_and_leaves_the_store_alone(filled: CommandLine) -> None:
    before = filled.ok("export", "--all", "--elevated")
    report = filled.json("doctor", "--max-memories", "7")
    assert report["ok"] is True
    assert report["settings"]["actor"] == {"value": "ann", "origin": "MCP_MEMORY_ACTOR"}
    assert report["settings"]["max_memories"] == {"value": 7, "origin": "--max-memories"}
    assert report["settings"]["synchronous"] == {"value": "FULL", "origin": "default"}
    store = report["store"]
    assert store["path"] == str(filled.folder / "memory.db")
    assert (store["schema_version"], store["permissions"], store["records"]) == (latest_version(), "0600", 3)
    assert store["size_bytes"] > 0
    assert [step["step"] for step in report["self_test"]][-1] == "forget"
    assert body(filled.ok("export", "--all", "--elevated")) == body(before)
    assert "Everything is as it should be." in filled.ok("doctor")


def test_doctor_tells_that_others_may_read_the_store(filled: CommandLine) -> None:
    (filled.folder / "memory.db").chmod(0o644)
    result = filled.run("doctor", "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["ok"] is False
    assert "chmod 600" in report["faults"][0]


def test_doctor_completes_an_erasure_that_waited(filled: CommandLine) -> None:
    database = filled.folder / "memory.db"
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("INSERT INTO erasure DEFAULT VALUES")
    assert filled.json("doctor")["store"]["pending_erasures"] == 0


def test_doctor_mends_records_that_search_would_miss(filled: CommandLine) -> None:
    found = filled.json("recall", "coffee")
    with closing(sqlite3.connect(filled.folder / "memory.db")) as db, db:
        db.execute("DELETE FROM signature")
    assert filled.json("doctor")["ok"] is True
    assert filled.json("recall", "coffee")["entries"] == found["entries"]


def test_a_language_that_nobody_knows_names_the_setting_and_those_known(line: CommandLine) -> None:
    wrong = line.fails("list", "--language", "klingon", status=2)
    assert "setting language (--language)" in wrong
    assert "german" in wrong


def test_doctor_tells_of_a_store_that_cannot_be_opened(line: CommandLine) -> None:
    path = line.folder / "notes.txt"
    path.write_text("no database at all\n" * 100)
    result = line.run("doctor", "--url", f"sqlite:///{path}")
    assert result.exit_code == 1
    assert "WRONG: " in result.stdout
    assert "store_unavailable" in result.stdout
    assert path.read_text() == "no database at all\n" * 100


def test_doctor_keeps_and_names_a_damaged_copy(filled: CommandLine) -> None:
    filled.ok("doctor")
    path = filled.folder / "memory.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    page = 4096
    data[3 * page : 4 * page] = b"\xff" * page
    path.write_bytes(data)
    report = json.loads(filled.run("doctor", "--json").stdout)
    assert report["store"]["damaged_copies"] == 1
    assert "memory.db.corrupt-" in report["notices"][0]


def test_doctor_names_misspelt_variables(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_MAX_MEMORY", "5")
    assert "MCP_MEMORY_MAX_MEMORY" in line.json("doctor")["notices"][0]


def test_doctor_works_for_a_store_without_a_file(line: CommandLine) -> None:
    assert line.json("doctor", "--url", "memory://")["store"] == {"provider": "memory", "records": 0, "audit_lines": 0}


@pytest.mark.parametrize(
    "url", ["sqlite:///", "sqlite:///folder/", "sqlite:///.", "sqlite:///~nobody-has-this/m.db", "memory", "nope://x"]
)
def test_a_url_that_cannot_work_is_one_clear_error(line: CommandLine, url: str) -> None:
    for command in ("doctor", "list"):
        message = line.fails(command, "--url", url, status=2)
        assert "The setting url (--url)" in message
        assert len(message.splitlines()) == 1


@pytest.mark.parametrize("place", ["relative.db", "deep/er/memory.db", "~/home.db", "a folder/é#1?.db"])
def test_paths_work_and_missing_parents_are_made(line: CommandLine, place: str) -> None:
    line.ok("remember", "office", "Lyon", "--url", f"sqlite:///{place}")
    path = Path(place.replace("~", str(line.folder)))
    assert path.is_file()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
