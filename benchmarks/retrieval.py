"""Rank a labelled set as the product does: which memories come first for each question?

    python benchmarks/retrieval.py                                   the set in benchmarks/data, scored
    python benchmarks/retrieval.py --corpus C.jsonl --queries Q.jsonl --out ranked.jsonl [--score]

Both take `--embedder SETTING` (as the server's setting, e.g. onnx:FOLDER) and `--store URL` (a SQLite file by default).

Every memory is written through the store's public `write`, vectors are made and stored as the server makes them in
the background, and every question goes through the public `search` that a digest is resolved from; a digest itself
shows its entries in an order that never moves, which would hide the ranks. Each is asked twice: as a turn asks, for
what would be shown, and again for the ranks of all memories, also those that a turn would be spared.

A corpus line has `id`, `text`, and where known `scope`, `key`, `session`, `speaker`, `time`. It becomes a record thus:
`session` is the thread it was said in, `speaker` its subject, `time` when it was written (1970 where it is missing),
and the order of lines the order of writing. A second line of one key replaces the first. A line without a key gets one
that holds no word. A question has `qid`, `query`, and `scope` or, from narrow to wide, `scopes`; `time` where known.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import anyio
from scoring import Line, print_table, read_lines

from mcp_memory_server.embedding import open_embedder
from mcp_memory_server.providers import open_provider
from mcp_memory_server.providers.base import (
    Hit,
    SearchingProvider,
    SearchRequest,
    WriteRequest,
    WritingProvider,
    can_search,
    can_write,
)
from mcp_memory_server.records import MemoryOrigin, MemoryRecord, canonical_instant, normal_key, normal_text
from mcp_memory_server.service.embeddings import Embeddings

LIMIT: Final = 100
DATA: Final = Path(__file__).parent / "data"
# Texts of public sets are longer than a fact may be.
_MAX_FACT_CHARS: Final = 1_000_000
_FIRST_PRIVATE: Final = 0xF0000


@dataclass(frozen=True, slots=True)
class Place:
    """What tells which line a record holds: a record whose fact was replaced is no longer its first line's."""

    scope: str
    key: str
    text: str

    @classmethod
    def of(cls, record: MemoryRecord | WriteRequest) -> Place:
        return cls(record.scope, record.key, record.text)


def instant(text: str | None) -> str:
    """The time of a line; the start of 1970 where there is none, and UTC where it names no zone."""
    told = datetime.fromisoformat(text) if text else datetime.fromtimestamp(0, UTC)
    return canonical_instant(told if told.tzinfo else told.replace(tzinfo=UTC))


def write_of(line: Line, number: int) -> WriteRequest:
    """The write that a corpus line stands for."""
    session = line.get("session")
    # A key counts as text, so one is made up of a private-use character: it says nothing and stands in no question.
    key = normal_key(line["key"]) if line.get("key") else chr(_FIRST_PRIVATE + number)
    return WriteRequest(
        scope=str(line.get("scope", "")) or "global",
        key=key,
        text=normal_text(line["text"], _MAX_FACT_CHARS),
        origin=MemoryOrigin(author="agent", thread_id=None if session is None else str(session)),
        at=instant(line.get("time")),
        subject=line.get("speaker"),
    )


class Loaded:
    """A store that holds a corpus, and what is asked of it."""

    def __init__(self, provider: SearchingProvider, embeddings: Embeddings, lines: Mapping[Place, str], latest: str):
        self._provider = provider
        self._embeddings = embeddings
        self._lines = lines
        self._latest = latest
        self.without_vectors = 0
        """Questions that the embedder did not answer in time, so that words alone decided."""

    async def rank(self, question: Line) -> Line:
        """The ids in order of rank, how many of them a turn would be shown, and the milliseconds that took."""
        scopes = question.get("scopes") or [str(question.get("scope", "")) or "global"]
        # A question without a time of its own is asked after all that was said.
        at = instant(question["time"]) if question.get("time") else self._latest
        started = time.perf_counter()
        embedded = await self._embeddings.question(question["query"])
        request = SearchRequest(tuple(scopes), question["query"], LIMIT, at, embedded)
        shown = await self._provider.search(request)
        taken_ms = (time.perf_counter() - started) * 1000
        self.without_vectors += embedded is None
        return {
            "qid": question["qid"],
            "ids": self._ids(await self._provider.search(replace(request, with_unrelated=True))),
            "shown": self._ids(shown),
            "latency_ms": round(taken_ms, 3),
        }

    def _ids(self, hits: Sequence[Hit]) -> list[str]:
        return [self._lines[Place.of(hit.record)] for hit in hits]


async def write_all(provider: WritingProvider, corpus: Sequence[Line]) -> dict[Place, str]:
    """Write the corpus line by line; which line each text came from."""
    lines: dict[Place, str] = {}
    for number, line in enumerate(corpus):
        request = write_of(line, number)
        await provider.write(request)
        lines[Place.of(request)] = str(line["id"])
    return lines


@asynccontextmanager
async def loaded(url: str, corpus: Sequence[Line], embedder: str | None) -> AsyncGenerator[Loaded]:
    """The corpus in the store at `url`, with vectors if there is an embedder."""
    async with open_provider(url) as provider:
        if not can_write(provider):
            sys.exit("that store cannot be written to")
        lines = await write_all(provider, corpus)
        if not can_search(provider):
            sys.exit("that store cannot be searched")
        embeddings = Embeddings(provider, None if embedder is None else lambda: open_embedder(embedder))
        if embedder is not None:
            await embed_all(embeddings)
        latest = max((instant(line.get("time")) for line in corpus), default=instant(None))
        yield Loaded(provider, embeddings, lines, latest)


async def embed_all(embeddings: Embeddings) -> None:
    while await embeddings.embed_batch():
        pass
    count = await embeddings.count()
    print(f"{count.embedded} of {count.searchable} memories have vectors")


async def rank_all(arguments: argparse.Namespace, corpus: Sequence[Line], questions: Sequence[Line]) -> list[Line]:
    """`Loaded.rank` for each question."""
    with tempfile.TemporaryDirectory() as folder:
        url = arguments.store or f"sqlite:///{folder}/memory.db"
        async with loaded(url, corpus, arguments.embedder) as store:
            ranked = [await store.rank(question) for question in questions]
            if arguments.embedder and store.without_vectors:
                print(f"{store.without_vectors} questions were answered by words alone: the embedder was too slow")
    return ranked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--out", type=Path, help="where the ranked ids go, one line for each question")
    parser.add_argument("--embedder", help="as in the server's setting, e.g. onnx:FOLDER")
    parser.add_argument("--store", help="a store's URL; it has to be empty")
    parser.add_argument("--score", action="store_true", help="print recall and nDCG by category")
    parser.add_argument("--skip-category", action="append", default=[], help="left out of the table")
    arguments = parser.parse_args()
    if (arguments.corpus is None) != (arguments.queries is None):
        parser.error("--corpus and --queries belong together")
    ours = arguments.corpus is None

    corpus = read_lines(DATA / "memories.jsonl" if ours else arguments.corpus)
    questions = read_lines(DATA / "questions.jsonl" if ours else arguments.queries)
    ranked = anyio.run(rank_all, arguments, corpus, questions)
    if arguments.out is not None:
        arguments.out.write_text("".join(json.dumps(line) + "\n" for line in ranked), encoding="utf-8")
    print(f"{len(questions)} questions, {len(corpus)} memories, embedder {arguments.embedder or 'none'}")
    if ours or arguments.score:
        print_table([line for line in questions if line.get("category") not in arguments.skip_category], ranked)


if __name__ == "__main__":
    main()
