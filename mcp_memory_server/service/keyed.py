"""Words of a caller as the store holds them where they are only ever compared: as keyed hashes.

A caller's name for a turn or a conversation is any text at all, and somebody's secret may stand in it. Nothing of
it reaches the store, and what does needs the store's own secret to be tried out.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final, Literal

from mcp_memory_server.errors import StoreBusy
from mcp_memory_server.providers.base import MemoryProvider, can_journal

Purpose = Literal["turn", "conversation", "query"]
_NO_SECRET: Final = b"\0"


async def secret_of(provider: MemoryProvider) -> bytes:
    """The secret that belongs to the store; a fixed value where the provider keeps none.

    Raises:
        StoreError: there is none yet, and none can be made now.
    """
    return await provider.journal_secret() if can_journal(provider) else _NO_SECRET


async def secret_for_reading(provider: MemoryProvider) -> bytes | None:
    """The same, or None where there is none yet and another process keeps us from making it.

    Only making one has to wait for a writer. So nothing is held under a keyed name then, and there is nothing to find.
    """
    try:
        return await secret_of(provider)
    except StoreBusy:
        return None


def keyed(secret: bytes, purpose: Purpose, text: str) -> str:
    """The hash of a text for one purpose, as 64 hexadecimal digits: HMAC-SHA256 (RFC 2104).

    Hashes of one text for two purposes tell nobody that it was the same text.
    """
    message = purpose.encode() + b"\0" + text.encode(errors="surrogatepass")
    return hmac.digest(secret, message, hashlib.sha256).hex()
