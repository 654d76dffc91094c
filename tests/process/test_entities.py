"""Entities of real servers: kept, shared between processes, merged and taken apart, erased down to the bytes."""

import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client

from .conftest import Launch
from .session import HANG_S, SERVER, Session, environment

pytestmark = pytest.mark.process

TRIPLES = (("Dana", "works at", "Acme"), ("ACME Corp", "is based in", "Lyon"))


def related(server: Session, *triples: tuple[str, str, str]) -> list[str]:
    """The ids of the facts."""
    calls = [server.call("relate", subject=s, predicate=p, object=o) for s, p, o in triples]
    return [call.data["record"]["id"] for call in calls]


def name_of(server: Session, name: str) -> list[str]:
    described = server.call("describe_entity", name=name).data
    return [described["name"], *described["aliases"]]


def test_merges_hold_in_every_process_and_outlive_a_kill(launch: Launch) -> None:
    first, second = launch(toolsets="knowledge").ready(), launch(toolsets="knowledge,search").ready()
    related(first, *TRIPLES)
    merge = second.call("merge_entities", source="acme corp", into="ACME").data["merge_id"]
    assert name_of(first, "Acme Corp") == ["Acme", "ACME Corp"]
    second.kill()
    third = launch(toolsets="knowledge,search").ready()
    hits = third.call("search_memories", query="Dana", top_k=1, expand=True).data["hits"]
    assert [hit["record"]["object"] for hit in hits] == ["Acme", "Lyon"]
    assert not first.call("unmerge_entities", merge_id=merge).is_error
    assert name_of(third, "Acme Corp") == ["ACME Corp"]
    assert third.call("unmerge_entities", merge_id=merge).is_error


def test_two_processes_that_merge_at_once_make_no_circle(launch: Launch) -> None:
    servers = [launch(toolsets="knowledge").ready() for _ in range(2)]
    names = [f"name {number}" for number in range(12)]
    related(servers[0], *((name, "is", "a thing") for name in names))
    pairs = [(one, other) for one in names for other in names if one != other]
    begun = [
        (server, server.begin("merge_entities", source=source, into=into))
        for server, order in zip(servers, (pairs, pairs[::-1]), strict=True)
        for source, into in order
    ]
    answers = [server.answer(request) for server, request in begun]
    assert sum(not answer.is_error for answer in answers) == len(names) - 1
    assert len({tuple(name_of(servers[0], name)) for name in names}) == 1


def test_a_forgotten_fact_takes_its_names_out_of_the_files(launch: Launch, tmp_path: Path) -> None:
    server = launch(toolsets="knowledge").ready()
    gone, _ = related(server, ("Xylocarp Quux", "works at", "Acme"), TRIPLES[1])
    assert name_of(server, "xylocarp  QUUX") == ["Xylocarp Quux"]
    assert server.call("forget", id=gone).data["erasure"] == "done"
    assert server.call("describe_entity", name="Xylocarp Quux").is_error
    held = b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*"))
    assert b"xylocarp" not in held.lower()
    assert b"Lyon" in held


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_sdk_s_client_relates_describes_merges_and_takes_back(era: Any, tmp_path: Path) -> None:
    command, *arguments = map(str, SERVER)
    home = environment(tmp_path, url=f"sqlite:///{tmp_path / 'memory.db'}", actor="ann", toolsets="knowledge")
    server = StdioServerParameters(command=command, args=arguments, env=home, cwd=os.fspath(tmp_path))
    with anyio.fail_after(HANG_S):
        async with Client(server, mode=era) as client:
            for subject, predicate, object in TRIPLES:
                given = {"subject": subject, "predicate": predicate, "object": object}
                assert not (await client.call_tool("relate", given)).is_error
            merged = await client.call_tool("merge_entities", {"source": "Acme Corp", "into": "Acme"})
            assert merged.structured_content is not None
            described = await client.call_tool("describe_entity", {"name": "acme"})
            assert described.structured_content is not None
            assert described.structured_content["aliases"] == ["ACME Corp"]
            undo = {"merge_id": merged.structured_content["merge_id"]}
            assert not (await client.call_tool("unmerge_entities", undo)).is_error
