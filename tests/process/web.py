"""A server process on a port of its own, for the tests."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .session import HANG_S, environment

SERVE: Final = (sys.executable, "-m", "mcp_memory_server", "serve", "--transport", "streamable-http,sse", "--port", "0")


@dataclass(frozen=True)
class WebProcess:
    process: "subprocess.Popen[bytes]"
    log: Path
    base: str

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """The exit status, and how many seconds it took."""
        began = time.monotonic()
        self.process.send_signal(number)
        return self.process.wait(HANG_S), time.monotonic() - began


def settings(folder: Path, **given: str) -> Mapping[str, str]:
    return environment(folder, **({"url": f"sqlite:///{folder / 'memory.db'}", "actor": "ann"} | given))


@contextmanager
def web_process(
    folder: Path, name: str = "web", *, command: Sequence[str] = SERVE, **given: str
) -> Generator[WebProcess]:
    """A server that is ready, killed at the end if it still runs."""
    log = folder / f"{name}.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(command, stderr=stderr, env=dict(settings(folder, **given)), cwd=folder)
    try:
        yield WebProcess(process, log, _base(process, log))
    finally:
        process.kill()
        process.wait(HANG_S)


def _base(process: "subprocess.Popen[bytes]", log: Path) -> str:
    end = time.monotonic() + HANG_S
    while process.poll() is None and time.monotonic() < end:
        text = log.read_text("utf-8", "replace")
        if (found := re.search(r"at (http://\S+)/mcp", text)) and "startup complete" in text:
            return found[1]
        time.sleep(0.02)
    raise AssertionError(log.read_text("utf-8", "replace"))
