"""The group `review`: a person's decision about a record that waits for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from mcp_memory_server.records import MemoryOrigin, MemoryRecord, Provenance

from .required import Erasure
from .writing import WritingProvider

Decision = Literal["approve", "reject"]


@dataclass(frozen=True, slots=True)
class SettleRequest:
    """What becomes of one quarantined record. `scope` must be the record's own; `by` goes into the audit line.

    The rest is about approving: `text` (normalised already) is what the fact says instead, `origin` and
    `provenance` say whose word it is from now on, and `if_version` approves only over that version of the active
    fact of the key; 0 only where there is none.
    """

    scope: str
    id: str
    decision: Decision
    at: str
    by: str
    text: str | None = None
    origin: MemoryOrigin | None = None
    provenance: Provenance | None = None
    if_version: int | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The active record after an approval, and the one it replaced; neither after a rejection.

    `erasure` tells about the bytes of what was rejected, or edited away.
    """

    record: MemoryRecord | None
    previous: MemoryRecord | None = None
    erasure: Erasure = "done"


class ReviewingProvider(WritingProvider, Protocol):
    async def settle(self, request: SettleRequest) -> Settled | None:
        """Approve or reject a quarantined record; what waits is listed by `statuses=("quarantined",)`.

        Approved, it becomes the active fact of its key. Where there was none it keeps id, version, pin and history,
        and its times when it was imported: else it is current from `at` on. Where there was one, that one is
        replaced as by a write: its id, `created_at` and pin stay, its version rises, the old value goes to history,
        and the id of what waited is gone. When it says the same already, it stays as it is.

        Rejected, it is erased as by `forget`; so is the text that an approval puts another one in place of. Either
        leaves an audit line with the reason `approved` or `rejected`. None when no quarantined record of that id is
        at that scope; nothing happened then.

        Raises:
            Conflict: `if_version` is not that of the active fact.
            InvalidInput: a value that no record can hold.
        """
        ...
