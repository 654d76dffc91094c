"""How far does the token estimator err, for a tokenizer of your choice?

    python benchmarks/tokens.py TOKENIZER.json ... [--texts FILE.jsonl]

Needs the library `tokenizers` (the extra `onnx` brings it). Each TOKENIZER.json is a tokenizer in its format. The texts
are those of tests/recall/data, and those of FILE.jsonl, whose lines have a `text`. For each tokenizer: estimate over
count for all texts together, for the text where that is lowest, and how many texts were estimated too low.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from scoring import read_lines

from mcp_memory_server.recall import estimate_tokens

SAMPLES: Final = Path(__file__).parent.parent / "tests" / "recall" / "data" / "token_counts.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizers", type=Path, nargs="+")
    parser.add_argument("--texts", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    library: Any = import_module("tokenizers")
    for path in (SAMPLES, *arguments.texts):
        texts = [line["text"] for line in read_lines(path)]
        estimates = [estimate_tokens(text) for text in texts]
        print(f"{path.name}: {len(texts)} texts, {sum(estimates)} tokens estimated")
        for file in arguments.tokenizers:
            tokenizer = library.Tokenizer.from_file(str(file))
            counts = [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]
            ratios = [estimate / max(count, 1) for estimate, count in zip(estimates, counts, strict=True)]
            low = sum(ratio < 1 for ratio in ratios)
            print(f"  {sum(estimates) / sum(counts):5.2f}  lowest {min(ratios):5.2f}  too low {low:4}  {file}")


if __name__ == "__main__":
    main()
