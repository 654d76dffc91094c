"""A client of a server process that writes lines and reads lines, so that its own work does not hide the server's."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Client:
    """One server process, one call at a time."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._pid = server.pid
        self._requests, self._answers = server.stdin, server.stdout
        self._number = 0

    def notify(self, method: str) -> None:
        self._write({"jsonrpc": "2.0", "method": method})

    def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return json.loads(self._exchange(method, params))["result"]

    def call(self, tool: str, arguments: dict[str, Any] | None = None, meta: dict[str, Any] | None = None) -> float:
        """Milliseconds until the answer was read."""
        params = {"name": tool, "arguments": arguments or {}, **({"_meta": meta} if meta else {})}
        started = time.perf_counter()
        line = self._exchange("tools/call", params)
        taken = (time.perf_counter() - started) * 1000
        answer = json.loads(line)["result"]  # after the clock: what the client makes of the line is its own work
        assert not answer.get("isError"), answer
        return taken

    def processor_ms(self) -> float:
        """What the server's threads have used so far. Linux only; 0 elsewhere."""
        spent = Path(f"/proc/{self._pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in spent) / 1_000_000

    def memory_mb(self) -> float:
        """The server's resident memory. Linux only; 0 elsewhere."""
        status = Path(f"/proc/{self._pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def _exchange(self, method: str, params: dict[str, Any]) -> bytes:
        """The line that answers a request."""
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._answers.readline()

    def _write(self, message: dict[str, Any]) -> None:
        self._requests.write(json.dumps(message).encode() + b"\n")
        self._requests.flush()


@contextmanager
def attached(arguments: Sequence[str]) -> Generator[Client]:
    """A greeted client of the server that `python ARGUMENTS` starts."""
    with subprocess.Popen([sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        client = Client(server)
        client.send(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "benchmark", "version": "1"},
            },
        )
        client.notify("notifications/initialized")
        client.send("tools/list", {})
        yield client
        assert server.stdin is not None
        server.stdin.close()
        server.wait(10)
