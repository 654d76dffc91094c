"""A service on loopback that answers every request as it was told to, and keeps what it was sent."""

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class StubService:
    """`answer` writes the response; `released` lets those that hang end."""

    answer: Answer
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    paths: list[str] = field(default_factory=list[str])
    keys: list[str | None] = field(default_factory=list["str | None"])


@contextmanager
def serving(answer: Answer) -> Generator[StubService]:
    service = StubService(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name that the library calls
            length = int(self.headers["content-length"])
            service.asked.append(json.loads(self.rfile.read(length)))
            service.paths.append(self.path)
            service.keys.append(self.headers["authorization"])
            service.answer(self)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        service.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()


def sends(body: bytes, status: int = 200) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def completes(content: object) -> Answer:
    """A completion with that content."""
    return sends(json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode())
