"""`check-server`, attached to real servers: ours, a hostile one, and such as break the protocol."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mcp_memory_server.cli import commands

from .session import HANG_S, environment

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
HOSTILE = (sys.executable, str(HERE / "hostile_server.py"))
FAULTY = (sys.executable, str(HERE / "faulty_server.py"))

FOUND = [
    ("search", "inputSchema", "/properties/q/pattern", "exponential"),
    ("search", "outputSchema", "/patternProperties/\\s+$", "polynomial"),
    ("hidden", "inputSchema", "/$defs/item/pattern", "exponential"),
]


def check_server(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcp_memory_server", "check-server", *arguments],
        capture_output=True,
        text=True,
        env=environment(folder),
        cwd=folder,
        timeout=HANG_S,
        check=False,
    )


def check_here(*arguments: str) -> Result:
    """The same command in this process, where the SDK is loaded once; the server is a process all the same."""
    return CliRunner().invoke(commands, ["check-server", *arguments], prog_name="mcp-memory-server")


def told(*arguments: str) -> str:
    """What is said of a server that cannot be checked."""
    done = check_here(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The hostile server over HTTP."""
    with subprocess.Popen([*HOSTILE, "http"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def findings(shown: str) -> list[tuple[Any, ...]]:
    document = json.loads(shown)
    assert (document["safe"], document["tools"], document["checked"]) == (False, 3, 4)
    return [tuple(found[field] for field in ("tool", "place", "pointer", "verdict")) for found in document["findings"]]


def test_a_hostile_server_is_found_out_over_stdio(tmp_path: Path) -> None:
    done = check_server(tmp_path, "--json", "--", *HOSTILE, "stdio")
    assert (done.returncode, done.stderr) == (1, "")
    assert findings(done.stdout) == FOUND


def test_a_hostile_server_is_found_out_over_http(tmp_path: Path, url: str) -> None:
    done = check_server(tmp_path, url, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    assert findings(done.stdout) == FOUND


def test_a_person_reads_a_table(url: str) -> None:
    done = check_here(url)
    heading, first, *_ = done.stdout.splitlines()
    assert done.exit_code == 1
    assert heading.split() == ["TOOL", "PLACE", "POINTER", "VERDICT", "COST", "PATTERN"]
    assert first.split()[:4] == ["search", "inputSchema", "/properties/q/pattern", "exponential"]
    assert "4 patterns in 3 tools, of which not safe: 2 exponential, 1 polynomial." in done.stdout


def test_code_scanning_gets_sarif(url: str) -> None:
    done = check_here(url, "--sarif")
    (run,) = json.loads(done.stdout)["runs"]
    assert done.exit_code == 1
    names = [found["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] for found in run["results"]]
    assert names == [f"{tool}/{place}#{pointer}" for tool, place, pointer, _ in FOUND]


def test_our_own_server_is_safe() -> None:
    done = check_here("--", sys.executable, "-m", "mcp_memory_server", "--url", "memory://", "--project", "shop")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "in 4 tools, nothing that can hang a host" in done.stdout


def test_the_server_gets_the_variables_that_it_is_given() -> None:
    done = check_here("--json", "--env", "TOOL_NAME=named=so", "--", *HOSTILE, "stdio")
    assert findings(done.stdout)[0][0] == "named=so"


def test_no_validator_is_loaded_by_attaching(tmp_path: Path) -> None:
    probe = (
        "import sys\nfrom mcp_memory_server.cli import commands\n"
        f"commands.main(['check-server', '--', *{HOSTILE!r}, 'stdio'], standalone_mode=False)\n"
        "assert 'mcp.client.client' in sys.modules and 'jsonschema' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, env=environment(tmp_path), timeout=HANG_S, check=True
    )


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ("odd", "not as the protocol says"),
        ("wrong", "not as the protocol says"),
        ("stuck", "does not end"),
        ("endless", "does not end"),
        ("dying", "ended with status 3 before it had listed its tools"),
        ("crashing", "was ended by signal 6 (Abort"),
        ("leaving", "ended the connection"),
        ("refusing", "not \\x1b[2J today"),
    ],
)
def test_a_server_that_breaks_the_protocol_is_told_of(fault: str, complaint: str) -> None:
    assert complaint in told("--", *FAULTY, fault)


def test_a_server_that_never_answers_is_given_up() -> None:
    complaint = told("--timeout-s", "3", "--", *FAULTY, "silent")
    assert "did not list its tools within 3 s" in complaint
    assert "thinking \\x1b[2J it over" in complaint


@pytest.mark.parametrize("habit", ["junk", "asking", "toolless"])
def test_what_hosts_put_up_with_is_no_fault(habit: str) -> None:
    done = check_here("--", *FAULTY, habit)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "0 patterns in 0 tools" in done.stdout


def test_what_is_not_there_cannot_be_reached(tmp_path: Path) -> None:
    assert "No such file" in told("--", str(tmp_path / "no-such-program"))
    assert "ended with status 0 before" in told("--", sys.executable, "-c", "")
    assert "cannot be reached" in told("http://127.0.0.1:9/mcp")


def test_the_server_is_named_as_it_was_given() -> None:
    assert told("http://127.0.0.1:9/mcp").startswith("Error: http://127.0.0.1:9/mcp cannot be checked. It ")
    assert told("--", "/no/such", "a b").startswith("Error: /no/such 'a b' cannot be checked. It cannot be started")
    long = told("--", "/no/such", "x" * 1_000)
    assert "x…" in long
    assert "x" * 200 not in long


def test_a_failure_is_json_for_programs() -> None:
    error = json.loads(check_here("--json", "http://127.0.0.1:9/mcp").stderr)["error"]
    assert error["code"] == "unreadable"


@pytest.mark.parametrize("arguments", [[], ["--env", "A"], ["http://127.0.0.1:9/mcp", "--env", "A=b"]], ids=" ".join)
def test_wrong_usage_is_told_before_anything_is_started(arguments: list[str]) -> None:
    done = check_here(*arguments)
    assert done.exit_code == 2
    assert "Usage:" in done.stderr
