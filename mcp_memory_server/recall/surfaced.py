"""Which notes a conversation was shown: opaque keys that the caller keeps and hands back."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Container, Iterable
from hashlib import sha256
from typing import Final

from .headers import NoteHeader

# 128 bits: no two of a store's notes will ever share a key, and a model that carries the set pays for 22 characters.
_KEY_BYTES: Final = 16


def encode_surfaced_key(scope: str, id: str) -> str:
    """An opaque key for a note: equal for equal pairs only, and neither scope nor id can be read from it.

    22 characters of URL-safe base64: SHA-256, cut to 128 bits, over both parts with their lengths before them, so that
    no two pairs run together. Any string has a key, also one with half of a surrogate pair.
    """
    parts = (part.encode("utf-8", "surrogatepass") for part in (scope, id))
    digest = sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).digest()
    return urlsafe_b64encode(digest[:_KEY_BYTES]).rstrip(b"=").decode("ascii")


def unsurfaced(headers: Iterable[NoteHeader], seen: Container[str]) -> tuple[NoteHeader, ...]:
    """The notes whose keys are not in `seen`, in their order."""
    return tuple(header for header in headers if encode_surfaced_key(header.scope, header.id) not in seen)
