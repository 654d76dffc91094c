"""`check-server`, attached to real servers: ours, a hostile one, and such as break the protocol."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


def told(folder: Path, *arguments: str) -> str:
    """What is said of a server that cannot be checked."""
    done = check_server(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
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


def test_a_person_reads_a_table(tmp_path: Path, url: str) -> None:
    done = check_server(tmp_path, url)
    heading, first, *_ = done.stdout.splitlines()
    assert done.returncode == 1
    assert heading.split() == ["TOOL", "PLACE", "POINTER", "VERDICT", "COST", "PATTERN"]
    assert first.split()[:4] == ["search", "inputSchema", "/properties/q/pattern", "exponential"]
    assert "4 patterns in 3 tools, of which not safe: 2 exponential, 1 polynomial." in done.stdout


def test_code_scanning_gets_sarif(tmp_path: Path, url: str) -> None:
    done = check_server(tmp_path, url, "--sarif")
    (run,) = json.loads(done.stdout)["runs"]
    assert done.returncode == 1
    names = [found["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] for found in run["results"]]
    assert names == [f"{tool}/{place}#{pointer}" for tool, place, pointer, _ in FOUND]


def test_our_own_server_is_safe(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "mcp_memory_server", "--url", "memory://", "--project", "shop")
    done = check_server(tmp_path, "--", *command)
    assert (done.returncode, done.stderr) == (0, "")
    assert "in 4 tools, nothing that can hang a host" in done.stdout


def test_the_server_gets_the_variables_that_it_is_given(tmp_path: Path) -> None:
    done = check_server(tmp_path, "--json", "--env", "TOOL_NAME=named=so", "--", *HOSTILE, "stdio")
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
        ("dying", "ended the connection"),
        ("refusing", "not \\x1b[2J today"),
    ],
)
def test_a_server_that_breaks_the_protocol_is_told_of(tmp_path: Path, fault: str, complaint: str) -> None:
    assert complaint in told(tmp_path, "--", *FAULTY, fault)


def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    complaint = told(tmp_path, "--timeout-s", "3", "--", *FAULTY, "silent")
    assert "did not list its tools within 3 s" in complaint
    assert "thinking \\x1b[2J it over" in complaint


@pytest.mark.parametrize("habit", ["junk", "asking", "toolless"])
def test_what_hosts_put_up_with_is_no_fault(tmp_path: Path, habit: str) -> None:
    done = check_server(tmp_path, "--", *FAULTY, habit)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 patterns in 0 tools" in done.stdout


def test_what_is_not_there_cannot_be_reached(tmp_path: Path) -> None:
    assert "No such file" in told(tmp_path, "--", str(tmp_path / "no-such-program"))
    assert "ended the connection" in told(tmp_path, "--", sys.executable, "-c", "")
    assert "cannot be reached" in told(tmp_path, "http://127.0.0.1:9/mcp")


def test_a_failure_is_json_for_programs(tmp_path: Path) -> None:
    error = json.loads(check_server(tmp_path, "--json", "http://127.0.0.1:9/mcp").stderr)["error"]
    assert error["code"] == "unreadable"


@pytest.mark.parametrize("arguments", [[], ["--env", "A"], ["http://127.0.0.1:9/mcp", "--env", "A=b"]], ids=" ".join)
def test_wrong_usage_is_told_before_anything_is_started(tmp_path: Path, arguments: list[str]) -> None:
    done = check_server(tmp_path, *arguments)
    assert done.returncode == 2
    assert "Usage:" in done.stderr
