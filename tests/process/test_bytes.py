"""Encodings and odd bytes: what can be taken is taken whole, and every request gets an answer."""

import json
from typing import Any

import pytest

from .conftest import Launch
from .session import Session

pytestmark = pytest.mark.process

MANY_SCRIPTS = "🚀 Привет, 数据库, Zürich, العميل"


@pytest.mark.parametrize(
    "locale",
    [
        {"PYTHONIOENCODING": "cp1252", "LANG": "C", "PYTHONUTF8": "0"},
        {"LANG": "", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_text_travels_whole_whatever_the_machine_s_code_page(launch: Launch, locale: dict[str, str]) -> None:
    """D6: requests are UTF-8 and nothing else, as are answers."""
    server = launch(**locale).ready()
    assert server.call("remember", key="scripts", fact=MANY_SCRIPTS).data["record"]["text"] == MANY_SCRIPTS
    params = {"name": "recall_digest", "arguments": {"query": "Привет"}}
    request = {"jsonrpc": "2.0", "id": "raw", "method": "tools/call", "params": params}
    server.send_line(json.dumps(request, ensure_ascii=False).encode())
    assert MANY_SCRIPTS in server.answer("raw").text


@pytest.mark.parametrize(
    "line",
    [
        b"this is not json",
        b'{"jsonrpc": "2.0", "id": 1',
        b'{"jsonrpc": "2.0", "method": "ping", "id": "\xff\xfe"}',
        b"[]",
        b"7",
        b'{"jsonrpc": "1.0", "id": [], "method": "ping"}',
        b"[" * 10_000,
    ],
)
def test_a_line_that_is_no_request_gets_an_error_and_the_next_one_works(server: Session, line: bytes) -> None:
    """D6: a bad line is answered, and the session goes on."""
    server.send_line(line)
    answer = server.wait_unasked()
    assert (answer["id"], answer["error"]["code"] in (-32700, -32600)) == (None, True)
    server.ping()


HALF = "\ud800"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "remember", "arguments": {"key": HALF, "fact": "f"}}),
        ("tools/call", {"name": "remember", "arguments": {"key": "k", "fact": f"half {HALF}"}}),
        ("tools/call", {"name": "remember", "arguments": {"key": "k", "fact": "f", "tags": [HALF]}}),
        ("tools/call", {"name": "recall_digest", "arguments": {"query": HALF}}),
        ("tools/call", {"name": "recall_digest", "arguments": {"turn_id": HALF}}),
        ("tools/call", {"name": HALF, "arguments": {}}),
        ("resources/read", {"uri": f"memory://records/{HALF}"}),
        (HALF, {}),
    ],
)
def test_half_a_surrogate_pair_gets_an_answer(server: Session, method: str, params: dict[str, Any]) -> None:
    """D7b: within five seconds, as an error to that very id, and later calls are fine."""
    request = server.request(method, params)
    answer = server.answer(request, within_s=5)
    assert answer.is_error
    server.ping()


def test_a_nul_is_dropped_from_a_fact_and_refused_in_a_key(server: Session) -> None:
    """D8: U+0000 in a fact, a tag, a query, a key and an id."""
    written = server.call("remember", key="nul", fact="before\0after", tags=["a\0b"])
    assert (written.data["record"]["text"], written.data["record"]["tags"]) == ("beforeafter", ["ab"])
    assert "beforeafter" in server.recall("before\0after")
    assert "control character" in server.call("remember", key="a\0b", fact="f").text
    for arguments in ({"id": "\0"}, {"key": "\0"}):
        assert server.call("forget", **arguments).is_error
    assert not server.call("recall_digest", turn_id="a\0b").is_error
    server.ping()
