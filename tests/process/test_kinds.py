"""Kinds through real server processes: edits at once, the block, and erasure down to the bytes."""

from pathlib import Path

import pytest

from .conftest import Launch
from .session import acknowledged, overlap

pytestmark = pytest.mark.process


def test_two_clients_that_append_a_hundred_lines_each_lose_none(launch: Launch) -> None:
    """Issue 5: working blocks; two clients appending 100 lines each lose none."""
    servers = [launch(toolsets="kinds").ready() for _ in range(2)]
    for server in servers:  # what is loaded at the first write is there then
        server.call("edit_block", label="log", action="set", text="", char_limit=2_000)
    writes: list[dict[int, str]] = [{}, {}]
    for number in range(100):
        for name, server, sent in zip("ab", servers, writes, strict=True):
            line = f"{name}{number}"
            sent[server.begin("edit_block", label="log", action="append", text=line)] = line
    answers = [acknowledged(server, sent) for server, sent in zip(servers, writes, strict=True)]
    assert overlap(answers)
    lines = launch(toolsets="kinds").ready().read("memory://working/log").split("\n")
    assert sorted(lines) == sorted(line for sent in writes for line in sent.values())


def test_two_clients_that_read_the_same_version_do_not_overwrite_each_other(launch: Launch) -> None:
    """A18: the second edit of the version that both have read is told the current one."""
    one, other = (launch(toolsets="kinds").ready() for _ in range(2))
    version = one.call("edit_block", label="plan", action="set", text="first").data["record"]["version"]
    one.call("edit_block", label="plan", action="set", text="of one", if_version=version)
    refused = other.call("edit_block", label="plan", action="set", text="of the other", if_version=version)
    assert refused.is_error
    assert "'plan' is at version 2, not at version 1" in refused.text
    assert "of one" in refused.text
    assert other.read("memory://working/plan") == "of one"


def test_a_block_that_another_process_changed_is_in_the_next_block_of_every_client(launch: Launch) -> None:
    one, other = (launch(toolsets="kinds").ready() for _ in range(2))
    for number in range(3):
        one.call("edit_block", label="plan", action="append", text=f"step {number}")
        assert f"    | step {number}\n" in other.read("memory://block")
        assert f"    | step {number}\n" in other.call("recall_digest", query="something else").text


def test_what_a_forgotten_kind_said_is_in_no_answer_and_in_no_file(launch: Launch, tmp_path: Path) -> None:
    """G1: the lines of a block, the steps of a rule, of every version; and the bytes on the disk."""
    one, other = (launch(toolsets="kinds").ready() for _ in range(2))
    for number in range(60):
        one.call("remember", key=f"neighbour {number}", fact=f"ordinary fact number {number}")
    one.call("edit_block", label="plan", action="set", text="the axolotl\nswims", char_limit=2_000)
    for number in range(20):
        one.call("edit_block", label="plan", action="append", text=f"feed the zebrafish, round {number}")
    block = one.call("edit_block", label="plan", action="append", text="done")
    rule = one.call("record_rule", key="feeding", condition="a quokka is hungry", steps=["give it the xylocarp"])
    one.call("report_outcome", id=rule.data["record"]["id"], outcome="worked")
    for answer in (block, rule):
        assert one.call("forget", id=answer.data["record"]["id"]).data["erasure"] == "done"
    words = ("axolotl", "zebrafish", "quokka", "xylocarp")
    for server in (one, other):
        for query in ("", *words):
            assert not [word for word in words if word in server.call("recall_digest", query=query).text]
        assert not [key for key in server.held("actor:ann") if "neighbour" not in key]
    files = [path.read_bytes() for path in tmp_path.rglob("memory.db*")]
    assert not [word for word in words if any(word.encode() in content for content in files)]
