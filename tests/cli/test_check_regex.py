"""`check-regex`: patterns as arguments, and a stream of them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import CommandLine
from .test_process import environment

EVIL = "^(a+)+$"


def test_a_person_reads_verdict_reason_attack_and_cost(line: CommandLine) -> None:
    result = line.run("check-regex", EVIL)
    assert result.exit_code == 1
    shown = dict(row.strip().split(maxsplit=1) for row in result.stdout.splitlines()[1:])
    assert result.stdout.splitlines()[0] == EVIL
    assert shown["verdict"] == "exponential"
    assert "more than one way" in shown["why"]
    assert "'a' * n" in shown["attack"]
    assert shown["cost"].startswith("about a second at ")


def test_the_degree_of_a_polynomial_is_told(line: CommandLine) -> None:
    assert "polynomial(2)" in line.run("check-regex", r"\s+$").stdout


def test_safe_patterns_end_with_status_0(line: CommandLine) -> None:
    shown = line.ok("check-regex", "^[a-z]+$", "")
    assert shown.count("verdict  safe") == 2
    assert "(the empty pattern)" in shown


@pytest.mark.parametrize("pattern", [EVIL, r"\s+$", "("])
def test_one_pattern_that_is_not_safe_makes_the_status_1(line: CommandLine, pattern: str) -> None:
    assert line.run("check-regex", "^a$", pattern).exit_code == 1


def test_flags_and_dialect_decide_what_compiles(line: CommandLine) -> None:
    assert line.run("check-regex", r"\-").exit_code == 0
    assert "invalid" in line.run("check-regex", "--flags", "u", r"\-").stdout
    assert "invalid" in line.run("check-regex", "(?P<a>x)").stdout
    assert line.run("check-regex", "--dialect", "python", "(?P<a>x)").exit_code == 0


@pytest.mark.parametrize(("dialect", "known"), [("ecma", "dgimsuvy"), ("python", "aimsux")])
def test_flags_that_there_are_not_are_told_with_those_that_there_are(
    line: CommandLine, dialect: str, known: str
) -> None:
    for flags in ("z", "iz"):
        result = line.run("check-regex", "--dialect", dialect, "--flags", flags, "a")
        assert result.exit_code == 1
        assert f"flags '{flags}' (known: {known}" in result.stdout
    assert known in line.ok("check-regex", "--help")
    # Each of them alone is taken; v is known and not judged.
    judged = line.run(
        "check-regex", "--json", "--dialect", dialect, "--flags", known.replace("v", "").replace("u", ""), "a"
    )
    assert json.loads(judged.stdout)["safe"] is True


def test_an_explanation_draws_two_readings(line: CommandLine) -> None:
    shown = line.run("check-regex", "--explain", EVIL).stdout
    assert "one way" in shown
    assert "another" in shown


def test_json_holds_every_verdict_in_full(line: CommandLine) -> None:
    result = line.run("check-regex", "--json", "^a$", EVIL)
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert document["safe"] is False
    assert [verdict["verdict"] for verdict in document["patterns"]] == ["safe", "exponential"]
    assert set(document["patterns"][1]["attack"]) == {"prefix", "pump", "suffix"}


def test_a_pattern_cannot_steer_the_terminal(line: CommandLine) -> None:
    shown = line.run("check-regex", "\x1b[31ma(b+)+$", "\udcff").stdout
    assert all(row.isprintable() for row in shown.splitlines())


def test_an_attack_that_is_long_is_left_to_json(line: CommandLine) -> None:
    result = line.run("check-regex", f"^{'xyz' * 200}(a+)+$")
    assert "too long to show: see --json" in result.stdout


def test_nothing_to_check_is_wrong_usage(line: CommandLine) -> None:
    assert "at least one PATTERN" in line.fails("check-regex", status=2)


# --- lines ------------------------------------------------------------------------------------------


def answers(shown: str) -> list[dict[str, object]]:
    return [json.loads(row) for row in shown.splitlines()]


def test_lines_are_answered_in_order_and_the_status_is_0_whatever_they_hold(line: CommandLine) -> None:
    asked = '{"pattern": "^(a+)+$", "flags": "u", "id": 7}\n\n{"pattern": "é"}\n{"pattern": "("}'
    shown = line.ok("check-regex", "--jsonl", stdin=asked)
    assert shown.isascii()
    found = answers(shown)
    assert [answer["verdict"] for answer in found] == ["exponential", "safe", "invalid"]
    assert [list(answer) for answer in found] == [["pattern", "flags", "verdict", "degree", "attack", "ms"]] * 3


@pytest.mark.parametrize("bad", [b"{", b"[]", b'{"flags": "u"}', b'"\xff"', b"\xe2\x80\xa8{"])
def test_a_line_that_is_no_request_ends_it_with_status_2_and_its_number(line: CommandLine, bad: bytes) -> None:
    result = line.run("check-regex", "--jsonl", stdin=b'{"pattern": "a"}\n' + bad + b'\n{"pattern": "b"}\n')
    assert result.exit_code == 2
    assert "line 2" in result.stderr
    assert len(answers(result.stdout)) == 1


def test_a_byte_order_mark_and_windows_line_ends_are_read(line: CommandLine) -> None:
    shown = line.ok("check-regex", "--jsonl", stdin=b'\xef\xbb\xbf{"pattern": "a"}\r\n{"pattern": "b\\r"}\r\n')
    assert [answer["pattern"] for answer in answers(shown)] == ["a", "b\r"]


def test_a_failure_is_json_for_programs(line: CommandLine) -> None:
    error = json.loads(line.fails("check-regex", "--jsonl", "--json", status=2, stdin="nope"))["error"]
    assert error["code"] == "unreadable"


@pytest.mark.parametrize("more", [["a"], ["--flags", "u"], ["--explain"]], ids=" ".join)
def test_with_lines_there_are_no_patterns_and_no_drawings(line: CommandLine, more: list[str]) -> None:
    assert "--jsonl" in line.fails("check-regex", "--jsonl", *more, status=2)


# --- processes --------------------------------------------------------------------------------------


@pytest.fixture
def stream(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "mcp_memory_server", "check-regex", "--jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path)
    ) as process:
        yield process
        process.kill()


@pytest.mark.process
def test_each_answer_comes_before_the_next_question(stream: subprocess.Popen[bytes]) -> None:
    assert stream.stdin is not None
    assert stream.stdout is not None
    for pattern in ("a", EVIL, "b"):
        stream.stdin.write(json.dumps({"pattern": pattern}).encode() + b"\n")
        stream.stdin.flush()
        assert json.loads(stream.stdout.readline())["pattern"] == pattern
    _, errors = stream.communicate(timeout=60)
    assert (stream.returncode, errors) == (0, b"")


@pytest.mark.process
@pytest.mark.parametrize("arguments", [["check-regex", "a"], ["check-schema", "-"]], ids=" ".join)
def test_what_hooks_call_loads_nothing_heavy(tmp_path: Path, arguments: list[str]) -> None:
    heavy = {"mcp", "mcp_types", "numpy", "pydantic", "pydantic_settings", "anyio", "asyncio", "jsonschema"}
    probe = (
        "import sys\nfrom mcp_memory_server.cli import commands\n"
        f"commands.main({arguments!r}, standalone_mode=False)\n"
        f"print(*sorted({heavy!r} & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        input=b"{}",
        capture_output=True,
        env=environment(tmp_path),
        timeout=60,
        check=True,
    )
    assert done.stdout
    assert done.stderr.split() == []
