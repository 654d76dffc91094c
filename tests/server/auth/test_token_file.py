"""The file of tokens: what it holds, who gets in, and that changes beside each other are all kept."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_memory_server.errors import ConfigurationError, InvalidInput
from mcp_memory_server.identity import Actor
from mcp_memory_server.server.auth.token_file import PREFIX, TokenFile, TokenFileVerifier, hash_of

NOW, LATER, LATEST = (f"2026-0{month}-01T00:00:00.000Z" for month in (1, 2, 3))
ANN = Actor("ann", "acme", frozenset({"memory:writer"}))


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "secrets" / "tokens.json")


def test_a_token_lets_its_actor_in_until_it_ends(tokens: TokenFile) -> None:
    token = tokens.add("desk", ANN, NOW, LATEST)
    for now in (NOW, LATER):
        entry = tokens.find(token, now)
        assert entry is not None
        assert (entry.name, entry.actor) == ("desk", ANN)
    assert tokens.find(token, LATEST) is None


def test_nothing_but_hashes_is_stored_for_the_owner_s_eyes(tokens: TokenFile) -> None:
    token = tokens.add("desk", ANN, NOW)
    assert re.fullmatch(re.escape(PREFIX) + r"[\w-]{43}", token)  # 256 bits
    written = tokens.path.read_text("utf-8")
    assert token not in written
    assert hash_of(token) in written
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(tokens.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("wrong", ["", PREFIX, "mms_" + "A" * 43, hash_of("x"), "\ud800"])
def test_what_is_no_token_lets_nobody_in(tokens: TokenFile, wrong: str) -> None:
    token = tokens.add("desk", ANN, NOW)
    assert tokens.find(wrong, NOW) is None
    assert tokens.find(token[:-1], NOW) is None
    assert tokens.find(token + " ", NOW) is None
    assert tokens.find(hash_of(token), NOW) is None


def test_another_process_s_changes_count_at_once(tokens: TokenFile) -> None:
    server, operator = tokens, TokenFile(tokens.path)
    assert server.entries() == ()
    token = operator.add("desk", ANN, NOW)
    assert server.find(token, NOW) is not None
    assert operator.revoke("desk")
    assert server.find(token, NOW) is None
    assert not operator.revoke("desk")
    tokens.path.unlink()
    assert server.entries() == ()


def test_a_name_is_given_once_and_an_actor_has_one_tenant(tokens: TokenFile) -> None:
    tokens.add("desk", ANN, NOW)
    tokens.add("phone", ANN, NOW)
    with pytest.raises(InvalidInput, match="is taken"):
        tokens.add(" desk ", ANN, NOW)
    with pytest.raises(InvalidInput, match="another tenant"):
        tokens.add("other", Actor("ann", "globex"), NOW)
    with pytest.raises(InvalidInput, match="blank"):
        tokens.add(" ", ANN, NOW)
    with pytest.raises(InvalidInput, match="past"):
        tokens.add("late", ANN, LATER, NOW)
    assert [entry.name for entry in tokens.entries()] == ["desk", "phone"]


GOOD = {"name": "a", "hash": "0" * 64, "actor": "ann", "created_at": NOW}


@pytest.mark.parametrize(
    "document",
    ["", "{", "[]", "{}", '{"tokens": {}}', '{"tokens": [7]}', '{"tokens": [{}]}', "\xff"]
    + [
        json.dumps({"tokens": [{**GOOD, **wrong}]})
        for wrong in ({"hash": "short"}, {"actor": " "}, {"created_at": "x"}, {"roles": 7}, {"hash": 7})
    ],
)
async def test_a_file_that_is_something_else_lets_nobody_in(tokens: TokenFile, document: str) -> None:
    token = tokens.add("desk", ANN, NOW)
    tokens.path.write_bytes(document.encode("latin-1"))
    with pytest.raises(ConfigurationError, match="Nobody is let in by it"):
        tokens.find(token, NOW)
    assert await TokenFileVerifier(tokens, "https://memory.example.com/mcp").verify_token(token) is None


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_a_file_that_others_may_write_to_lets_nobody_in(tokens: TokenFile) -> None:
    token = tokens.add("desk", ANN, NOW)
    os.chmod(tokens.path, 0o666)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        tokens.find(token, NOW)


ADDING = """
import sys
from pathlib import Path
from mcp_memory_server.identity import Actor
from mcp_memory_server.server.auth.token_file import TokenFile
for number in range(10):
    TokenFile(Path(sys.argv[1])).add(f"{sys.argv[2]}-{number}", Actor("ann"), "2026-01-01T00:00:00.000Z")
"""


def test_of_commands_at_once_none_undoes_another(tokens: TokenFile) -> None:
    running = [subprocess.Popen([sys.executable, "-c", ADDING, str(tokens.path), name]) for name in "abc"]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    assert {entry.name for entry in tokens.entries()} == {f"{name}-{number}" for name in "abc" for number in range(10)}
    left = {path.name for path in tokens.path.parent.iterdir()}
    assert left == {"tokens.json", ".tokens.json.lock"}
