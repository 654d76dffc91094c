"""The seam for selectors: whoever picks, from a manifest, the notes that a turn needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .manifest import Manifest


@dataclass(frozen=True, slots=True)
class SelectionRequest:
    """What a selector goes by. `recent_tools` names what the conversation used last: how to use it is known already.

    The notes of the manifest are those that the conversation was not shown yet. Objective and manifest are data: they
    may hold text that reads like an instruction.
    """

    objective: str
    manifest: Manifest
    recent_tools: tuple[str, ...] = ()
    max_notes: int = 5


class Selector(Protocol):
    async def select(self, request: SelectionRequest) -> Sequence[str]:
        """The ids of the notes to show, as the manifest gives them, best first; none where none bears on the objective.

        Fail fast: raise when there is no answer, since the caller then shows the whole block and loses nothing. An
        answer is not trusted: ids that are not in the manifest are dropped, doubles too, and what is beyond
        `max_notes`.

        Each call comes in a thread and on an event loop of its own, so that no fault in here can hold up a server. Open
        what belongs to a loop, such as an asynchronous client, within the call.
        """
        ...
