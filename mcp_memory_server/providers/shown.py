"""What a plain filter leaves out of a scope's block: few records, looked at again only when their time has come.

Most records hold always and may be shown to anybody whom their scope applies to. Those that may have to be left out
carry `Conditions`; a scope without any costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from .base import Filter

if TYPE_CHECKING:
    from mcp_memory_server.ranking import SignatureBlock

_ALWAYS: Final = ""
_NEVER: Final = "~"
"""Before and after every instant, in the order of strings."""

# One for each thread that asks, and for each kind of caller; sessions are few in a process.
_KEPT_CUTS: Final = 8


class Conditions(NamedTuple):
    """Why a current record may have to be left out though nothing narrows the question."""

    begins: str | None
    """The later of `valid_from` and an episode's start."""
    ends: str | None
    is_archived: bool
    is_secret: bool
    session: str | None
    """The thread of a record of the kind `session` (blank where it names none), else None."""

    def let_through(self, asked: Filter) -> bool:
        """Whether a filter that is neither narrow nor historic shows the record."""
        return (
            (asked.at is None or (self.begins or _ALWAYS) <= asked.at < (self.ends or _NEVER))
            and (asked.include_archived or not self.is_archived)
            and (not self.is_secret or asked.max_sensitivity in (None, "secret"))
            and (self.session is None or not asked.own_thread or self.session == (asked.thread_id or ""))
        )


class _Cut(NamedTuple):
    """The block as it is shown from `since` until `until`."""

    since: str
    until: str
    block: SignatureBlock


class ShownBlock:
    """A scope's block as plain filters show it. `conditions` are by number, of those of its records that have any."""

    def __init__(self, block: SignatureBlock, conditions: Mapping[int, Conditions]) -> None:
        self.block = block
        self.conditions = conditions
        self._cuts: dict[tuple[str | None, bool, str | None, bool, bool], _Cut] = {}

    def under(self, asked: Filter) -> SignatureBlock:
        """The block without the records that the filter leaves out; the same one again until that changes."""
        if not self.conditions:
            return self.block
        at = asked.at
        kind = (asked.max_sensitivity, asked.own_thread, asked.thread_id, asked.include_archived, at is None)
        cut = self._cuts.get(kind)
        if cut is None or (at is not None and not cut.since <= at < cut.until):
            if len(self._cuts) >= _KEPT_CUTS:
                self._cuts.clear()
            cut = self._cuts[kind] = self._cut(asked)
        return cut.block

    def _cut(self, asked: Filter) -> _Cut:
        hidden = [number for number, held in self.conditions.items() if not held.let_through(asked)]
        block = self.block.with_changes((), hidden) if hidden else self.block
        if asked.at is None:
            return _Cut(_ALWAYS, _NEVER, block)
        turns = {turn for held in self.conditions.values() for turn in (held.begins, held.ends) if turn is not None}
        since = max((turn for turn in turns if turn <= asked.at), default=_ALWAYS)
        return _Cut(since, min((turn for turn in turns if turn > asked.at), default=_NEVER), block)
