"""The keys of a token issuer (JWKS, RFC 7517), fetched when they are needed and kept while they are good."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from time import monotonic
from types import MappingProxyType
from typing import Any, Final, cast
from urllib.parse import urlsplit

import anyio
import httpx2
from jwt import PyJWK, PyJWKSet
from jwt.exceptions import PyJWTError

from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.network import LOOPBACK

logger = logging.getLogger(__name__)

_FRESH_S: Final = 3600.0
"""How long fetched keys serve before they are fetched again."""
_STALE_S: Final = 24 * 3600.0
"""How long they serve when they cannot be fetched again. A key that its issuer withdrew must end at some time."""
_UNKNOWN_S: Final = 30.0
"""Keys that were fetched are not fetched again within this time, whatever ids tokens make up."""
_LONGEST_BACK_OFF_S: Final = 60.0
"""After failures the time between two attempts doubles from a second up to this."""
_TIMEOUT_S: Final = 5.0
_MAX_BYTES: Final = 1024 * 1024
_ASYMMETRIC: Final = frozenset({"RSA", "EC", "OKP"})
"""Kinds of public keys. A secret that stands in a public document would let everybody issue tokens."""


class KeySet:
    """The keys behind one JWKS address, by key id."""

    def __init__(
        self, url: str, *, client: httpx2.AsyncClient | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise ConfigurationError("Keys of tokens are fetched over https only: give an address that begins so.")
        self._url = url
        self._client = client or httpx2.AsyncClient(timeout=_TIMEOUT_S)
        self._clock = clock
        self._keys: Mapping[str | None, PyJWK] = MappingProxyType({})
        self._fetched_at = float("-inf")
        self._next_attempt_at = float("-inf")
        self._failures = 0
        self._fetching = anyio.Lock()

    async def aclose(self) -> None:
        await self._client.aclose()

    async def key(self, key_id: str | None) -> PyJWK | None:
        """The key of that id; without an id the only key there is. None when there is none, or none can be had."""
        found = self._held(key_id)
        if found is not None and self._clock() - self._fetched_at < _FRESH_S:
            return found
        await self._bring_up_to_date()
        return None if self._clock() - self._fetched_at > _STALE_S else self._held(key_id)

    def _held(self, key_id: str | None) -> PyJWK | None:
        if key_id is not None:
            return self._keys.get(key_id)
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    async def _bring_up_to_date(self) -> None:
        """Fetch the keys, unless it is too early for that; what is held stays when it fails."""
        async with self._fetching:
            if self._clock() < self._next_attempt_at:
                return
            # Whoever sends a token and hangs up must not leave an attempt behind that counts and brought nothing.
            with anyio.CancelScope(shield=True):
                try:
                    self._keys = await self._read()
                except (httpx2.HTTPError, TimeoutError, ValueError, RecursionError, PyJWTError) as error:
                    wait_s = min(2.0**self._failures, _LONGEST_BACK_OFF_S)
                    self._failures = min(self._failures + 1, 10)
                    self._next_attempt_at = self._clock() + wait_s
                    logger.warning("the keys of the token issuer cannot be read (%s)", type(error).__name__)
                else:
                    self._failures = 0
                    self._fetched_at = self._clock()
                    self._next_attempt_at = self._fetched_at + _UNKNOWN_S

    async def _read(self) -> Mapping[str | None, PyJWK]:
        body = bytearray()
        with anyio.fail_after(_TIMEOUT_S):  # for the whole of it: an issuer may send byte by byte
            async with self._client.stream("GET", self._url) as answer:
                answer.raise_for_status()
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) > _MAX_BYTES:
                        raise ValueError("the key set is too large")
        document: object = json.loads(body)
        if not isinstance(document, dict):
            raise ValueError("the key set is no object")
        listed = PyJWKSet.from_dict(cast("dict[str, Any]", document)).keys
        usable = [key for key in listed if _verifies_tokens(key)]
        return MappingProxyType({key.key_id: key for key in usable})


def _verifies_tokens(key: PyJWK) -> bool:
    return key.key_type in _ASYMMETRIC and key.public_key_use in (None, "sig")
