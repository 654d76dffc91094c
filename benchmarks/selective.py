"""What does a conversation cost that recalls selectively, and what does it still know?

    python benchmarks/selective.py --corpus C.jsonl --queries Q.jsonl [--turns 50] [--skip-category adversarial]

For each scope of the corpus a caller holds its facts and asks as many of its questions, spread evenly, one a turn. Each
way of recalling is measured on the same turns, through the public service:

- `whole block`: everything that is remembered, each turn; `once` counts it at the first turn only
- `digest`: the 5 or 20 facts that answer the turn best
- `selective`: `recall_selectively` with the store's search and what was surfaced before. It looks 5, 10 or 20 facts
  down the ranking; the whole caveat stands in every block (`caveat each turn`) or in the first only; once with the
  index of what is not shown

`tokens` is what is injected over all turns, as `estimate_tokens` counts it, and `bytes` the same in bytes; the ratio is
to the whole block of each turn. `evidence` is the share of a question's gold facts that the model can see: what this
turn injected, or, in the second column, this turn or an earlier one, which the conversation still holds. `block`,
`nothing` and `degrade` count the outcomes of selective recall.

Corpus and questions are those of `retrieval.py`.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import Final

import anyio
from retrieval import Place, instant, write_all
from scoring import Line, read_lines

from mcp_memory_server import Actor, MemoryService, RequestContext
from mcp_memory_server.digest import DigestEntry
from mcp_memory_server.providers.base import Hit, can_write
from mcp_memory_server.providers.in_memory import open_in_memory
from mcp_memory_server.recall import Block, BodyLimits, ManifestLimits, Outcome, encode_surfaced_key, estimate_tokens
from mcp_memory_server.service import Offered
from mcp_memory_server.service.search import SearchOptions
from mcp_memory_server.service.search_selector import SearchSelector
from mcp_memory_server.service.selective import SelectiveLimits, SelectiveRequest, recall_selectively
from mcp_memory_server.service.selector_guard import SelectorGuard

CALLER: Final = RequestContext(Actor("caller"))
# No model reads the manifest here, so it may be as long as the scope.
_EVERYTHING: Final = ManifestLimits(max_lines=100_000, max_bytes=100_000_000)


@dataclass(frozen=True, slots=True)
class Only:
    """A resolver that resolves every request to one scope."""

    scope: str

    async def resolve(self, context: RequestContext) -> Sequence[str]:
        return (self.scope,)


@dataclass(slots=True)
class Conversation:
    """What a way of recalling injected so far, and how much of the evidence that let the model see."""

    tokens: int = 0
    bytes: int = 0
    first: int = 0
    now: list[float] = field(default_factory=list[float])
    so_far: list[float] = field(default_factory=list[float])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    _seen: set[str] = field(default_factory=set[str])

    def take(self, text: str, shown: frozenset[str], gold: frozenset[str]) -> None:
        """A turn that injected `text`, in which the facts `shown` stand, for a question that needs those of `gold`."""
        if not self.now:
            self.first = estimate_tokens(text)
        self.tokens += estimate_tokens(text)
        self.bytes += len(text.encode())
        self._seen |= shown
        self.now.append(len(gold & shown) / len(gold))
        self.so_far.append(len(gold & self._seen) / len(gold))


@dataclass(frozen=True, slots=True)
class Held:
    """A service whose only caller holds one scope of the corpus."""

    service: MemoryService
    lines: Mapping[Place, str]
    latest: str

    def ids(self, entries: Sequence[DigestEntry]) -> frozenset[str]:
        return frozenset(self.lines[Place.of(entry)] for entry in entries)

    async def whole(self) -> Offered:
        return Offered(await self.service.peek(CALLER, 100_000), journaled=False)


@asynccontextmanager
async def holding(scope: str, corpus: Sequence[Line]) -> AsyncGenerator[Held]:
    async with open_in_memory("memory://") as provider:
        assert can_write(provider)
        lines = await write_all(provider, corpus)
        latest = max(instant(line.get("time")) for line in corpus)
        async with MemoryService(provider, resolver=Only(scope), now=lambda: latest) as service:
            yield Held(service, lines, latest)


Turn = Callable[[str, frozenset[str]], Awaitable[None]]


async def by_block(held: Held, into: Conversation) -> Turn:
    """Everything that is remembered, each turn."""
    whole = await held.whole()
    text, shown = held.service.block(whole), held.ids(whole.digest.entries)

    async def turn(query: str, gold: frozenset[str]) -> None:
        into.take(text, shown, gold)

    return turn


async def by_digest(held: Held, into: Conversation, max_memories: int) -> Turn:
    async def turn(query: str, gold: frozenset[str]) -> None:
        offered = await held.service.offer(CALLER, query, max_memories=max_memories)
        into.take(held.service.block(offered), held.ids(offered.digest.entries), gold)

    return turn


async def selectively(held: Held, into: Conversation, depth: int, limits: SelectiveLimits) -> Turn:
    async def search(query: str, top_k: int) -> Sequence[Hit]:
        return await held.service.search(CALLER, SearchOptions(query=query, top_k=top_k))

    guard = SelectorGuard(SearchSelector(search, depth), trusted=True)
    entries = (await held.whole()).digest.entries
    ids = {encode_surfaced_key(entry.scope, entry.id): held.lines[Place.of(entry)] for entry in entries}
    now = datetime.fromisoformat(held.latest)
    seen: frozenset[str] = frozenset()

    async def turn(query: str, gold: frozenset[str]) -> None:
        nonlocal seen
        outcome: Outcome = await recall_selectively(SelectiveRequest(query, entries, now, seen, limits=limits), guard)
        seen |= outcome.surfaced
        into.outcomes[type(outcome).__name__] += 1
        text = outcome.text if isinstance(outcome, Block) else ""
        into.take(text, frozenset(ids[key] for key in outcome.surfaced), gold)

    return turn


_CAVEAT_ONCE: Final = SelectiveLimits(repeat_caveat=False, manifest=_EVERYTHING, body=BodyLimits(index=None))
_CAVEAT_EACH: Final = replace(_CAVEAT_ONCE, repeat_caveat=True)
_WITH_INDEX: Final = replace(_CAVEAT_ONCE, body=BodyLimits())

WAYS: Final[dict[str, Callable[[Held, Conversation], Awaitable[Turn]]]] = {
    "whole block": by_block,
    "digest of 20": lambda held, into: by_digest(held, into, 20),
    "digest of 5": lambda held, into: by_digest(held, into, 5),
    "selective, depth 5": lambda held, into: selectively(held, into, 5, _CAVEAT_ONCE),
    "selective, depth 10": lambda held, into: selectively(held, into, 10, _CAVEAT_ONCE),
    "selective, depth 20": lambda held, into: selectively(held, into, 20, _CAVEAT_ONCE),
    "10, caveat each turn": lambda held, into: selectively(held, into, 10, _CAVEAT_EACH),
    "10, with index": lambda held, into: selectively(held, into, 10, _WITH_INDEX),
}


def turns_of(questions: Sequence[Line], count: int) -> Sequence[Line]:
    """So many of the questions, spread evenly over all of them."""
    if len(questions) <= count:
        return questions
    return [questions[place * len(questions) // count] for place in range(count)]


async def converse(corpus: Sequence[Line], questions: Sequence[Line], turns: int) -> dict[str, list[Conversation]]:
    """The conversations of each way, one for each scope of the corpus."""
    by_scope: defaultdict[str, list[Line]] = defaultdict(list)
    for line in corpus:
        by_scope[str(line["scope"])].append(line)
    told: dict[str, list[Conversation]] = {way: [] for way in WAYS}
    for scope, facts in by_scope.items():
        asked = turns_of([line for line in questions if line["scope"] == scope and line["gold_ids"]], turns)
        async with holding(scope, facts) as held:
            for way, begin in WAYS.items():
                conversation = Conversation()
                turn = await begin(held, conversation)
                for line in asked:
                    await turn(line["query"], frozenset(line["gold_ids"]))
                told[way].append(conversation)
    return told


def print_costs(told: Mapping[str, Sequence[Conversation]]) -> None:
    whole = sum(conversation.tokens for conversation in told["whole block"])
    print(f"{'':<24}{'tokens':>10}{'ratio':>8}{'bytes':>11}{'this turn':>11}{'so far':>8}  outcomes")
    for way, conversations in told.items():
        tokens = sum(conversation.tokens for conversation in conversations)
        size = sum(conversation.bytes for conversation in conversations)
        now = 100 * mean(share for conversation in conversations for share in conversation.now)
        so_far = 100 * mean(share for conversation in conversations for share in conversation.so_far)
        outcomes = sum((conversation.outcomes for conversation in conversations), Counter[str]())
        counted = ", ".join(f"{name} {count}" for name, count in outcomes.most_common())
        print(f"{way:<24}{tokens:>10}{tokens / whole:>8.3f}{size:>11}{now:>11.1f}{so_far:>8.1f}  {counted}")
    once = sum(conversation.first for conversation in told["whole block"])
    print(f"{'whole block, once':<24}{once:>10}{once / whole:>8.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--skip-category", action="append", default=[])
    arguments = parser.parse_args()
    corpus = read_lines(arguments.corpus)
    questions = [line for line in read_lines(arguments.queries) if line.get("category") not in arguments.skip_category]
    told = anyio.run(converse, corpus, questions, arguments.turns)
    scopes = len(told["whole block"])
    print(f"{scopes} conversations of at most {arguments.turns} turns, {len(corpus)} memories")
    print_costs(told)


if __name__ == "__main__":
    main()
