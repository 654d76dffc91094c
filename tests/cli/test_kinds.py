"""`blocks`, `rules` and `insights`: what a person sees, states, locks and votes on."""

from .conftest import CommandLine


def test_blocks_are_set_appended_replaced_and_shown(line: CommandLine) -> None:
    assert line.ok("blocks") == "There is no working block yet. Begin one with `blocks set`.\n"
    assert line.ok("blocks", "set", "plan", "-", "--char-limit", "40", stdin="one\n  two\n").startswith("Stored 'plan'")
    line.ok("blocks", "append", "plan", "three")
    line.ok("blocks", "replace", "plan", "one", "zero", "--if-version", "2")
    assert line.ok("blocks") == (
        "plan at actor:ann: last edited by a person, version 3, 16 of 40 characters\n  | zero\n  |   two\n  | three\n"
    )
    assert line.ok("blocks", "list") == line.ok("blocks")
    (block,) = line.json("blocks")["blocks"]
    assert block["working"] == {"value": "zero\n  two\nthree", "char_limit": 40, "read_only": False}
    assert line.held()["actor:ann plan"] == "zero two three"
    assert "    |   two\n" in line.ok("block")


def test_a_block_is_locked_by_a_person_and_stays_theirs_to_change(line: CommandLine) -> None:
    line.ok("blocks", "set", "persona", "Be brief")
    line.ok("blocks", "lock", "persona")
    assert "read-only" in line.ok("blocks")
    line.ok("blocks", "append", "persona", "Be kind")
    line.ok("blocks", "unlock", "persona")
    assert "read-only" not in line.ok("blocks")


def test_what_cannot_be_is_refused_with_the_limit(line: CommandLine) -> None:
    line.ok("blocks", "set", "plan", "one", "--char-limit", "3")
    assert "has 8 characters and the block's limit is 3" in line.fails("blocks", "append", "plan", "more")
    assert "is at version 1, not at version 9" in line.fails("blocks", "set", "plan", "x", "--if-version", "9")
    assert "outside 1 to 2000" in line.fails("blocks", "set", "big", "x", "--char-limit", "2001")
    assert "No working block 'none'" in line.fails("blocks", "lock", "none")
    assert "--where or --scope" in line.fails(
        "blocks", "append", "plan", "x", "--where", "everywhere", "--scope", "global", status=2
    )


def test_a_block_that_others_share_needs_elevation(line: CommandLine) -> None:
    shared = ("blocks", "set", "rules", "x", "--scope", "tenant:acme")
    assert "needs --elevated" in line.fails(*shared)
    line.ok(*shared, "--elevated")
    assert "rules at tenant:acme" in line.ok("blocks", "--actor", "bob")


def test_a_rule_is_stated_tried_and_filled_in(line: CommandLine) -> None:
    assert line.ok("rules") == "There is no rule yet.\n"
    stated = line.json(
        "rules", "record", "release", "--when", "a release of {what} is due", "--step", "Check",
        "--step", "Tag {version}",
        "--priority", "2", "--done-when", "it is out",
    )  # fmt: skip
    id = stated["record"]["id"]
    assert line.ok("rules", "report", id, "worked") == "'release' worked 1 times and failed 0.\n"
    assert line.ok("rules", "report", id, "failed") == "'release' worked 1 times and failed 1.\n"
    header, row = line.ok("rules", "list").splitlines()
    assert header.split() == ["KEY", "RULE", "PRIORITY", "WORKED", "FAILED", "SCOPE", "BY", "ID"]
    assert row.split()[-6:] == ["2", "1", "1", "actor:ann", "person", id]
    assert line.ok("rules", "fill", "release", "what=a=b", "version=1.2") == (
        "When a release of a=b is due:\n1. Check\n2. Tag 1.2\nDone when it is out\n"
    )
    assert "gives no value for 'version'" in line.fails("rules", "fill", "release", "what=x")
    assert "write NAME=VALUE" in line.fails("rules", "fill", "release", "what")
    assert "step 1 holds '{'" in line.fails("rules", "record", "k", "--when", "c", "--step", "{")


def test_a_fact_is_not_filled_in_like_a_rule(line: CommandLine) -> None:
    line.ok("remember", "office", "Lyon")
    assert "No rule 'office'" in line.fails("rules", "fill", "office")


def test_an_insight_is_stated_and_voted_on(line: CommandLine) -> None:
    assert line.ok("insights") == "There is no insight yet.\n"
    fact = line.json("remember", "bedtime", "Goes to bed at two")["record"]["id"]
    id = line.json("insights", "record", "owl", "Works late", "--cites", fact)["record"]["id"]
    assert line.ok("insights", "vote", id, "up") == "'owl' has salience 3.\n"
    for _ in range(2):
        line.ok("insights", "vote", id, "down")
    assert line.ok("insights", "vote", id, "down") == "'owl' has salience 0; it is shown to nobody any more.\n"
    assert "owl" not in line.ok("block")
    assert line.ok("insights", "list").splitlines()[1].split()[-5:] == ["0", "1", "actor:ann", "person", id]
    assert "names no memory that is there for you: 'x'" in line.fails("insights", "record", "k", "f", "--cites", "x")


def test_a_person_sees_and_erases_every_kind(line: CommandLine) -> None:
    """Being visible and removable outranks every other feature."""
    line.ok("blocks", "set", "plan", "one")
    line.ok("blocks", "append", "plan", "two")
    line.ok("rules", "record", "release", "--when", "c", "--step", "s")
    assert set(line.held()) == {"actor:ann plan", "actor:ann release"}
    assert len(line.json("history", "plan")["versions"]) == 2
    for key in ("plan", "release"):
        line.ok("forget", key)
    assert line.held() == {}


def test_every_kind_leaves_and_comes_back(line: CommandLine) -> None:
    line.ok("blocks", "set", "plan", "one\n  two")
    line.ok("blocks", "lock", "plan")
    fact = line.json("remember", "bedtime", "Goes to bed at two")["record"]["id"]
    line.ok("insights", "record", "owl", "Works late", "--cites", fact)
    rule = line.json("rules", "record", "release", "--when", "c", "--step", "s {v}")["record"]["id"]
    line.ok("rules", "report", rule, "worked")
    before = line.json("list")
    file = line.ok("export")
    line.ok("forget", "--mine", "--yes")
    line.ok("import", "-", stdin=file)
    assert line.json("list") == before
