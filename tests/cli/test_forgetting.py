"""`forget`: one record, or exactly those that a selector names."""

import pytest

from mcp_memory_server.cli.self_test import holders

from .conftest import CommandLine


@pytest.fixture
def filled(line: CommandLine) -> CommandLine:
    line.ok("remember", "office", "Lyon", "--tag", "work")
    line.ok("remember", "desk", "by the window", "--tag", "work")
    line.ok("remember", "pet", "a cat")
    line.ok("remember", "day", "Tuesday", "--project", "apollo", "--where", "project")
    line.ok("publish", "--scope", "tenant:acme", "year", "April", "--tag", "work", "--elevated")
    line.ok("remember", "office", "Rome", "--actor", "bob", "--tag", "work")
    return line


EVERYTHING = ("--all", "--elevated")


def test_one_record_goes_by_key_or_by_id(filled: CommandLine) -> None:
    assert filled.json("forget", "pet")["forgotten"][0]["key"] == "pet"
    (record,) = filled.json("list", "--tag", "work", "--scope", "actor:ann")["records"][:1]
    assert filled.json("forget", "--id", record["id"])["forgotten"][0]["erasure"] == "done"
    assert filled.held() == {"actor:ann office": "Lyon", "tenant:acme year": "April"}


@pytest.mark.parametrize("arguments", [("nothing",), ("--id", "0"), ("nothing", "--dry-run")], ids=" ".join)
def test_what_is_not_there_is_told_with_the_command_that_lists(filled: CommandLine, arguments: tuple[str, ...]) -> None:
    message = filled.fails("forget", *arguments)
    assert "`mcp-memory-server list`" in message
    assert "recall_digest" not in message


def test_a_forgotten_fact_is_in_no_file(filled: CommandLine) -> None:
    assert holders(filled.folder, "by the window")
    filled.ok("forget", "desk")
    assert holders(filled.folder, "by the window") == []


def test_what_is_shared_needs_elevation(filled: CommandLine) -> None:
    assert "--elevated" in filled.fails("forget", "year")
    assert "--elevated" in filled.fails("forget", "--scope", "tenant:acme", "--yes")
    filled.ok("forget", "year", "--elevated")
    assert "tenant:acme year" not in filled.held()


def test_a_record_at_anothers_scope_is_unknown_until_elevated(filled: CommandLine) -> None:
    bobs = filled.json("list", "--scope", "actor:bob", "--elevated")["records"][0]["id"]
    assert "No memory" in filled.fails("forget", "--id", bobs)
    filled.ok("forget", "--id", bobs, *EVERYTHING)
    assert "actor:bob office" not in filled.held(*EVERYTHING)


def test_nothing_goes_without_a_selector(filled: CommandLine) -> None:
    before = filled.held(*EVERYTHING)
    for arguments in ((), ("--yes",), ("--elevated", "--yes"), ("--dry-run",)):
        assert "Say what to erase" in filled.fails("forget", *arguments, status=2)
    assert "several records" in filled.fails("forget", "office", "--tag", "work", status=2)
    assert "--all needs --elevated" in filled.fails("forget", "--all", "--yes")
    assert filled.held(*EVERYTHING) == before


def test_several_need_a_confirmation_and_a_dry_run_erases_nothing(filled: CommandLine) -> None:
    before = filled.held(*EVERYTHING)
    assert filled.json("forget", "--tag", "work", "--dry-run")["count"] == 2
    assert "Would erase 2 records." in filled.ok("forget", "--tag", "work", "--dry-run")
    assert filled.json("forget", "pet", "--dry-run")["count"] == 1
    assert "2 records" in filled.fails("forget", "--tag", "work", status=2)
    assert filled.held(*EVERYTHING) == before


def test_a_tag_erases_exactly_ones_own_records_with_it(filled: CommandLine) -> None:
    assert len(filled.json("forget", "--tag", "work", "--yes")["forgotten"]) == 2
    assert set(filled.held(*EVERYTHING)) == {
        "actor:ann pet",
        "actor:ann#apollo day",
        "tenant:acme year",
        "actor:bob office",
    }
    assert filled.ok("forget", "--tag", "work", "--yes") == "Erased 0 records.\n"


def test_what_was_inferred_from_the_erased_and_is_still_held_is_named(filled: CommandLine) -> None:
    """Of several erased at once, those insights that were not among them."""
    ids = {record["key"]: record["id"] for record in filled.json("list")["records"]}
    insights = [
        filled.json("insights", "record", key, "An inference", "--cites", ids[cited])["record"]["id"]
        for key, cited in (("at-home", "pet"), ("commutes", "office"))
    ]
    told = filled.ok("forget", "pet")
    assert told.endswith(f"What was inferred from it is still held; forget that, too, if it tells it: {insights[0]}.\n")
    assert filled.ok("forget", "--tag", "work", "--yes").endswith(f"if it tells them: {insights[1]}.\n")
    filled.ok("remember", "pet", "a cat")
    filled.ok("insights", "record", "at-home", "An inference", "--cites", filled.json("list")["records"][0]["id"])
    assert "still held" not in filled.ok("forget", "--mine", "--yes")


def test_a_person_can_erase_everything_about_them(filled: CommandLine) -> None:
    filled.ok("forget", "--mine", "--yes")
    assert set(filled.held(*EVERYTHING)) == {"tenant:acme year", "actor:bob office"}


def test_a_scope_and_the_whole_store_can_be_erased_by_an_administrator(filled: CommandLine) -> None:
    filled.ok("forget", "--scope", "tenant:acme", "--elevated", "--yes")
    assert "tenant:acme year" not in filled.held(*EVERYTHING)
    filled.ok("forget", *EVERYTHING, "--yes")
    assert filled.held(*EVERYTHING) == {}
