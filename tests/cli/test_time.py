"""Commands that ask about other times, search with every option, and tell what took whose place."""

import pytest

from .conftest import CommandLine

PAST, LATER = "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"


@pytest.fixture
def moved(line: CommandLine) -> CommandLine:
    line.ok("remember", "home", "Lives in Lyon", "--valid-from", "2019-01-01T00:00:00Z", "--tag", "address")
    line.ok("remember", "home", "Moved to Porto", "--valid-from", "2021-01-01T00:00:00+02:00", "--tag", "address")
    return line


@pytest.mark.parametrize("command", ["block", "recall", "list"])
def test_each_clock_is_asked_by_a_flag(moved: CommandLine, command: str) -> None:
    assert "Moved to Porto" in moved.ok(command)
    assert "Lives in Lyon" in moved.ok(command, "--as-of", PAST)
    assert "Moved to Porto" in moved.ok(command, "--as-of", "2021-01-01T00:00:00+02:00")
    assert "Porto" not in moved.ok(command, "--known-at", PAST)
    assert "Moved to Porto" in moved.ok(command, "--as-of", LATER, "--known-at", LATER)
    message = moved.fails(command, "--as-of", "2020-01-01T00:00:00")
    assert "as_of has no time zone" in message
    assert "end it with Z or an offset" in message


def test_history_shows_when_each_version_held_and_was_written(moved: CommandLine) -> None:
    versions = moved.json("history", "home")["versions"]
    assert [version["valid_from"] for version in versions] == ["2019-01-01T00:00:00.000Z", "2020-12-31T22:00:00.000Z"]
    shown = moved.ok("history", "home")
    assert "2019-01-01 00:00Z" in shown
    assert "2020-12-31 22:00Z" in shown
    assert [line.split()[-1] for line in shown.splitlines()[3:]] == ["replaced", "current"]


def test_a_fact_that_takes_another_one_s_place_is_shown_with_it(moved: CommandLine) -> None:
    home = moved.json("history", "home")["versions"][-1]["id"]
    moved.ok("remember", "residence", "Lives in Gent", "--supersedes", home)
    assert "Porto" not in moved.ok("recall")
    assert "Took the place of 'home', id" in moved.ok("history", "residence")
    shown = moved.ok("history", "home")
    assert "Its place was taken by 'residence', id" in shown
    assert "superseded" in shown
    assert "names no active record" in moved.fails("remember", "car", "None", "--supersedes", "no-such-id")


def test_search_takes_every_option(moved: CommandLine) -> None:
    moved.ok("remember", "pet", "A cat in Porto")

    def found(*flags: str) -> list[str]:
        return [hit["record"]["text"] for hit in moved.json("search", *flags)["hits"]]

    assert found("porto") == ["A cat in Porto", "Moved to Porto"]
    assert found("porto", "--tag", "address") == ["Moved to Porto"]
    assert found("porto", "--top-k", "1") == ["A cat in Porto"]
    assert found("--tag", "address", "--include-superseded") == ["Moved to Porto", "Lives in Lyon"]
    assert found("--as-of", PAST, "--tag", "address") == ["Lives in Lyon"]
    assert found("--kind", "procedural") == found("--owner", "agent") == found("--since", LATER) == []
    assert found("--until", LATER, "--owner", "user", "--owner", "shared", "--kind", "semantic", "porto") != []
    assert found("--include-quarantined", "--include-archived", "--known-at", LATER, "cat") == ["A cat in Porto"]
    table = moved.ok("search", "cat in porto")
    assert table.splitlines()[0].split() == ["SCORE", "MOSTLY", "KEY", "FACT", "SCOPE", "BY", "WRITTEN", "ID"]
    assert "bm25" in table
    assert moved.ok("search", "zenzizenzic") == "Nothing was found.\n"
    assert "top_k is 0" in moved.fails("search", "--top-k", "0")


def test_the_console_shows_everything_and_the_prompt_only_what_the_ceiling_lets_through(line: CommandLine) -> None:
    line.ok("remember", "salary", "Earns forty", "--sensitivity", "secret")
    for command in (("list",), ("search",), ("search", "forty"), ("history", "salary"), ("export",)):
        assert "forty" in line.ok(*command)
    for command in (("block",), ("recall",), ("recall", "forty")):
        assert "forty" not in line.ok(*command)
        assert "forty" in line.ok(*command, "--max-sensitivity", "secret")
    assert "Above --max-sensitivity: 1 key." in line.ok("recall", "--roles", "memory:admin")
    line.ok("remember", "salary", "Earns fifty")
    assert "fifty" not in line.ok("block")


def test_a_fact_that_does_not_hold_yet_says_so(line: CommandLine) -> None:
    assert "shown from 2100-01-01T00:00:00.000Z on" in line.ok("remember", "home", "Gent", "--valid-from", LATER)
    backwards = line.fails("remember", "home", "Gent", "--valid-from", LATER, "--valid-to", PAST)
    assert "valid_to (2020-01-01T00:00:00.000Z) is before valid_from (2100-01-01T00:00:00.000Z)" in backwards


def test_recall_tells_why_in_json(moved: CommandLine) -> None:
    (entry,) = moved.json("recall", "Who moved?")["entries"]
    assert entry["why"] == {"rank": 1, "words": ["moved"]}


def test_stats_tell_when_maintenance_was_last_done(line: CommandLine) -> None:
    assert "last maintenance: never" in line.ok("stats")
    assert line.json("stats")["last_maintenance"] is None
