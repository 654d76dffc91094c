"""The command line as hosts and shells start it: processes, their streams and their exit status."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

HEAVY = {"mcp", "mcp_types", "numpy", "rich", "snowballstemmer"}


def environment(folder: Path, **variables: str) -> Mapping[str, str]:
    """Nothing of ours but what is given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
    return {**kept, **homes, "MCP_MEMORY_ACTOR": "ann", "PYTHONWARNINGS": "error", **variables}


def run(
    folder: Path, *arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "mcp_memory_server", *arguments],
        input=stdin,
        capture_output=True,
        env=variables or environment(folder),
        cwd=folder,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store for what only reads."""
    folder = tmp_path_factory.mktemp("filled")
    run(folder, "remember", "office", "Lyon")
    return folder


@pytest.mark.parametrize(
    "arguments",
    [["block"], ["list"], ["--help"], ["--version"], ["block", "--help"], ["stats"], ["export"], ["history", "office"]],
    ids=" ".join,
)
def test_what_only_reads_loads_neither_the_sdk_nor_numpy(filled: Path, arguments: list[str]) -> None:
    probe = (
        "import sys\nfrom mcp_memory_server.cli import commands\n"
        f"commands.main({arguments!r}, standalone_mode=False)\n"
        f"print(*sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, env=environment(filled), timeout=60, check=True
    )
    assert done.stdout
    assert done.stderr.decode().split() == []


def test_a_question_loads_no_sdk(tmp_path: Path) -> None:
    probe = (
        "import sys\nfrom mcp_memory_server.cli import commands\n"
        "commands.main(['block', 'where is the office?'], standalone_mode=False)\n"
        "assert not {'mcp', 'rich'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", probe], env=environment(tmp_path), timeout=60, check=True)


def test_answers_go_to_stdout_and_the_rest_to_stderr(tmp_path: Path) -> None:
    stored = run(tmp_path, "remember", "office", "Lyon", "--json", "--log-level", "DEBUG")
    assert json.loads(stored.stdout)["status"] == "stored"
    assert b"DEBUG" in stored.stderr
    assert b"Lyon" not in stored.stderr
    missing = run(tmp_path, "forget", "nothing")
    assert (missing.returncode, missing.stdout) == (1, b"")
    assert missing.stderr.startswith(b"Error: ")
    wrong = run(tmp_path, "list", variables=environment(tmp_path, MCP_MEMORY_MAX_MEMORIES="many"))
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert b"MCP_MEMORY_MAX_MEMORIES" in wrong.stderr
    assert run(tmp_path, "memorise").returncode == 2


def test_pipes_carry_utf8_whatever_the_locale(tmp_path: Path) -> None:
    for locale in ("C", "POSIX"):
        folder = tmp_path / locale
        folder.mkdir()
        asked = environment(folder, LC_ALL=locale, PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
        run(folder, "remember", "office", "-", stdin="Lyon, près de la gare 東京".encode(), variables=asked)
        shown = run(folder, "list", "--json", variables=asked)
        assert json.loads(shown.stdout.decode())["records"][0]["text"] == "Lyon, près de la gare 東京"


def test_the_default_store_is_made_for_its_owner_only(tmp_path: Path) -> None:
    assert run(tmp_path, "remember", "office", "Lyon").returncode == 0
    path = tmp_path / "mcp-memory-server" / "memory.db"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_reader_that_goes_away_is_no_crash(tmp_path: Path) -> None:
    run(tmp_path, "remember", "office", "Lyon")
    command = f'"{sys.executable}" -m mcp_memory_server export | true'
    done = subprocess.run(command, shell=True, capture_output=True, env=environment(tmp_path), timeout=60, check=False)
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("arguments", [["remember", "office", "-"], ["import", "-"], ["block", "-"]], ids=" ".join)
def test_ctrl_c_ends_a_command_that_waits_for_its_input(tmp_path: Path, arguments: list[str]) -> None:
    # The interpreter tells what it imports, and a command's module is the last one before its arguments are read.
    module = {"remember": "writing", "import": "store", "block": "reading"}[arguments[0]]
    with subprocess.Popen(
        [sys.executable, "-v", "-m", "mcp_memory_server", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    ) as process:
        assert process.stderr is not None
        while f"import 'mcp_memory_server.cli.{module}'".encode() not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in errors


def test_serving_with_no_arguments_ends_with_its_input(tmp_path: Path) -> None:
    served = run(tmp_path)
    assert (served.returncode, served.stdout) == (0, b"")
    assert b"Waiting for" not in served.stderr  # nobody sits at a terminal


def test_serving_a_store_that_cannot_be_opened_is_one_clear_error(tmp_path: Path) -> None:
    refused = run(tmp_path, variables=environment(tmp_path, MCP_MEMORY_URL="sqlite:///$HOME/memory.db"))
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"nothing expands" in refused.stderr
    assert b"Traceback" not in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_on_a_terminal_it_says_that_it_waits_for_a_client(tmp_path: Path) -> None:
    main_end, terminal = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "mcp_memory_server"],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    ) as process:
        assert process.stderr is not None
        assert b"Waiting for an MCP client" in process.stderr.readline()
        process.terminate()
        out, _ = process.communicate(timeout=30)
    os.close(main_end)
    os.close(terminal)
    assert out == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize("command", ["list", "export", "check-regex a"])
def test_an_answer_that_cannot_be_written_is_one_line_of_error(filled: Path, command: str) -> None:
    done = _shell(filled, f"{command} >/dev/full")
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert done.stderr.startswith(b"Error: The answer cannot be written: ")


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["serve", "remember office Lyon", "remember office -"])
def test_a_process_without_standard_streams_breaks_nothing(tmp_path: Path, command: str, closing: str) -> None:
    done = _shell(tmp_path, f"{command} {closing}")
    assert done.returncode in (0, 1, 2)
    assert b"Traceback" not in done.stdout + done.stderr
    assert run(tmp_path, "doctor").returncode == 0


def _shell(folder: Path, command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", f"{sys.executable} -m mcp_memory_server {command}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(folder, PYTHONWARNINGS="ignore"),  # the SDK warns of an end without a beginning
        cwd=folder,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("arguments", "status"), [(["list"], 0), (["history", "nothing"], 1)])
def test_the_status_stands_while_a_thread_that_nobody_waits_for_is_busy(
    tmp_path: Path, arguments: list[str], status: int
) -> None:
    """An embedder's native code may be at work still when a command has ended."""
    program = (
        "import sys, threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start();"
        "from mcp_memory_server.__main__ import main; sys.argv[1:] = sys.argv[2:]; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, "-", *arguments],
        capture_output=True,
        env=environment(tmp_path),
        timeout=60,
        check=False,
    )
    assert ended.returncode == status, ended.stderr
    assert b"Traceback" not in ended.stderr
