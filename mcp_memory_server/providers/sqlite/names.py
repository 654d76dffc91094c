"""Names on their way into a query: what no row can hold must match nothing, not fail."""

from __future__ import annotations

import json
from collections.abc import Iterable

from mcp_memory_server.providers.rows import is_storable


def json_names(names: Iterable[str]) -> str:
    """The names as one JSON parameter for `json_each`, so that no list is too long for a query.

    `json_each` ends a string at a NUL: a name that holds one would be taken for its beginning.
    """
    return json.dumps([name for name in names if "\x00" not in name and is_storable(name)])
