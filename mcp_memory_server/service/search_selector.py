"""The built-in selector: the store's own search, which needs no model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from mcp_memory_server.providers.base import Hit
from mcp_memory_server.recall import SelectionRequest

Search = Callable[[str, int], Awaitable[Sequence[Hit]]]
"""What answers a question best, best first, down to so many keys: `MemoryService.search` for one caller."""

DEFAULT_DEPTH: Final = 10


class SearchSelector:
    """Picks what a search for the objective ranks first, of the notes that the manifest lists.

    It looks `depth` keys down the ranking and no further: once the best were shown to a conversation, the next turn on
    the same subject is better served with nothing than with what ranks far below them. It reads no line of the
    manifest, so the limits on its length may be as wide as the scope.

    Ask it through a guard that trusts it: the store belongs to the caller's event loop.
    """

    def __init__(self, search: Search, depth: int = DEFAULT_DEPTH) -> None:
        self._search = search
        self._depth = depth

    async def select(self, request: SelectionRequest) -> Sequence[str]:
        """See `recall.Selector`; nothing for a blank objective.

        Raises:
            StoreError: the store cannot be searched now.
        """
        objective = request.objective.strip()
        if not objective:
            return ()
        hits = await self._search(objective, self._depth)
        # By key: of a key that ranks, the manifest may list the narrowest answer only, and another one matched.
        named: dict[str, list[str]] = {}
        for note, name in request.manifest.named:
            named.setdefault(note.key, []).append(name)
        keys = dict.fromkeys(hit.record.key for hit in hits if hit.score > 0)
        return [name for key in keys for name in named.get(key, ())][: request.max_notes]
