"""A server process over stdio, driven by a small client of our own: it sees every byte, which the SDK's hides.

It is synchronous. Requests may be sent without waiting for answers, to one server or to several, and every answer
knows when it arrived: so tests show that parties overlap without threads of their own.
"""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

SERVER: Final = (sys.executable, "-m", "mcp_memory_server")
HANG_S: Final = 60.0
"""Longer than anything here takes on a busy machine, many times over."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A JSON-RPC response and when it arrived, on the monotonic clock."""

    message: dict[str, Any]
    at: float

    @property
    def is_error(self) -> bool:
        return "error" in self.message or bool(self.message["result"].get("isError"))

    @property
    def text(self) -> str:
        """What a model or a person is shown."""
        if "error" in self.message:
            return self.message["error"]["message"]
        return "\n".join(block["text"] for block in self.message["result"]["content"])

    @property
    def data(self) -> dict[str, Any]:
        """The structured content of a call that succeeded."""
        assert not self.is_error, self.text
        return self.message["result"]["structuredContent"]


class Session:
    """One server process and its client. Leaving the `with` block closes its input and waits for its end."""

    def __init__(self, environment: Mapping[str, str], folder: Path, log: Path) -> None:
        self.log = log
        with log.open("ab") as stderr:
            self.process = subprocess.Popen(
                SERVER,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=dict(environment),
                cwd=folder,
            )
        self.junk: list[bytes] = []
        """Lines of standard output that are no JSON-RPC message."""
        self.unasked: list[dict[str, Any]] = []
        """Messages that answer no request of ours: notifications, and errors without an id."""
        self._answers: dict[Any, Answer] = {}
        self._arrived = threading.Condition()
        self._ended = False
        self._last_id = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._greeting = self.request(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
        )

    def ready(self) -> Self:
        """Wait until the server has answered the handshake."""
        assert "result" in self.answer(self._greeting).message, self.logged()
        self.send_line(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return self

    # --- sending and receiving ------------------------------------------------------------------------

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request; its id. Lone surrogates travel as JSON escapes."""
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": dict(params or {})}
        self.send_line(json.dumps(message).encode())
        return self._last_id

    def answer(self, request_id: object, within_s: float = HANG_S) -> Answer:
        """The response to that id."""
        with self._arrived:
            self._arrived.wait_for(lambda: request_id in self._answers or self._ended, within_s)
            assert request_id in self._answers, f"no answer to {request_id!r}\n{self.logged()}"
            return self._answers[request_id]

    def is_answered(self, request_id: int) -> bool:
        with self._arrived:
            return request_id in self._answers

    def wait_unasked(self) -> dict[str, Any]:
        """The next message that answers no request of ours."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.unasked or self._ended, HANG_S)
            return self.unasked.pop(0)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._arrived:
                self._take(line)
                self._arrived.notify_all()
        with self._arrived:
            self._ended = True
            self._arrived.notify_all()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode())
            assert message["jsonrpc"] == "2.0"
        except (ValueError, TypeError, KeyError, AssertionError):
            self.junk.append(line)
            return
        if message.get("id") is None or "method" in message:
            self.unasked.append(message)
        else:
            self._answers[message["id"]] = Answer(message, time.monotonic())

    # --- what the tests ask ---------------------------------------------------------------------------

    def begin(self, tool: str, **arguments: Any) -> int:
        """Send a tool call without waiting for it; its id."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, **arguments: Any) -> Answer:
        return self.answer(self.begin(tool, **arguments))

    def recall(self, query: str = "", max_memories: int = 10) -> list[str]:
        """The facts of a digest."""
        digest = self.call("recall_digest", query=query, max_memories=max_memories).data
        return [entry["text"] for entry in digest["entries"]]

    def ping(self, within_s: float = HANG_S) -> None:
        assert self.answer(self.request("ping"), within_s).message["result"] == {}

    def read(self, uri: str) -> str:
        result = self.answer(self.request("resources/read", {"uri": uri})).message["result"]
        return result["contents"][0]["text"]

    def held(self, scope: str) -> dict[str, str]:
        """Every fact held at a scope, by key."""
        facts: dict[str, str] = {}
        uri: str | None = f"memory://scopes/{quote(scope, safe='')}"
        while uri is not None:
            page = json.loads(self.read(uri))
            facts |= {record["key"]: record["text"] for record in page["records"]}
            uri = page.get("next")
        return facts

    def logged(self) -> str:
        """What the server wrote to standard error."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    # --- ending ---------------------------------------------------------------------------------------

    def close_input(self) -> None:
        """What a client does that leaves."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it has gone already
            self.process.stdin.close()

    def wait(self) -> int:
        """The exit status; what was written until then has been read."""
        status = self.process.wait(HANG_S)
        self._reader.join(HANG_S)
        return status

    def kill(self) -> None:
        """End it like a power cut."""
        self.process.kill()
        self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            self.close_input()
            self.process.wait(HANG_S)
        finally:
            self.kill()
            assert self.process.stdout is not None
            self.process.stdout.close()
        assert self.junk == []


def environment(home: Path, **settings: str) -> dict[str, str]:
    """What a host passes on: little. `settings` are our variables without their prefix, in lower case."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    ours = {f"MCP_MEMORY_{name.upper()}": value for name, value in settings.items()}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", **ours}


def acknowledged(session: Session, requests: Mapping[int, str]) -> dict[str, Answer]:
    """The answers to requests by what they were about; each has to be a success."""
    answers = {about: session.answer(request_id) for request_id, about in requests.items()}
    refused = {about: answer.text for about, answer in answers.items() if answer.is_error}
    assert refused == {}
    return answers


def overlap(parties: Sequence[Mapping[str, Answer]]) -> bool:
    """Whether there was a moment at which every party had been answered and still waited for more."""
    times = [[answer.at for answer in party.values()] for party in parties]
    return max(map(min, times)) < min(map(max, times))


def is_sound(store: Path) -> bool:
    """Whether every page of a SQLite file is as it should be."""
    with closing(sqlite3.connect(store)) as db:
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def numbered(prefix: str, count: int) -> Iterator[tuple[str, str]]:
    """Keys and facts that no two parties share."""
    for number in range(count):
        yield f"{prefix}-{number}", f"{prefix} said number {number}"
