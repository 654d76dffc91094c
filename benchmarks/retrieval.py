"""Rank a labelled set with the ranking engine: which memories come first for each question?

Reads the scorer's form: a corpus of memories (`id`, `scope`, `text`, and where known `session`, `speaker`, `time`),
and questions (`qid`, `query`, `scope`, where known `time`). Writes one line for each question with the ids in order
of rank and the milliseconds the ranking took.

    python benchmarks/retrieval.py --corpus C.jsonl --queries Q.jsonl --out ranked.jsonl [--embedder onnx:FOLDER]

A corpus line becomes a record thus: `session` is the thread it was said in, `speaker` its subject, `time` when it was
written, and the order of lines the order of writing.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mcp_memory_server.embedding import Embedder, embedded_text, encode_question, encode_records, open_embedder
from mcp_memory_server.ranking import Question, Row, SignatureBlock, encode_signature, rank

LIMIT = 100
_BATCH = 256


@dataclass
class Scope:
    """The memories of one scope in the form the engine reads."""

    ids: list[str] = field(default_factory=list[str])
    rows: list[Row] = field(default_factory=list[Row])
    tokens: list[bytes | None] = field(default_factory=list[bytes | None])
    block: SignatureBlock = field(default_factory=SignatureBlock)

    def token_vectors(self, wanted: Sequence[tuple[int, int]]) -> list[bytes | None]:
        return [self.tokens[number] for _, number in wanted]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def instant(text: str | None) -> datetime:
    """The time of a line; the start of 1970 where there is none, and UTC where it names no zone."""
    told = datetime.fromisoformat(text) if text else datetime.fromtimestamp(0, UTC)
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def load_scopes(corpus: Sequence[Mapping[str, Any]], embedder: Embedder | None) -> dict[str, Scope]:
    """Every scope's block, with vectors if there is an embedder."""
    scopes: dict[str, Scope] = {}
    for line, (pooled, tokens) in zip(corpus, vectors_of(corpus, embedder), strict=True):
        scope = scopes.setdefault(str(line.get("scope", "")), Scope())
        subject = line.get("speaker")
        thread = line.get("session")
        scope.rows.append(
            Row(
                number=len(scope.rows),
                key=str(line["id"]),
                origin_thread=None if thread is None else str(thread),
                time_ms=round(instant(line.get("time")).timestamp() * 1000),
                signature=encode_signature(key="", text=line["text"], subject=subject),
                vector=pooled,
            )
        )
        scope.ids.append(str(line["id"]))
        scope.tokens.append(tokens)
    for scope in scopes.values():
        scope.block = SignatureBlock.from_rows(scope.rows)
    return scopes


def vectors_of(
    corpus: Sequence[Mapping[str, Any]], embedder: Embedder | None
) -> Iterator[tuple[bytes | None, bytes | None]]:
    """The pooled and token vectors of each line; None for both without an embedder."""
    if embedder is None:
        yield from ((None, None) for _ in corpus)
        return
    texts = [embedded_text(key="", text=line["text"], subject=line.get("speaker")) for line in corpus]
    for start in range(0, len(texts), _BATCH):
        yield from encode_records(embedder, texts[start : start + _BATCH])


def rank_question(
    line: Mapping[str, Any], scope: Scope, now: datetime, embedder: Embedder | None
) -> tuple[list[str], float]:
    """The ids in order of rank, and the milliseconds of the ranking without the embedder."""
    vectors = encode_question(embedder, line["query"], scope.token_vectors) if embedder else None
    started = time.perf_counter()
    found = rank([scope.block], Question(line["query"], now, vectors), LIMIT)
    taken_ms = (time.perf_counter() - started) * 1000
    return [scope.ids[record.number] for record in found], taken_ms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--embedder", help="as in the server's setting, e.g. onnx:FOLDER")
    arguments = parser.parse_args()

    embedder = open_embedder(arguments.embedder) if arguments.embedder else None
    corpus = read_lines(arguments.corpus)
    scopes = load_scopes(corpus, embedder)
    latest = max((instant(line.get("time")) for line in corpus), default=instant(None))
    taken: list[float] = []
    with arguments.out.open("w", encoding="utf-8") as out:
        for line in read_lines(arguments.queries):
            # A question without a time of its own is asked after all that was said.
            now = instant(line["time"]) if line.get("time") else latest
            scope = scopes.get(str(line.get("scope", "")), Scope())
            ids, taken_ms = rank_question(line, scope, now, embedder)
            taken.append(taken_ms)
            out.write(json.dumps({"qid": line["qid"], "ids": ids, "latency_ms": round(taken_ms, 3)}) + "\n")
    taken.sort()
    embedded = embedder.id if embedder else "none"
    print(f"{len(taken)} questions, {len(corpus)} memories, embedder {embedded}")
    if taken:
        print(f"ranking ms: p50 {taken[len(taken) // 2]:.2f}  p95 {taken[int(len(taken) * 0.95)]:.2f}")


if __name__ == "__main__":
    sys.exit(main())
