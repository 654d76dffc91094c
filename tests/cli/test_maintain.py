"""`maintain`: a look first, then doing it, and the way back."""

import json
from collections.abc import Sequence
from typing import Any

from .conftest import CommandLine


def stock(line: CommandLine, *records: dict[str, Any]) -> None:
    """Take in notes of an assistant's, as an export holds them."""
    common = {
        "scope": "actor:ann",
        "origin": {"author": "agent"},
        "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-01T00:00:00.000Z",
    }
    header = json.loads(line.ok("export").splitlines()[0])
    lines = [header, *({"id": f"id-{record['key']}", **common, **record} for record in records)]
    line.ok("import", "-", "--trust", "--all", "--elevated", stdin="\n".join(map(json.dumps, lines)))


def keys(records: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(record["key"] for record in records)


NOTES = (
    {"key": "trip", "text": "In Porto", "valid_to": "2026-02-01T00:00:00.000Z"},
    {"key": "seat", "text": "Ann prefers a window seat", "importance": 0.9},
    {"key": "food", "text": "Likes cheese"},
    {"key": "foods", "text": "Likes bread", "importance": 0.7},
)


def test_a_dry_run_shows_all_that_a_run_does_and_writes_nothing(line: CommandLine) -> None:
    """Issue 5: --dry-run, by comparing dumps of the store."""
    stock(line, *NOTES)
    line.ok("remember", "city", "Lyon", "--valid-to", "2026-02-01T00:00:00Z")
    limit = ("--max-records", "3")

    def dump() -> list[str]:
        _, *records, _ = line.ok("export").splitlines()  # between the time and the seal
        return [*records, line.ok("stats")]

    before = dump()
    shown = line.json("maintain", "--dry-run", *limit)
    text = line.ok("maintain", "--dry-run", *limit)
    assert dump() == before
    assert (shown["dry_run"], keys(shown["set_aside"])) == (True, ["food", "trip"])
    assert "Would set aside 2 records, promote 0 rules, and drop 0 journaled digests" in text
    assert "Nothing was done." in text
    done = line.json("maintain", *limit)
    assert [keys(done[name]) for name in ("set_aside", "promoted", "left")] == [["food", "trip"], [], []]
    assert "last maintenance: never" not in line.ok("stats")


def test_what_was_set_aside_is_marked_and_comes_back(line: CommandLine) -> None:
    """Archived records are restorable, left out of default reads, and visible to the person."""
    stock(line, *NOTES)
    text = line.ok("maintain", "--max-records", "2")
    assert "Set aside 2 records, promoted 0 rules" in text
    assert "set aside  food  Likes cheese" in text
    assert "one of the least important and oldest beyond 2 facts at its scope; maintenance by ann" in text
    listed = line.ok("list")
    assert "id-food (archived)" in listed
    assert "id-seat (archived)" not in listed
    assert line.ok("history", "food").splitlines()[-1].endswith("archived")
    assert "Likes cheese" not in line.ok("block") + line.ok("recall", "cheese") + line.ok("search", "cheese")
    assert "Likes cheese" in line.ok("search", "cheese", "--include-archived")
    assert "In Porto" in line.ok("list", "--as-of", "2026-01-15T00:00:00Z")
    assert line.ok("maintain", "--restore", "id-food").startswith(
        "Restored 'food' at actor:ann, version 3, id id-food."
    )
    assert "Likes cheese" in line.ok("block")


def test_a_second_run_does_nothing(line: CommandLine) -> None:
    stock(line, *NOTES)
    line.ok("maintain", "--max-records", "1")
    held = line.json("list")
    again = line.json("maintain", "--max-records", "1")
    assert [again[name] for name in ("set_aside", "promoted", "left")] == [[], [], []]
    assert line.json("list") == held


def test_doubles_are_shown_with_how_to_merge_them_and_left_alone(line: CommandLine) -> None:
    """Issue 5: near-duplicate keys proposed for merging; nothing is merged without a person."""
    stock(line, *NOTES)
    held = line.json("list")
    text = line.ok("maintain", "--dry-run")
    assert "One fact at actor:ann? Of these their keys name one question:" in text
    assert "remember KEY FACT --supersedes ID" in text
    (alike,) = line.json("maintain")["alike"]
    assert (alike["by"], [record["key"] for record in alike["records"]]) == ("keys", ["foods", "food"])
    assert [record for record in line.json("list")["records"] if record["key"] != "trip"] == [
        record for record in held["records"] if record["key"] != "trip"
    ]
    line.ok("remember", "foods", "Likes bread and cheese", "--supersedes", "id-food")
    assert line.json("maintain")["alike"] == []


def test_what_a_person_stated_stays_and_is_told_when_it_is_too_much(line: CommandLine) -> None:
    """Issue 5: never deletes what a person stated."""
    for number, text in enumerate(("Lyon", "Porto", "Turin")):
        line.ok("remember", f"city {number}", text)
    assert "actor:ann holds 2 facts more than --max-records" in line.ok("maintain", "--max-records", "1")
    assert "archived" not in line.ok("list")


def test_scopes_of_others_need_elevation(line: CommandLine) -> None:
    """Own scopes by default; wider ones need --elevated."""
    stock(
        line,
        *({**NOTES[0], "id": f"id-{scope}", "scope": scope} for scope in ("actor:ann", "tenant:acme", "actor:bob")),
    )
    for reach in (("--scope", "tenant:acme"), ("--all",), ("--scope", "actor:bob")):
        assert "--elevated" in line.fails("maintain", *reach)

    def due(*reach: str) -> list[str]:
        return [record["scope"] for record in line.json("maintain", "--dry-run", *reach)["set_aside"]]

    assert due() == ["actor:ann"]
    assert due("--elevated") == ["actor:ann", "tenant:acme"]
    assert due("--all", "--elevated") == ["actor:ann", "tenant:acme", "actor:bob"]
    assert "--elevated" in line.fails("maintain", "--restore", "id-tenant:acme")


def test_wrong_usage_is_told(line: CommandLine) -> None:
    assert "not both" in line.fails("maintain", "--dry-run", "--restore", "x", status=2)
    assert "No memory 'x'" in line.fails("maintain", "--restore", "x")
    line.ok("remember", "city", "Lyon")
    (record,) = line.json("list")["records"]
    assert "is not set aside" in line.fails("maintain", "--restore", record["id"])
