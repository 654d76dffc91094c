"""A server over stdio that does not keep to the protocol, in the way that its argument names."""

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

Request = dict[str, Any]
pages = count(1)


def send(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(request: Request, **outcome: Any) -> None:
    send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}))


def list_nothing(request: Request, **more: Any) -> None:
    answer(request, result={"tools": [], **more})


def refuse(request: Request, code: int, message: str) -> None:
    answer(request, error={"code": code, "message": message})


def stay_silent(_: Request) -> None:
    sys.stderr.write("thinking \x1b[2J it over\n")
    sys.stderr.flush()


def print_junk(request: Request) -> None:
    send("hello, I am no JSON")
    list_nothing(request)


def ask_first(request: Request) -> None:
    """Asks its client, and lists its tools only once it has been declined."""
    send('{"jsonrpc": "2.0", "id": 99, "method": "roots/list"}')
    if "error" in json.loads(sys.stdin.readline()):
        list_nothing(request)


def close_output(_: Request) -> None:
    """Hangs up and stays."""
    os.close(sys.stdout.fileno())
    signal.pause()


FAULTS: dict[str, Callable[[Request], None]] = {
    "odd": lambda request: answer(request, result={"tools": ["search", 7]}),
    "wrong": lambda request: answer(request, result={"tools": [{"name": "search", "inputSchema": [["pattern"]]}]}),
    "stuck": partial(list_nothing, nextCursor="again"),
    "endless": lambda request: list_nothing(request, nextCursor=str(next(pages))),
    "dying": lambda _: sys.exit(3),
    "crashing": lambda _: os.abort(),
    "leaving": close_output,
    "refusing": partial(refuse, code=-32603, message="not \x1b[2J today"),
    "silent": stay_silent,
    "junk": print_junk,
    "asking": ask_first,
    "toolless": partial(refuse, code=-32601, message="no such method"),
}


def greet(request: Request, fault: str) -> None:
    capabilities: dict[str, Any] = {} if fault == "toolless" else {"tools": {}}
    server = {"name": "faulty", "version": "1"}
    answer(request, result={"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": server})


def main(fault: str) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        match request.get("method"):
            case "initialize":
                greet(request, fault)
            case "tools/list":
                FAULTS[fault](request)
            case "server/discover":
                refuse(request, -32601, "no such method")
            case _:
                pass


if __name__ == "__main__":
    main(sys.argv[1])
