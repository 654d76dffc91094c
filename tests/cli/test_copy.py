"""`copy`: what it takes, what it refuses, and what it says. What it does is tested in tests/service/test_copying.py."""

import json
from pathlib import Path

import pytest

from mcp_memory_server.config import load_settings
from mcp_memory_server.opening import are_one_store

from .conftest import CommandLine


def url(line: CommandLine, name: str) -> str:
    return f"sqlite:///{line.folder}/{name}.db"


@pytest.fixture
def filled(line: CommandLine) -> CommandLine:
    line.ok("remember", "office", "Lyon")
    line.ok("remember", "office", "Paris")
    line.ok("remember", "day", "Tuesday")
    line.ok("forget", "day")
    line.ok("publish", "--scope", "tenant:acme", "year", "April", "--elevated")
    return line


def copied(line: CommandLine, *arguments: str, status: int = 0) -> str:
    done = line.run("copy", *arguments)
    assert done.exit_code == status, done.output
    return done.stdout


def test_a_copy_answers_as_the_source_does_and_says_so(filled: CommandLine) -> None:
    said = copied(filled, "--from", url(filled, "memory"), "--to", url(filled, "new"))
    assert said.splitlines()[0].endswith("/new.db: 2 records, 3 versions, 2 scopes.")
    assert "New or changed at the target: 2. Erased there, as at the source: 0." in said
    assert "1 audit line, " in said
    assert "Verified: both hold the same, version for version. SHA-256 " in said
    assert said.endswith("Nothing was written to the source meanwhile. If that stays so, switch to the target now.\n")
    for command in (("history", "office"), ("list", "--all", "--elevated"), ("search", "where is the office?")):
        assert filled.ok(*command, "--url", url(filled, "new")) == filled.ok(*command)


def test_progress_goes_to_standard_error(filled: CommandLine) -> None:
    done = filled.run("copy", "--to", url(filled, "new"), "--json")
    assert done.stderr.splitlines() == ["Copying", "Verifying", "Taking along the rest"]
    assert json.loads(done.stdout)["same"] is True


def test_the_end_that_is_left_out_is_the_configured_store(filled: CommandLine) -> None:
    copied(filled, "--to", url(filled, "new"))
    filled.ok("remember", "late", "came late", "--url", url(filled, "new"))
    back = json.loads(copied(filled, "--from", url(filled, "new"), "--json"))
    assert (back["same"], back["restored"], back["to"]) == (True, 1, url(filled, "memory"))
    assert filled.held()["actor:ann late"] == "came late"


def test_what_was_forgotten_goes_at_the_target_when_it_is_run_again(filled: CommandLine) -> None:
    copied(filled, "--to", url(filled, "new"))
    filled.ok("forget", "office")
    assert "Erased there, as at the source: 1." in copied(filled, "--to", url(filled, "new"))
    assert b"Paris" not in Path(filled.folder, "new.db").read_bytes()


def test_ends_that_do_not_hold_the_same_are_told_by_scope_and_exit_status(filled: CommandLine) -> None:
    copied(filled, "--to", url(filled, "new"))
    filled.ok("remember", "office", "Porto", "--url", url(filled, "new"))
    filled.ok("remember", "own", "after the switch", "--url", url(filled, "new"))
    said = copied(filled, "--to", url(filled, "new"), status=1)
    assert "Left out: 1 record, changed at the target since, and newer there." in said
    assert "The target holds 1 record of its own, which stay." in said
    assert "DIFFERENT at 1 scope:\n  actor:ann: 1 at the source, 2 at the target\n" in said
    assert "Verified" not in said
    assert not [text for text in ("Paris", "Porto", "after the switch") if text in said]


def test_a_target_with_other_records_needs_to_be_merged(filled: CommandLine) -> None:
    filled.ok("remember", "own", "was here before", "--url", url(filled, "new"))
    failed = filled.run("copy", "--to", url(filled, "new"))
    assert failed.exit_code == 1
    assert "--merge" in failed.stderr
    assert list(filled.held("--url", url(filled, "new"))) == ["actor:ann own"]
    assert "The target holds 1 record of its own" in copied(filled, "--to", url(filled, "new"), "--merge")
    assert sorted(filled.held("--url", url(filled, "new"))) == ["actor:ann office", "actor:ann own", "tenant:acme year"]


def test_two_spellings_of_one_store_are_refused(filled: CommandLine) -> None:
    Path(filled.folder, "link.db").symlink_to("memory.db")
    for other in ("sqlite:///memory.db", "sqlite:///./sub/../memory.db", "sqlite:///link.db"):
        assert "mean one store" in filled.fails("copy", "--to", other, status=2)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("postgresql://bob:other@db:5432/memory?sslmode=require", True),
        ("postgres://db/memory", True),
        ("postgresql://ann@db/other", False),
        ("postgresql://ann@db:5433/memory", False),
        ("postgresql://elsewhere/memory", False),
        ("sqlite:///memory", False),
    ],
)
def test_a_database_is_known_by_its_host_port_and_name(line: CommandLine, other: str, same: bool) -> None:
    one = load_settings({"url": "postgresql://ann:secret@DB/memory"})
    assert are_one_store(one, load_settings({"url": other})) is same


def test_what_cannot_be_copied_is_refused_and_nothing_is_made(line: CommandLine) -> None:
    assert "--from URL or --to URL" in line.fails("copy", status=2)
    for end in ("--from", "--to"):
        assert "memory://" in line.fails("copy", end, "memory://", status=2)
    assert "no store at" in line.fails("copy", "--from", url(line, "typo"), status=2)
    assert not list(line.folder.glob("*.db"))


def test_no_password_is_told(filled: CommandLine) -> None:
    said = filled.run("copy", "--to", "postgresql://ann:hunter2@127.0.0.1:1/memory", "--busy-timeout-s", "0.1").output
    assert "hunter2" not in said
