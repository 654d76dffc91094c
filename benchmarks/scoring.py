"""How well rankings agree with gold: recall at 5, 10 and 20 and nDCG at 10, averaged over questions, by category.

A question names its answers in `gold_ids`. Without any it is unanswerable, and what counts is whether nothing was
selected for it. `absent_ids` are facts that were corrected since: none of them may come.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Final, TypeAlias

Line: TypeAlias = Mapping[str, Any]
_DEPTHS: Final = (5, 10, 20)


def read_lines(path: Path) -> list[Line]:
    """The objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def recall(gold: frozenset[str], ids: Sequence[str], depth: int) -> float:
    """The share of the gold among the first `depth` ids."""
    return len(gold.intersection(ids[:depth])) / len(gold)


def ndcg(gold: frozenset[str], ids: Sequence[str], depth: int = 10) -> float:
    """Normalised discounted cumulative gain with gains of one."""
    gained = sum(1 / math.log2(place + 2) for place, found in enumerate(ids[:depth]) if found in gold)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(depth, len(gold))))


def print_table(questions: Sequence[Line], ranked: Sequence[Line]) -> None:
    """A row a category, then all answerable questions; unanswerable and corrected ones in a line of their own.

    The last column is recall at 10 of what a turn is shown, which leaves out what seems unrelated.
    """
    answers = {line["qid"]: line for line in ranked}
    rows: defaultdict[str, list[list[float]]] = defaultdict(list)
    silent: list[bool] = []
    stale = 0
    for question in questions:
        ids, shown = answers[question["qid"]]["ids"], answers[question["qid"]]["shown"]
        stale += bool(set(question.get("absent_ids", ())).intersection(ids))
        gold = frozenset(question["gold_ids"])
        if not gold:
            silent.append(not shown)
            continue
        scores = [*(recall(gold, ids, depth) for depth in _DEPTHS), ndcg(gold, ids), recall(gold, shown, 10)]
        rows[question.get("category", "-")].append(scores)
    print(f"{'category':<22}{'n':>6}{'R@5':>8}{'R@10':>8}{'R@20':>8}{'nDCG@10':>9}{'shown@10':>10}")
    for category, scores in sorted(rows.items()):
        _print_row(category, scores)
    _print_row("ALL", [scores for held in rows.values() for scores in held])
    if silent:
        print(f"unanswerable: nothing selected for {100 * mean(silent):.1f} % of {len(silent)}")
    if any("absent_ids" in question for question in questions):
        print(f"corrected facts that came all the same: {stale}")


def _print_row(category: str, scores: Sequence[Sequence[float]]) -> None:
    first, second, third, gain, shown = (100 * mean(column) for column in zip(*scores, strict=True))
    print(f"{category:<22}{len(scores):>6}{first:>8.1f}{second:>8.1f}{third:>8.1f}{gain:>9.1f}{shown:>10.1f}")
