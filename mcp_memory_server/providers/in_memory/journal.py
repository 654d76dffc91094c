"""The journal of what was shown."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory_server.providers.base import JournaledDigest, JournalLookup, PruneRequest
from mcp_memory_server.providers.versions import check_journalable


class Journal:
    """Journaled digests in the order in which they were appended."""

    def __init__(self) -> None:
        self._digests: dict[str, JournaledDigest] = {}

    def append(self, digests: Sequence[JournaledDigest]) -> None:
        for digest in digests:
            check_journalable(digest)
        turns = {(digest.actor_id, digest.turn_id) for digest in self._digests.values()}
        for digest in digests:
            turn = (digest.actor_id, digest.turn_id)
            if digest.digest_id in self._digests or (digest.turn_id is not None and turn in turns):
                continue
            self._digests[digest.digest_id] = digest
            turns.add(turn)

    def find(self, lookup: JournalLookup) -> JournaledDigest | None:
        for digest in self._digests.values():
            wanted = (
                digest.digest_id == lookup.digest_id
                if lookup.digest_id is not None
                else digest.turn_id == lookup.turn_id
            )
            if wanted and digest.actor_id == lookup.actor_id:
                return digest
        return None

    def all(self) -> Sequence[JournaledDigest]:
        return sorted(self._digests.values(), key=lambda digest: digest.digest_id)

    def prune(self, request: PruneRequest) -> int:
        meant = [digest for digest in self._digests.values() if digest.actor_id.startswith(request.actors)]
        young = sorted((digest for digest in meant if digest.at >= request.before), key=lambda digest: digest.at)
        kept = {digest.digest_id for digest in young[max(0, len(young) - request.keep) :]}
        gone = {digest.digest_id for digest in meant} - kept
        if not request.count_only:
            self._digests = {id: digest for id, digest in self._digests.items() if id not in gone}
        return len(gone)
