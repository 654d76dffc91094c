"""Runs one target under atheris: `python -m tests.regexsafety.fuzzing TARGET [libFuzzer's options and folders]`.

`-runs=10000 -seed=1` bounds it and makes it repeatable; a file as the last argument replays what was found.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


def main() -> None:
    """Fuzz until libFuzzer's options say stop."""
    atheris: Any = importlib.import_module("atheris")
    name, options = sys.argv[1], sys.argv[2:]
    with atheris.instrument_imports(include=["mcp_memory_server.regexsafety"], enable_loader_override=False):
        targets: Any = importlib.import_module("tests.regexsafety.fuzzing.targets")
    atheris.Setup([sys.argv[0], *options], targets.TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
