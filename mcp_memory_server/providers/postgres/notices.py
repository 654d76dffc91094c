"""How one server tells the others what it changed: the words of the notifications that Postgres passes on."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from mcp_memory_server.providers.base import Change

CHANNEL: Final = "mcp_memory"

_MOST: Final = 1_000
"""Of one transaction: it is sooner said that anything may have changed."""
_LONGEST: Final = 7_999
"""What Postgres carries, in bytes."""
_ANYTHING: Final = "null"


def notices_of(changed: Collection[tuple[str, str]]) -> list[str]:
    """What is to be said of changes of records, given as (scope, id)."""
    said = [json.dumps(change, separators=(",", ":")) for change in changed] if len(changed) <= _MOST else [_ANYTHING]
    return [notice if len(notice) <= _LONGEST else _ANYTHING for notice in said]


def change_of(notice: str) -> Change | None:
    """The change that a notice is of. None where anything may have changed: also when it is no notice of ours."""
    try:
        said: Any = json.loads(notice)
    except (ValueError, RecursionError):
        return None
    match said:
        case [str(scope), str(id)]:
            return Change(scope, id)
        case _:
            return None
