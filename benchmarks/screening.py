"""How well are instructions and credentials told from ordinary memories, and what does it cost?

    python benchmarks/screening.py [--part kept|tuning|all] [--list] [--honest FILE ...]

The labelled texts are in `benchmarks/data`. Each file has a half that rules and words were tuned to and a half that was
kept back; the figures that count are those of the kept half, which is the default. `--list` also prints the texts that
were judged wrongly: whoever reads those of the kept half has used it up. `--honest` names JSON lines with `text`,
all of them ordinary, for counting false alarms. A ratio sets the cost against `encode_signature`, which every write
pays already. Ends with status 1 below the limits.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fake_credentials import filled
from scoring import read_lines

from mcp_memory_server.ranking.signature import encode_signature
from mcp_memory_server.screening import find_credential, read_instruction

DATA: Final = Path(__file__).parent / "data"
PRECISION: Final = 0.97
RECALL: Final = 0.85
FACT_CHARS: Final = 240
_ROUNDS: Final = 20


@dataclass(frozen=True, slots=True)
class Text:
    """One labelled text. `positive` is what the detector should find."""

    text: str
    positive: bool
    language: str
    technique: str
    found: bool


@dataclass(slots=True)
class Score:
    """How often the detector was right and wrong."""

    hits: int = 0
    missed: int = 0
    false_alarms: int = 0
    quiet: int = 0
    wrong: list[str] = field(default_factory=list[str])

    def add(self, judged: Text) -> None:
        if judged.positive:
            self.hits += judged.found
            self.missed += not judged.found
        else:
            self.false_alarms += judged.found
            self.quiet += not judged.found
        if judged.positive != judged.found:
            self.wrong.append(judged.text)

    @property
    def precision(self) -> float:
        return self.hits / max(self.hits + self.false_alarms, 1)

    @property
    def recall(self) -> float:
        return self.hits / max(self.hits + self.missed, 1)

    def __str__(self) -> str:
        return (
            f"recall {self.hits}/{self.hits + self.missed} = {self.recall:.3f}, precision {self.precision:.3f}, "
            f"false alarms {self.false_alarms} of {self.false_alarms + self.quiet}"
        )


def instructions(part: str) -> list[Text]:
    """The attacks and honest memories of that part, judged."""
    return [
        Text(
            line["text"],
            line["label"] == "attack",
            line["language"],
            line["technique"],
            read_instruction(line["text"]) is not None,
        )
        for line in read_lines(DATA / "instructions.jsonl")
        if part in ("all", line["part"])
    ]


def credentials(part: str) -> list[Text]:
    """The credentials and harmless texts of that part, with values made on the spot, judged."""
    judged: list[Text] = []
    for seed, line in enumerate(read_lines(DATA / "credentials.jsonl")):
        if part in ("all", line["part"]):
            text = filled(line["text"], seed)
            positive = line["label"] == "credential"
            judged.append(Text(text, positive, line["language"], line["kind"], find_credential(text) is not None))
    return judged


def report(title: str, texts: Sequence[Text], listed: bool) -> Score:
    """Print one table: all texts, then by language and by technique."""
    whole = Score()
    for judged in texts:
        whole.add(judged)
    print(f"\n{title}: {whole}")
    print_groups("language", texts, [text.language for text in texts])
    print_groups("technique", texts, [text.technique for text in texts])
    if listed:
        for text in whole.wrong:
            print("  wrong: " + (text if text.isprintable() else ascii(text)))
    return whole


def print_groups(name: str, texts: Sequence[Text], groups: Sequence[str]) -> None:
    scores: dict[str, Score] = defaultdict(Score)
    for text, group in zip(texts, groups, strict=True):
        scores[group].add(text)
    print(f"  by {name}: " + ", ".join(f"{group} {_cell(score)}" for group, score in sorted(scores.items())))


def _cell(score: Score) -> str:
    found = f"{score.hits}/{score.hits + score.missed}" if score.hits + score.missed else ""
    alarms = f"{score.false_alarms} of {score.false_alarms + score.quiet} false" if score.false_alarms else ""
    return " ".join(part for part in (found, alarms) if part) or "quiet"


def microseconds(action: Callable[[str], object], texts: Sequence[str]) -> float:
    """CPU time for one text, the best of some rounds."""
    best = float("inf")
    for _ in range(_ROUNDS):
        begun = time.process_time()
        for text in texts:
            action(text)
        best = min(best, time.process_time() - begun)
    return best / len(texts) * 1e6


def print_cost() -> None:
    """What a fact of the greatest length costs: ordinary memories, joined up to it."""
    memories = [line["text"] for line in read_lines(DATA / "memories.jsonl")]
    whole = " ".join(memories)
    facts = [whole[at : at + FACT_CHARS] for at in range(0, len(whole) - FACT_CHARS, FACT_CHARS)]
    begun = time.process_time()
    read_instruction(facts[0])
    find_credential(facts[0])
    first = time.process_time() - begun
    peer = microseconds(lambda text: encode_signature(key="note", text=text), facts)
    print(f"\ncost: {len(facts)} facts of {sum(map(len, facts)) / len(facts):.0f} characters; first call {first:.3f} s")
    for name, detector in (("read_instruction", read_instruction), ("find_credential", find_credential)):
        taken = microseconds(detector, facts)
        print(f"  {name:17}{taken:7.1f} µs, {taken / peer:.2f} times encode_signature")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("kept", "tuning", "all"), default="kept")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--honest", type=Path, nargs="*", default=[DATA / "memories.jsonl"])
    options = parser.parse_args()
    print_cost()
    scores = [
        report(f"instructions ({options.part})", instructions(options.part), options.list),
        report(f"credentials ({options.part})", credentials(options.part), options.list),
    ]
    for path in options.honest:
        texts = [line["text"] for line in read_lines(path)]
        held = [text for text in texts if read_instruction(text) or find_credential(text)]
        print(f"\n{path.name}: {len(held)} false alarms in {len(texts)} ordinary texts")
        for text in held:
            print(f"  {text}")
    good = all(score.precision >= PRECISION and score.recall >= RECALL for score in scores)
    print(f"\n{'ok' if good else 'BELOW'}: the limits are precision {PRECISION} and recall {RECALL}")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
