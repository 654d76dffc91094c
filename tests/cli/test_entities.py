"""`entities`: the names in triples, and which of them mean the same."""

import json

from mcp_memory_server.exchange.json_lines import header_line

from .conftest import CommandLine


def take_in(line: CommandLine, *triples: tuple[str, str, str, str]) -> None:
    """Facts with triples, each at a scope: a person's, as another program exported them."""
    lines = [header_line("2026-03-01T09:00:00.000Z")]
    for number, (scope, subject, predicate, object) in enumerate(triples):
        record = {
            "id": f"id-{number}-{scope}",
            "key": f"{subject} {predicate} {object}".lower(),
            "text": f"{subject} {predicate} {object}",
            "scope": scope,
            "origin": {"author": "human"},
            "updated_at": f"2026-03-01T09:0{number}:00.000Z",
            "subject": subject,
            "predicate": predicate,
            "object": object,
        }
        lines.append(json.dumps(record))
    line.ok("import", "-", "--all", "--elevated", "--trust", stdin="\n".join(lines))


OWN = (("actor:ann", "Dana", "works at", "Acme"), ("actor:ann", "ACME Corp", "is in", "Lyon"))


def merge_id(line: CommandLine) -> str:
    return line.json("entities", "merge", "acme corp", "acme")["id"]


def test_entities_are_listed_and_shown(line: CommandLine) -> None:
    assert line.ok("entities", "list") == "No fact there names an entity.\n"
    take_in(line, *OWN, ("global", "Lyon", "is in", "France"))
    listed = line.json("entities", "list")["entities"]
    assert [(entity["name"], entity["scope"]) for entity in listed] == [
        ("Acme", "actor:ann"),
        ("ACME Corp", "actor:ann"),
        ("Dana", "actor:ann"),
        ("Lyon", "actor:ann"),
        ("France", "global"),
        ("Lyon", "global"),
    ]
    assert [entity["name"] for entity in line.json("entities", "list", "--scope", "global")["entities"]] == [
        "France",
        "Lyon",
    ]
    shown = line.ok("entities", "show", " lyon ")
    assert "ACME Corp is in Lyon" in shown
    assert "Lyon is in France" in shown
    assert {each["name"] for each in line.json("entities", "show", "Lyon")["neighbours"]} == {"ACME Corp", "France"}
    assert "No entity 'Nobody' is visible to you" in line.fails("entities", "show", "Nobody")


def test_a_merge_is_made_shown_in_the_ledger_and_taken_back(line: CommandLine) -> None:
    assert line.ok("entities", "ledger") == "Nothing was ever merged.\n"
    take_in(line, *OWN)
    merge = merge_id(line)
    assert line.json("entities", "show", "Acme")["aliases"] == ["ACME Corp"]
    assert "ACME Corp" in line.ok("entities", "list").splitlines()[1]
    ledger = line.ok("entities", "ledger")
    assert merge in ledger
    assert "1 merge." in ledger
    line.ok("entities", "unmerge", merge)
    (entry,) = line.json("entities", "ledger")["merges"]
    assert (entry["by"], entry["undone_by"]) == ("ann", "ann")
    assert line.json("entities", "show", "Acme")["aliases"] == []
    assert "No merge in force" in line.fails("entities", "unmerge", merge)
    line.ok("forget", "acme corp is in lyon")
    assert "(forgotten)" in line.ok("entities", "ledger")


def test_merging_what_others_share_needs_elevation(line: CommandLine) -> None:
    take_in(line, *(("global", *triple[1:]) for triple in OWN))
    assert "--elevated" in line.fails("entities", "merge", "acme corp", "acme", "--scope", "global")
    merge = line.json("entities", "merge", "acme corp", "acme", "--scope", "global", "--elevated")["id"]
    assert "--elevated" in line.fails("entities", "unmerge", merge)
    line.ok("entities", "unmerge", merge, "--elevated")


def test_recall_expands_one_hop_when_asked(line: CommandLine) -> None:
    take_in(line, ("actor:ann", "Dana", "works at", "Acme"), ("actor:ann", "Acme", "is in", "Lyon"))
    assert [hit["record"]["text"] for hit in line.json("search", "Dana", "--expand")["hits"]] == [
        "Dana works at Acme",
        "Acme is in Lyon",
    ]
    assert len(line.json("search", "Dana")["hits"]) == 1
    assert len(line.json("recall", "Dana", "--expand")["entries"]) == 2
    assert "is in Lyon" in line.ok("block", "Dana", "--expand")
