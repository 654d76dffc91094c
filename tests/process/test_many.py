"""Forty thousand facts: nothing breaks, and what is shown at once stays small."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from .conftest import servers_in
from .session import HANG_S, SERVER, Session, environment
from .stocked import stock

pytestmark = pytest.mark.process

COUNT: Final = 40_000
STALE: Final = range(0, COUNT, 200)
MOST_CHARS: Final = 4 * 25_000
"""What clients that cut an answer at 25,000 tokens still show whole."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    texts = (f"parcel {number} went to depot {number % 97} {'x' * 180}" for number in range(COUNT))
    facts = ((f"parcel {number}", text, ("stale",) * (number in STALE)) for number, text in enumerate(texts))
    stock(folder / "memory.db", facts)
    return folder


@pytest.fixture(scope="module")
def crowded(folder: Path) -> Iterator[Session]:
    """A server on the store of forty thousand."""
    with servers_in(folder) as servers:
        yield servers().ready()


def run(folder: Path, *arguments: str) -> str:
    """What a command prints; it has to succeed."""
    settings = {"url": f"sqlite:///{folder / 'memory.db'}", "actor": "ann"}
    done = subprocess.run(
        [*SERVER, *arguments],
        env=environment(folder, **settings),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=5 * HANG_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_question_and_a_first_page_are_answered(crowded: Session) -> None:
    """E10: one record of forty thousand is found, and a listing comes in pages."""
    assert any(fact.startswith("parcel 31117 ") for fact in crowded.recall("where did parcel 31117 go?", 1))
    page = json.loads(crowded.read("memory://scopes/actor%3Aann"))
    assert 0 < len(page["records"]) <= 200
    assert page["next"]


def test_a_larger_number_never_shows_less_and_the_largest_fits_a_model(crowded: Session) -> None:
    """E4, E7: `max_memories` counts facts, and whatever it is, the block can be shown whole."""
    for query in ("depot", ""):
        blocks = [crowded.call("recall_digest", query=query, max_memories=most) for most in (1, 10, 200)]
        assert [len(block.data["entries"]) for block in blocks] == [1, 10, 200]
        sizes = [len(block.text) for block in blocks]
        assert sizes == sorted(sizes)
        assert sizes[-1] < MOST_CHARS
    assert len(crowded.read("memory://stats")) < MOST_CHARS
    assert crowded.call("recall_digest", max_memories=201).is_error


def test_everything_can_be_listed_exported_and_forgotten_by_its_tag(folder: Path) -> None:
    """C11: no statement names each record in a variable of its own."""
    assert len(json.loads(run(folder, "list", "--mine", "--json"))["records"]) == COUNT
    assert len(run(folder, "export", "--mine").splitlines()) >= COUNT
    run(folder, "forget", "--tag", "stale", "--mine", "--yes")
    left = json.loads(run(folder, "list", "--mine", "--json"))["records"]
    assert len(left) == COUNT - len(STALE)
    assert not any(record.get("tags") for record in left)
