"""Every pattern of the part is judged by our own checker: text that is screened may be anyone's."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

from mcp_memory_server import screening
from mcp_memory_server.regexsafety import check_pattern

FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x", re.ASCII: "a"}


def held(value: object) -> Iterator[re.Pattern[str]]:
    """The patterns that a value is or holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for member in value:  # pyright: ignore[reportUnknownVariableType]
            yield from held(member)  # pyright: ignore[reportUnknownArgumentType]
    elif is_dataclass(value) and not isinstance(value, type):
        yield from held([getattr(value, field.name) for field in fields(value)])


def patterns() -> dict[str, re.Pattern[str]]:
    found: dict[str, re.Pattern[str]] = {}
    for module in pkgutil.walk_packages(screening.__path__, screening.__name__ + "."):
        for name, value in vars(importlib.import_module(module.name)).items():
            found |= {
                f"{module.name.removeprefix(screening.__name__)}.{name}-{place}": pattern
                for place, pattern in enumerate(held(value))
            }
    return found


PATTERNS = patterns()


@pytest.mark.parametrize("name", PATTERNS)
def test_no_text_makes_a_pattern_slow(name: str) -> None:
    pattern = PATTERNS[name]
    flags = "".join(letter for flag, letter in FLAGS.items() if pattern.flags & flag)
    judged = check_pattern(pattern.pattern, flags, dialect="python")
    assert judged.verdict == "safe", judged


def test_the_patterns_were_found() -> None:
    assert len(PATTERNS) > 30
