"""The keys of a token issuer (JWKS, RFC 7517), fetched when they are needed and kept while they are good."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Final

import anyio
import httpx2
from jwt import PyJWK, PyJWKSet
from jwt.exceptions import PyJWTError

from mcp_memory_server.errors import ConfigurationError

logger = logging.getLogger(__name__)

_FRESH_S: Final = 3600.0
"""How long fetched keys serve before they are fetched again."""
_STALE_S: Final = 24 * 3600.0
"""How long they serve when they cannot be fetched again. A key that its issuer withdrew must end at some time."""
_RETRY_S: Final = 30.0
"""At most one fetch in this time: neither unknown key ids nor an issuer that is down make a request each."""
_TIMEOUT_S: Final = 5.0
_MAX_BYTES: Final = 1024 * 1024


class KeySet:
    """The keys behind one JWKS address, by key id."""

    def __init__(
        self, url: str, *, client: httpx2.AsyncClient | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        if not url.startswith(("https://", "http://127.0.0.1", "http://localhost", "http://[::1]")):
            raise ConfigurationError("Keys of tokens are fetched over https only: give an address that begins so.")
        self._url = url
        self._client = client or httpx2.AsyncClient(timeout=_TIMEOUT_S)
        self._clock = clock
        self._keys: dict[str | None, PyJWK] = {}
        self._fetched_at = float("-inf")
        self._tried_at = float("-inf")
        self._fetching = anyio.Lock()

    async def aclose(self) -> None:
        await self._client.aclose()

    async def key(self, key_id: str | None) -> PyJWK | None:
        """The key of that id; without an id the only key there is. None when there is none, or none can be had."""
        found = self._held(key_id)
        age = self._clock() - self._fetched_at
        if found is not None and age < _FRESH_S:
            return found
        await self._fetch()
        if self._clock() - self._fetched_at > _STALE_S:
            return None
        return self._held(key_id)

    def _held(self, key_id: str | None) -> PyJWK | None:
        if key_id is not None:
            return self._keys.get(key_id)
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    async def _fetch(self) -> None:
        """Bring the keys up to date; what is held stays when that fails."""
        asked_at = self._clock()
        async with self._fetching:
            if self._fetched_at >= asked_at or self._clock() - self._tried_at < _RETRY_S:
                return
            self._tried_at = self._clock()
            try:
                self._keys = await self._read()
                self._fetched_at = self._clock()
            except (httpx2.HTTPError, ValueError, PyJWTError) as error:
                logger.warning("the keys of the token issuer cannot be read (%s)", type(error).__name__)

    async def _read(self) -> dict[str | None, PyJWK]:
        answer = await self._client.get(self._url)
        answer.raise_for_status()
        if len(answer.content) > _MAX_BYTES:
            raise ValueError("the key set is too large")
        return {
            key.key_id: key for key in PyJWKSet.from_dict(answer.json()).keys if key.public_key_use in (None, "sig")
        }
