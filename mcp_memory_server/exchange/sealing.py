"""The seal of an export: tells one's own file, whole and unchanged, from everybody else's.

The last line of a file holds an HMAC-SHA256 over all bytes before it, under a key that never leaves the machine.
It is no signature for others: it says "this left from here", to whoever has the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import Final, Literal

KEY_BYTES: Final = 32

SealState = Literal["own", "broken", "foreign", "none"]
"""Sealed here and unchanged; sealed here and changed since; sealed elsewhere; not sealed."""

_FIELD: Final = "seal"


class Sealing:
    """Takes in the lines of a file as they are written."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._code = hmac.new(key, digestmod=hashlib.sha256)

    def take(self, line: bytes) -> bytes:
        """The line itself, line break included."""
        self._code.update(line)
        return line

    def last_line(self) -> bytes:
        """The seal over everything taken in."""
        seal = {"by": _name_of(self._key), "hmac_sha256": self._code.hexdigest()}
        return f"{json.dumps({_FIELD: seal})}\n".encode()


def split_seal(lines: Sequence[bytes], key: bytes | None) -> tuple[Sequence[bytes], SealState]:
    """The lines of a file without its seal, and what the seal says of them.

    Args:
        lines: all of them, line breaks taken off, as `content.split(b"\\n")` gives them.
        key: this machine's, if it has one yet.
    """
    last = next((place for place in reversed(range(len(lines))) if lines[place].strip()), None)
    seal = None if last is None else _seal_in(lines[last])
    if last is None or seal is None:
        return lines, "none"
    name, code = seal
    kept = lines[:last]
    if key is None or name != _name_of(key):
        return kept, "foreign"
    sealing = Sealing(key)
    for line in kept:
        sealing.take(line + b"\n")
    wanted = _seal_in(sealing.last_line())
    assert wanted is not None
    return kept, "own" if hmac.compare_digest(code, wanted[1]) else "broken"


def _seal_in(line: bytes) -> tuple[str, str] | None:
    """The name of the key and the code on a seal line; None for any other line."""
    try:
        document: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match document:
        case {"seal": {"by": str(name), "hmac_sha256": str(code)}} if code.isascii():
            return name, code
        case _:
            return None


def _name_of(key: bytes) -> str:
    """Tells keys apart without giving them away."""
    return hashlib.sha256(b"export key " + key).hexdigest()[:16]
