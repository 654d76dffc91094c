"""Insights: inferences that name what they were drawn from, and stand or fall with votes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mcp_memory_server.errors import InvalidInput, echo
from mcp_memory_server.records import Insight, visible_line

MAX_CITES: Final = 16
FIRST_SALIENCE: Final = 2
MAX_SALIENCE: Final = 10
_MAX_ID_CHARS: Final = 200


def normal_insight(cites: Iterable[str]) -> Insight:
    """A fresh insight: it cites what it was drawn from, and begins with a salience of 2.

    Raises:
        InvalidInput: no id, more than 16, or one that no record can have.
    """
    ids = tuple(dict.fromkeys(cite.strip() for cite in cites))
    if not 1 <= len(ids) <= MAX_CITES:
        raise InvalidInput.of(
            "cites", f"names {len(ids)} memories; an insight cites 1 to {MAX_CITES}, by id as recall shows them"
        )
    if wrong := [id for id in ids if not id or len(id) > _MAX_ID_CHARS or visible_line(id) != id]:
        raise InvalidInput.of("cites", f"holds what is no id: {', '.join(map(echo, wrong))}")
    return Insight(cites=ids, salience=FIRST_SALIENCE)


def with_vote(insight: Insight, vote: int) -> Insight:
    """The insight after a vote of +1 or -1. Salience ends at 10; at 0 or less the insight is pruned.

    Raises:
        InvalidInput: any other vote.
    """
    if vote not in (1, -1):
        raise InvalidInput.of("vote", f"is {echo(vote)}; it is 1 (it proved right) or -1 (it did not)")
    return insight.model_copy(update={"salience": min(insight.salience + vote, MAX_SALIENCE)})
