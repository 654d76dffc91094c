"""The seal of an export: one's own file is known again, and every change to it is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.exchange.sealing import KEY_BYTES, Sealing, SealState, split_seal

KEY = b"k" * KEY_BYTES
OTHER = b"o" * KEY_BYTES
BODY = (b'{"format": "mcp-memory-server"}\n', b'{"id": "1", "text": "Lyon"}\n', b'{"id": "2", "text": "Porto"}\n')


def sealed(*lines: bytes, key: bytes = KEY) -> bytes:
    sealing = Sealing(key)
    return b"".join(sealing.take(line) for line in lines) + sealing.last_line()


def state_of(content: bytes, key: bytes | None = KEY) -> SealState:
    return split_seal(content.split(b"\n"), key)[1]


def test_a_sealed_file_is_known_again_and_loses_its_seal() -> None:
    kept, state = split_seal(sealed(*BODY).split(b"\n"), KEY)
    assert state == "own"
    assert list(kept) == [line.removesuffix(b"\n") for line in BODY]


def test_a_file_that_nothing_was_written_to_can_be_sealed() -> None:
    assert state_of(sealed()) == "own"


def test_every_change_breaks_the_seal() -> None:
    content = sealed(*BODY)
    assert state_of(content.replace(b"Lyon", b"Lyons")) == "broken"
    assert state_of(content.replace(BODY[1], b"")) == "broken"
    assert state_of(content.replace(BODY[1] + BODY[2], BODY[2] + BODY[1])) == "broken"
    assert state_of(b"\n" + content) == "broken"


@given(st.integers(min_value=0), st.integers(1, 255))
def test_no_byte_before_the_seal_can_be_changed(place: int, change: int) -> None:
    content = bytearray(sealed(*BODY))
    place %= len(b"".join(BODY))
    content[place] ^= change
    assert state_of(bytes(content)) != "own"


def test_another_machine_s_seal_is_foreign_and_so_is_ours_without_the_key() -> None:
    assert state_of(sealed(*BODY, key=OTHER)) == "foreign"
    assert state_of(sealed(*BODY), key=None) == "foreign"


def test_a_code_that_was_made_up_does_not_hold() -> None:
    *lines, last = sealed(*BODY).splitlines()
    seal = json.loads(last)
    seal["seal"]["hmac_sha256"] = "0" * 64
    assert state_of(b"\n".join([*lines, json.dumps(seal).encode()])) == "broken"


@pytest.mark.parametrize(
    "last", [b"", b"{}", b'{"seal": 1}', b'{"seal": {"by": 1}}', b"\xff", b"[" * 100_000, b'{"seal": {"by": "x"}}']
)
def test_anything_else_at_the_end_is_no_seal(last: bytes) -> None:
    assert state_of(b"".join(BODY) + last) == "none"


def test_the_key_is_not_in_the_file() -> None:
    content = sealed(*BODY)
    assert KEY not in content
    assert KEY.hex().encode() not in content
