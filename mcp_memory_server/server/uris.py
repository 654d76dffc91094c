"""The addresses of the resources, and which of them a change touches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, quote, unquote, urlencode

from mcp_memory_server.errors import InvalidInput, NotFound, echo
from mcp_memory_server.providers.base import Change, PageCursor

BLOCK: Final = "memory://block"
DIGEST: Final = "memory://digest"
STATS: Final = "memory://stats"
PENDING: Final = "memory://pending"
RECORDS: Final = "memory://records/"
SCOPES: Final = "memory://scopes/"
WORKING: Final = "memory://working/"

_VARIABLES: Final[dict[str, tuple[str, ...]]] = {
    BLOCK: ("query", "as_of", "known_at", "max_tokens"),
    DIGEST: ("query", "as_of", "known_at", "max_tokens"),
    STATS: (),
    PENDING: (),
    RECORDS: (),
    SCOPES: ("after", "after_id"),
    WORKING: (),
}
"""What may follow the question mark of each address."""

_TIMES: Final = frozenset({"as_of", "known_at"})
_LOST_PLUS: Final = re.compile(r"(:\d\d(?:[.,]\d+)?) (\d\d:?\d\d)$")
"""The offset of a time whose plus sign nobody encoded, and which therefore reads as a space."""

_REMEDY: Final = "List resources and resource templates to see what there is."


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URI: its head (one of the constants), the decoded rest of its path, its query variables."""

    head: str
    name: str
    variables: dict[str, str]


def parse(uri: str) -> Address:
    """Take a `memory://` URI apart.

    Raises:
        NotFound: no resource has that form.
    """
    path, _, query = uri.partition("?")
    variables = {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
    variables |= {name: _LOST_PLUS.sub(r"\1+\2", variables[name]) for name in _TIMES & variables.keys()}
    for head in (RECORDS, SCOPES, WORKING):
        if path.startswith(head) and len(path) > len(head):
            return Address(head, unquote(path.removeprefix(head)), variables)
    if path in (BLOCK, DIGEST, STATS, PENDING):
        return Address(path, "", variables)
    raise no_resource(uri)


def no_resource(uri: str) -> NotFound:
    """The error of an address behind which there is nothing for the caller."""
    return NotFound("resource", uri, _REMEDY)


def require_known_variables(address: Address) -> None:
    """Refuse what nobody would read: a page asked for in the wrong words must not be the first one again.

    Raises:
        InvalidInput: naming the variables that there are.
    """
    known = _VARIABLES[address.head]
    if unknown := next((name for name in address.variables if name not in known), None):
        takes = " and ".join(known) if known else "no variables"
        page = "; a page names the whole URI of the `next` one" if address.head == SCOPES else ""
        raise InvalidInput.of("uri", f"has the variable {echo(unknown)}, but {address.head} takes {takes}{page}")
    if "after_id" in address.variables and "after" not in address.variables:
        raise InvalidInput.of("uri", "has after_id without after; use the `next` URI of the page before as it stands")


def record_uri(record_id: str) -> str:
    return RECORDS + quote(record_id, safe="")


def scope_uri(scope: str, after: PageCursor | None = None) -> str:
    """A scope's page; `after` continues behind that place."""
    uri = SCOPES + quote(scope, safe="")
    if after is None:
        return uri
    place = {"after": after.key} | ({} if after.id is None else {"after_id": after.id})
    return f"{uri}?{urlencode(place, quote_via=quote)}"


def page_cursor(address: Address) -> PageCursor | None:
    """Where the page of a scope's address begins; None at the first record."""
    after = address.variables.get("after")
    return None if after is None else PageCursor(after, address.variables.get("after_id"))


def is_touched(uri: str, change: Change) -> bool:
    """Whether what `uri` shows may differ after the change, for somebody who sees the changed scope."""
    try:
        address = parse(uri)
    except NotFound:
        return False
    if address.head == RECORDS:
        return address.name == change.id
    if address.head == SCOPES:
        return address.name == change.scope
    return True
