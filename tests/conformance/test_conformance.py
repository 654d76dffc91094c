"""The protocol's official conformance suite against real servers over HTTP: whole requirement sets, in both eras.

The server as it is served passes what needs no fixtures; what it cannot pass stands in a baseline, each entry with its
reason, and an entry that no longer fails fails the run. The same server with the suite's fixtures in it passes all.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.process.web import SERVE, web_process

pytestmark = pytest.mark.process

SUITE = shutil.which("conformance")
if SUITE is None:
    if os.environ.get("CI"):
        raise RuntimeError("CI must have the conformance suite on its path: npm install --prefix .ci/node")
    pytest.skip("needs conformance on the path: npm install --prefix .ci/node", allow_module_level=True)

HERE: Final = Path(__file__).parent
REVISIONS: Final = ("2025-11-25", "2026-07-28")
HANG_S: Final = 300
NOTHING: Final = HERE / "nothing.yml"
FIXTURES: Final = (SERVE[0], str(HERE / "fixture_server.py"), *SERVE[3:])

Run = subprocess.CompletedProcess[str]


def baseline(revision: str) -> Path:
    return HERE / f"unmodified-{revision}.yml"


def judge(base: str, revision: str, folder: Path, *arguments: str) -> Run:
    """One run of everything that a revision of the protocol requires, against the server at `base`."""
    assert SUITE is not None
    command = [SUITE, "server", "--url", f"{base}/mcp", "--requirements", revision, "-o", str(folder), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANG_S, check=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], "Future[Run]"]]:
    """The suite's runs, beside each other, since it mostly waits; each is awaited by the test that asks for it."""
    folder = tmp_path_factory.mktemp("conformance")
    # Two suites at one server, all from one address, ask more in a moment than is let through by default.
    served = {"requests_per_minute": "0"}
    with ExitStack() as running:
        product = running.enter_context(web_process(folder, "product", **served))
        fixtures = running.enter_context(
            web_process(folder, "fixtures", command=FIXTURES, toolsets="conformance", url="memory://", **served)
        )
        beside = running.enter_context(ThreadPoolExecutor(2 * len(REVISIONS)))
        started: dict[tuple[str, str], Future[Run]] = {}
        for revision in REVISIONS:
            excused = ("--expected-failures", str(baseline(revision)))
            started["product", revision] = beside.submit(judge, product.base, revision, folder, *excused)
            started["fixtures", revision] = beside.submit(
                judge, fixtures.base, revision, folder, "--expected-failures", str(NOTHING)
            )
        yield started


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("server", ["product", "fixtures"])
def test_the_server_conforms(runs: dict[tuple[str, str], "Future[Run]"], server: str, revision: str) -> None:
    done = runs[server, revision].result()
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert "Baseline check passed" in done.stdout


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_failure_is_expected_without_a_reason(revision: str) -> None:
    entries = [line for line in baseline(revision).read_text("utf-8").splitlines() if line.startswith("  - ")]
    assert entries
    for entry in entries:
        assert re.fullmatch(r"  - [\w:-]+ # .+", entry), entry
