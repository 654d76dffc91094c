"""`mcp-memory-server demo`, with and without rich."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .test_process import environment, run

pytestmark = pytest.mark.process


def test_the_demo_shows_every_promise_and_leaves_nothing_behind(tmp_path: Path) -> None:
    variables = environment(tmp_path, TMPDIR=str(tmp_path), MCP_MEMORY_MAX_MEMORIES="1")
    done = run(tmp_path, "demo", "--json", variables=variables)
    assert (done.returncode, done.stderr) == (0, b"")
    scenes = json.loads(done.stdout)["scenes"]
    shown = "\n".join(scene["outcome"] for scene in scenes)
    assert "It overrides a wider value at tenant:acme" in shown
    assert "↳ [tenant:acme] person: The fiscal year starts in April." in shown
    assert "version 2: Ada plans from July to June." in shown
    assert "Now: in no file, and in no block." in shown
    assert json.loads(scenes[-1]["outcome"])["mcpServers"]["memory"]["args"] == ["-m", "mcp_memory_server"]
    assert list(tmp_path.iterdir()) == []


def test_who_stops_reading_gets_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mcp_memory_server", "demo"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(tmp_path, PYTHONUNBUFFERED="1"), stdout=pipe, stderr=pipe) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        while b"A client attaches" not in demo.stdout.readline():
            pass
        demo.stdout.close()
        assert demo.stderr.read() == b""
        assert demo.wait(60) == 1


@pytest.mark.parametrize("rich", ["with rich", "without rich"])
def test_the_demo_is_readable_with_and_without_rich(tmp_path: Path, rich: str) -> None:
    hidden = "sys.modules['rich'] = sys.modules['rich.console'] = None\n" if rich == "without rich" else ""
    probe = (
        f"import sys\n{hidden}sys.argv = ['mcp-memory-server', 'demo']\n"
        "from mcp_memory_server.__main__ import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, env=environment(tmp_path), timeout=60, check=False
    )
    shown = done.stdout.decode()
    assert "the published one stays in sight" in " ".join(shown.split())
    assert (done.returncode, done.stderr) == (0, b"")
    assert ("== Forget" in shown) is (rich == "without rich")
    assert "Forgot 'allergies' at actor:ada." in shown
    assert shown.rstrip().endswith("}")
