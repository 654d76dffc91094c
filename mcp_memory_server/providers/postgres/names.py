"""Names and texts on their way into a query and back: what Postgres cannot hold is written so that it can.

A scope is known to every table by a hash of its name. So no statement has to look one up, no sequence numbers them,
and a row says which scope it belongs to wherever an engine has put it.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from uuid import UUID

from mcp_memory_server.providers.rows import is_storable

_ESCAPE = "\x01"
_TO_STORE = str.maketrans({"\x00": "\x01\x01", "\x01": "\x01\x02"})


def place_of(scope: str) -> UUID:
    """What stands for a scope in every table: 128 bits of BLAKE2b of its name. It must be storable."""
    return UUID(bytes=blake2b(scope.encode(), digest_size=16, person=b"scope").digest())


def place_of_actor(actor_id: str) -> UUID:
    """What stands for an actor's own rows, which belong to no scope: the journal and the conversations."""
    return UUID(bytes=blake2b(actor_id.encode(), digest_size=16, person=b"actor").digest())


def places_of(scopes: Iterable[str]) -> dict[UUID, str]:
    """The storable ones of these scopes by what stands for them, in the order given."""
    return {place_of(scope): scope for scope in scopes if is_storable(scope)}


def stored(text: str) -> str:
    """A text as a column holds it. Postgres has no NUL: it is written as two characters, and the order of texts stays.

    It must be storable.
    """
    return text.translate(_TO_STORE) if "\x00" in text or _ESCAPE in text else text


def told(text: str) -> str:
    """A text out of a column, as it was given."""
    return text.replace("\x01\x01", "\x00").replace("\x01\x02", "\x01") if _ESCAPE in text else text


def stored_names(names: Iterable[str]) -> list[str]:
    """Those of the names that a column can hold, as it holds them: a list that is one parameter of a query."""
    return [stored(name) for name in names if is_storable(name)]
