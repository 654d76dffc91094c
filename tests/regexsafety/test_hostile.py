"""Nothing that a stranger can send takes long, much memory, or the stack."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory_server.regexsafety import check_pattern, check_schema, guard_tools
from mcp_memory_server.regexsafety.explain import explain
from mcp_memory_server.regexsafety.verdict import Dialect

_HANG_S = 5.0
"""Five times what is promised: this guards against hanging, it does not measure."""

_HOSTILE = {
    "nested groups": "(" * 3000 + "a" + ")*" * 3000,
    "nested plain groups": "(?:" * 15_000 + "a" + ")" * 15_000,
    "nested loops": "(?:" * 100 + "a" + ")*" * 100,
    "open groups": "(" * 65_536,
    "open classes": "[" * 65_536,
    "backslashes": "\\" * 65_535,
    "alternatives": "(?:" + "|".join(f"w{i}" for i in range(8000)) + ")*x",
    "overlapping alternatives": "^(?:" + "|".join("a" * i for i in range(1, 300)) + ")*x",
    "stars": "a*" * 20_000,
    "different stars": "".join(f"[a-{chr(98 + i % 24)}]*" for i in range(9000)),
    "nested counts": "(((a{1,100}){1,100}){1,100}){1,100}$",
    "huge counts": "a{1,99999999999}" * 3000,
    "counted alternatives": "(A{9999999999}B|C*)*",
    "optional then fixed": "a?" * 400 + "a" * 400,
    "many optionals": "a?" * 30_000,
    "lookaheads": "^" + "".join(f"(?=.*{chr(97 + i % 26)})" for i in range(60)) + ".*b$",
    "nested lookaheads": "(?=(?=a*)*" * 100 + ")" * 100,
    "nested negative lookaheads": "(?!" * 2000 + "a" + ")" * 2000,
    "lookbehinds": "(?<=a*b)" * 5000,
    "references": "(a*)" + "\\1" * 20_000,
    "doubling references": "(a*)(\\1\\1)(\\2\\2)(\\3\\3)(\\4\\4)(\\5\\5)(\\6\\6)(\\7\\7)b",
    "captures and references": "(.*)" * 30 + "".join(f"\\{i}" for i in range(1, 31)) + "x",
    "a class of everything": "[" + "".join(chr(i) for i in range(0x4E00, 0xD000, 2)) + "]*x",
    "many classes": "".join(f"[{chr(i)}-{chr(i + 3)}]*" for i in range(0x4E00, 0x4E00 + 13_000)),
    "properties": "\\p{L}*\\P{Lu}*\\p{Script=Greek}*" * 1000,
    "anchors": "(^|\\b|$)*" * 5000,
    "words": "(\\b\\w+\\b\\s*)*" * 3000,
    "empty alternatives": "(|||||)*" * 7000,
    "dots": "(.*)*" * 10_000 + "x",
    "names": "".join(f"(?<n{i}>a*)" for i in range(4000)) + "\\k<n1>",
    "surrogates": "\ud83d" * 30_000 + "*",
    "counted classes": "\\d{1,1000}" * 60 + "x",
    "mixed counts": "(x{1,50}|y{2,60}|(?:ab){3,70})*" * 20 + "$",
}

_LARGE = ("huge counts", "many optionals", "captures and references", "a class of everything", "many classes", "names")


@pytest.mark.parametrize("name", sorted(_HOSTILE))
@pytest.mark.parametrize(("flags", "dialect"), [("iu", "ecma"), ("i", "python")])
def test_hostile_patterns_are_answered(name: str, flags: str, dialect: Dialect) -> None:
    begun = time.process_time()
    check_pattern(_HOSTILE[name], flags, dialect)
    assert time.process_time() - begun < _HANG_S


# The peak of this process alone: what getrusage tells on Linux includes the process that started it.
_PEAK_BYTES = """
import re, resource, sys
try:
    status = open("/proc/self/status").read()
    print(int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) * 1024)
except OSError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


def test_hostile_patterns_fit_into_two_hundred_megabytes() -> None:
    script = (
        "import json, sys\n"
        "from mcp_memory_server.regexsafety import check_pattern\n"
        "for pattern in json.load(sys.stdin): check_pattern(pattern)\n" + _PEAK_BYTES
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps([_HOSTILE[name] for name in _LARGE]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert 2**20 < int(done.stdout) < 200 * 2**20


def test_a_deep_call_stack_is_no_obstacle() -> None:
    def deep(left: int) -> str:
        return deep(left - 1) if left else check_pattern("(?:" * 40 + "a" + ")*" * 40 + "b").verdict

    assert deep(100) == "exponential"
    assert deep(850) in ("exponential", "unknown")


_ALPHABET = "ab()[]{}|*+?.^$\\dwsuxpk<>=!:-,019 P#\n\u00e9\U0001f600\ud83d"


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet=_ALPHABET, max_size=30), st.sampled_from(["", "u", "i", "ms"]))
def test_no_text_makes_the_checker_fail(pattern: str, flags: str) -> None:
    for dialect in ("ecma", "python"):
        begun = time.process_time()
        judged = check_pattern(pattern, flags, dialect)
        assert time.process_time() - begun < _HANG_S
        assert (judged.witness is not None) == (judged.verdict in ("polynomial", "exponential"))
        explain(judged)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["pattern", "patternProperties", "properties", "items", "$ref", "allOf", "not", "$defs", "(a+)+b"]
            ),
            inner | st.sampled_from(["(a|a)*b", "#", "#/$defs/x", "["]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(_JSON)
def test_no_json_makes_the_walk_or_the_guard_fail(value: object) -> None:
    check_schema(value)
    for policy in ("reject", "strip", "rewrite"):
        guard_tools([{"name": "t", "inputSchema": value}], policy)
