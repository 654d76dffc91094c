"""A namespace in the scopes of requests and answers.

The namespace stands before every scope that is stored: `ns:<32 characters>:<scope>`, the characters being a hash of
the namespace. So it is confined by the same hard filter as scopes are, in the query, on any provider, and a tenant's
name is in no token, message or log. Two namespaces, or two scopes in one, never share a token.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b32encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeVar

from mcp_memory_server.errors import StoreError
from mcp_memory_server.records import MemoryRecord

T = TypeVar("T")

_HASH_BYTES: Final = 20
_PLACES: Final = frozenset({"scope", "scopes", "replace_at", "actor_id"})
"""The fields that say where something stands, in every request and answer of the seam."""


class _Outside(Exception):
    """An answer, or a part of one, that does not stand in the namespace."""


@dataclass(frozen=True, slots=True)
class Space:
    """Where a bound call takes place: everything behind `prefix`, which is empty where no namespace is bound."""

    prefix: str = ""

    @classmethod
    def of(cls, namespace: Mapping[str, str]) -> Space:
        """The space of a checked namespace. The order of its names makes no difference."""
        parts = [part.encode() for pair in sorted(namespace.items()) for part in pair]
        # With its length before each part, no two lists of parts run together.
        content = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        digest = hashlib.sha256(content).digest()[:_HASH_BYTES]
        return cls(f"ns:{b32encode(digest).decode().lower()}:")

    def enter(self, request: T) -> T:
        """The request as it goes to the store: each of its scopes, and its actor, in the space."""
        return self._mapped(request, lambda token: self.prefix + token)

    def leave(self, answer: T) -> T:
        """The answer as the caller may see it. Parts that stand outside the space are left out.

        Raises:
            StoreError: the whole of it stands outside; the provider does not keep the contract.
        """
        try:
            return self._mapped(answer, self._stripped)
        except _Outside:
            raise StoreError(
                "The provider answered outside the bound namespace; the answer was withheld. "
                "Run the contract suite against it."
            ) from None

    def own(self, scopes: Iterable[str]) -> tuple[str, ...]:
        """Those of the stored scopes that are in the space, as the caller knows them, sorted."""
        return tuple(sorted(scope.removeprefix(self.prefix) for scope in scopes if scope.startswith(self.prefix)))

    def secret(self, secret: bytes) -> bytes:
        """The store's secret as the space knows it: what is keyed with it can be compared within the space only."""
        return hmac.digest(secret, self.prefix.encode(), "sha256") if self.prefix else secret

    def _stripped(self, token: str) -> str:
        if not token.startswith(self.prefix):
            raise _Outside
        return token.removeprefix(self.prefix)

    def _mapped(self, value: T, change: Callable[[str], str]) -> T:
        return value if not self.prefix else _mapped(value, change)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """`value` with `change` made to every place in it, or itself where there is none.

    Parts of a collection for which it raises `_Outside` are left out.
    """
    if isinstance(value, MemoryRecord):
        return value.model_copy(update={"scope": change(value.scope)})
    if isinstance(value, (tuple, list)):
        return _mapped_parts(value, change)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, Mapping):
        pairs: Mapping[Any, Any] = value  # pyright: ignore[reportUnknownVariableType]
        after = {key: part for key in pairs for part in _mapped_parts((pairs[key],), change)}
        return after if _differ(pairs.values(), after.values()) else pairs
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for field in fields(value):
        before = getattr(value, field.name)
        after = _placed(before, change) if field.name in _PLACES else _mapped(before, change)
        if after is not before:
            changed[field.name] = after
    return replace(value, **changed) if changed else value


def _mapped_parts(parts: Sequence[Any], change: Callable[[str], str]) -> Sequence[Any]:
    after: list[Any] = []
    for part in parts:
        try:
            after.append(_mapped(part, change))
        except _Outside:
            continue
    return tuple(after) if _differ(parts, after) else parts


def _differ(before: Collection[Any], after: Collection[Any]) -> bool:
    return len(before) != len(after) or any(one is not other for one, other in zip(before, after, strict=True))


def _placed(value: str | Iterable[str] | None, change: Callable[[str], str]) -> Any:
    if value is None:
        return None
    return change(value) if isinstance(value, str) else tuple(map(change, value))
