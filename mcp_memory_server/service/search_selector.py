"""The built-in selector: the store's own search, which needs no model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mcp_memory_server.providers.base import SearchRequest, can_search
from mcp_memory_server.recall import SelectionRequest

from .wiring import Wiring

DEFAULT_DEPTH: Final = 10


class SearchSelector:
    """Picks what a search for the objective ranks first, of the notes that the manifest lists.

    It looks `depth` keys down the ranking and no further: once the best were shown to a conversation, the next turn on
    the same subject is better served with nothing than with what ranks far below them. It reads no line of the
    manifest, so the limits on its length may be as wide as the scope.

    Ask it through a guard that trusts it: the store belongs to the caller's event loop.
    """

    def __init__(self, wiring: Wiring, scopes: tuple[str, ...], depth: int = DEFAULT_DEPTH) -> None:
        self._wiring = wiring
        self._scopes = scopes
        self._depth = depth

    async def select(self, request: SelectionRequest) -> Sequence[str]:
        """See `recall.Selector`. None where the provider cannot search, or the objective is blank.

        Raises:
            StoreError: the store cannot be searched now.
        """
        provider, objective = self._wiring.provider, request.objective.strip()
        if not objective or not can_search(provider):
            return ()
        embedded = await self._wiring.embeddings.question(objective)
        hits = await provider.search(SearchRequest(self._scopes, objective, self._depth, self._wiring.now(), embedded))
        # By key: of a key that ranks, the manifest may list the narrowest answer only, and another one matched.
        named: dict[str, list[str]] = {}
        for note, name in request.manifest.named:
            named.setdefault(note.key, []).append(name)
        keys = dict.fromkeys(hit.record.key for hit in hits if hit.score > 0)
        return [name for key in keys for name in named.get(key, ())][: request.max_notes]
