"""Commands that state, show and pin facts."""

import json

import pytest

from mcp_memory_server.cli.columns import display_width
from mcp_memory_server.cli.layout import table
from mcp_memory_server.recall import estimate_tokens

from .conftest import CommandLine


def test_a_stated_fact_is_a_persons_and_is_shown(line: CommandLine) -> None:
    stored = line.json("remember", "office", "Lyon", "--tag", "work", "--tag", "place")
    assert stored["status"] == "stored"
    assert stored["record"]["origin"] == {"author": "human", "actor_ref": "ann"}
    assert stored["record"]["tags"] == ["work", "place"]
    assert line.held() == {"actor:ann office": "Lyon"}
    assert "- [actor:ann] office: Lyon" in line.ok("block")


def test_writing_again_replaces_and_history_shows_both(line: CommandLine) -> None:
    line.ok("remember", "office", "Lyon")
    assert line.json("remember", "office", "Lyon")["status"] == "unchanged"
    replaced = line.json("remember", "office", "Paris", "--if-version", "1")
    assert replaced["previous"]["text"] == "Lyon"
    assert [version["text"] for version in line.json("history", "office")["versions"]] == ["Lyon", "Paris"]
    by_id = line.ok("history", "--id", replaced["record"]["id"])
    assert "Lyon" in by_id
    assert "current" in by_id


def test_a_conflict_is_told_and_changes_nothing(line: CommandLine) -> None:
    line.ok("remember", "office", "Lyon")
    assert "is at version 1, not at version 3" in line.fails("remember", "office", "Paris", "--if-version", "3")
    assert line.held() == {"actor:ann office": "Lyon"}


def test_a_fact_a_query_and_a_prompt_come_from_a_pipe(line: CommandLine) -> None:
    line.ok("remember", "office", "-", stdin="Lyon, près de la gare\r\n")
    assert line.held() == {"actor:ann office": "Lyon, près de la gare"}
    assert "Lyon" in line.ok("recall", "-", stdin="where is the office?\n")
    assert "Lyon" in line.ok("block", "-", stdin="where is the office?\n")
    assert "no UTF-8" in line.fails("remember", "office", "-", stdin=b"\xff", status=2)


def test_a_fact_of_a_project_stays_in_it(line: CommandLine) -> None:
    line.ok("remember", "day", "Tuesday", "--project", "apollo", "--where", "project")
    assert line.held() == {}
    assert line.held("--project", "apollo") == {"actor:ann#apollo day": "Tuesday"}
    assert line.held("--mine") == {"actor:ann#apollo day": "Tuesday"}
    assert "no project is configured" in line.fails("remember", "day", "Tuesday", "--where", "project")


def test_every_wrong_argument_is_told(line: CommandLine) -> None:
    message = line.fails("remember", "a:b", "x" * 300, "--valid-from", "soon")
    assert "key holds :" in message
    assert "300 characters and the limit is 240" in message
    assert "valid_from is not an ISO 8601 time" in message


def test_publishing_needs_elevation_and_a_scope_that_applies(line: CommandLine) -> None:
    publish = ("publish", "--scope", "tenant:acme", "year", "April")
    assert "--elevated" in line.fails(*publish)
    line.ok(*publish, "--elevated")
    assert line.held("--scope", "tenant:acme") == {"tenant:acme year": "April"}
    message = line.fails("publish", "--scope", "tenant:other", "a", "b", "--elevated")
    assert "does not apply to you. These do: 'actor:ann', 'tenant:acme', 'global'." in message
    assert "--tenant and --project" in message


def test_what_overrides_a_wider_value_says_so_everywhere(line: CommandLine) -> None:
    line.ok("publish", "--scope", "tenant:acme", "year", "April", "--elevated")
    stored = line.json("remember", "year", "July")
    assert stored["overrides"] == [{"scope": "tenant:acme", "text": "April", "author": "human"}]
    assert "↳ [tenant:acme] person: April" in line.ok("block")
    assert "↳ over" in line.ok("recall")
    assert line.json("recall")["entries"][0]["overrides"] == stored["overrides"]


def test_a_pin_is_set_and_taken_away_by_key_and_by_id(line: CommandLine) -> None:
    record = line.json("remember", "office", "Lyon")["record"]
    assert line.json("pin", "office")["record"]["pinned"] is True
    assert line.json("unpin", "--id", record["id"])["record"]["pinned"] is False
    assert "No memory 'nothing'" in line.fails("pin", "nothing")
    line.ok("publish", "--scope", "global", "year", "April", "--elevated")
    assert "--elevated" in line.fails("pin", "year")
    assert line.json("pin", "year", "--elevated")["record"]["pinned"] is True


@pytest.mark.parametrize("command", ["pin", "unpin", "history"])
def test_exactly_one_of_key_and_id_is_asked_for(line: CommandLine, command: str) -> None:
    assert "exactly one" in line.fails(command, status=2)
    assert "exactly one" in line.fails(command, "office", "--id", "1", status=2)


def test_a_turn_repeats_its_answer_whatever_was_written_since(line: CommandLine) -> None:
    line.ok("remember", "office", "Lyon")
    first = line.json("block", "--turn-id", "t1")
    line.ok("remember", "office", "Paris")
    assert line.json("block", "--turn-id", "t1") == first
    assert line.json("recall", "--digest-id", first["digest_id"])["entries"][0]["text"] == "Lyon"
    line.ok("forget", "office")
    assert line.json("block", "--turn-id", "t1")["erased"] == 1
    assert "Erased since it was first shown: 1 fact." in line.ok("recall", "--turn-id", "t1")


def test_the_ceiling_of_a_digest_is_told(line: CommandLine) -> None:
    for number in range(3):
        line.ok("remember", f"key-{number}", "text")
    assert line.json("recall", "--max-memories", "2")["omitted"] == 1
    assert "1 more fact did not fit" in line.ok("recall", "--max-memories", "2")


def test_other_peoples_scopes_are_closed_without_elevation(line: CommandLine) -> None:
    line.ok("remember", "office", "Lyon", "--actor", "bob")
    assert line.held() == {}
    for command in ("list", "stats", "export"):
        assert "does not apply" in line.fails(command, "--scope", "actor:bob")
        assert "--all needs --elevated" in line.fails(command, "--all")
    assert line.held("--scope", "actor:bob", "--elevated") == {"actor:bob office": "Lyon"}
    assert line.held("--all", "--elevated") == {"actor:bob office": "Lyon"}
    assert "one of --scope, --mine and --all" in line.fails("list", "--mine", "--scope", "global")


def test_a_list_can_be_narrowed_to_a_tag(line: CommandLine) -> None:
    line.ok("remember", "a", "text", "--tag", "work")
    line.ok("remember", "b", "text", "--tag", "workshop")
    assert line.held("--tag", "work") == {"actor:ann a": "text"}


def test_the_mark_of_a_pin_is_explained_where_it_stands(line: CommandLine) -> None:
    line.ok("remember", "office", "Lyon")
    for command in (("list",), ("recall",), ("forget", "office", "--dry-run")):
        assert "pinned" not in line.ok(*command)
    line.ok("pin", "office")
    for command in (("list",), ("recall",), ("forget", "office", "--dry-run")):
        shown = line.ok(*command)
        assert "\n*  office" in shown
        assert "* is pinned" in shown


def test_an_empty_store_says_so(line: CommandLine) -> None:
    assert line.ok("list") == "Nothing is held there.\n"
    assert line.ok("recall").startswith("Nothing is remembered yet.\n")
    assert line.ok("recall", "anything").startswith("Nothing that is remembered fits.\n")
    assert "Nothing is remembered here yet." in line.ok("block")


def test_flags_stand_before_or_after_the_command(line: CommandLine) -> None:
    line.ok("--actor", "bob", "remember", "office", "Lyon")
    assert line.held("--actor", "bob") == {"actor:bob office": "Lyon"}
    assert line.run("--json", "list").stdout == '{"records": []}\n'


def test_an_error_is_a_document_too(line: CommandLine) -> None:
    message = line.fails("forget", "nothing", "--json")
    assert '"code": "not_found"' in message


# --- layout -------------------------------------------------------------------------------------------


def test_columns_align_for_wide_and_combining_characters() -> None:
    assert table(("A", "B"), [("東京", "x"), ("e\u0301", "y")], None, flexible=0) == "A     B\n東京  x\né     y"
    assert display_width("東京") == 4


def test_a_narrow_terminal_cuts_the_flexible_column_only() -> None:
    shown = table(("KEY", "FACT"), [("office", "x" * 100)], 40, flexible=1)
    assert max(map(display_width, shown.splitlines())) == 40
    assert shown.endswith("…")


def test_no_cell_can_break_its_line() -> None:
    assert len(table(("A",), [("one\ntwo\x1b[31m",)], None, flexible=0).splitlines()) == 2


@pytest.mark.parametrize(("command", "held"), [("block", "entries"), ("recall", "entries"), ("search", "hits")])
def test_max_tokens_is_a_ceiling_on_what_is_printed(line: CommandLine, command: str, held: str) -> None:
    for number in range(8):
        line.ok("remember", f"topic {number}", f"A fact about tea number {number}.")
    for few in (100, 300, 900):
        printed = line.ok(command, "tea", "--max-tokens", str(few))
        assert estimate_tokens(printed.rstrip("\n")) <= few
        assert "A fact about tea number" in printed
    document = line.ok(command, "tea", "--json", "--max-tokens", "1500")
    assert estimate_tokens(document.rstrip("\n")) <= 1_500
    shown = json.loads(document)
    assert 0 < len(shown[held]) < 8
    assert shown["omitted"] == 8 - len(shown[held])
    assert "too few for a fact as data" in line.fails(command, "tea", "--json", "--max-tokens", "100")
    assert "the smallest budget is 100" in line.fails(command, "--max-tokens", "99")
