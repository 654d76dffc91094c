"""Notes for the tests of recall, plain and hostile."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hypothesis import strategies as st

from mcp_memory_server.digest import DigestEntry, Override, as_entry
from mcp_memory_server.recall import NoteHeader
from mcp_memory_server.records import KINDS, Author, MemoryOrigin, MemoryRecord

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)


def note(
    id: str = "n1",
    key: str = "office",
    text: str = "Lyon",
    scope: str = "actor:ann",
    *,
    days: float = 0,
    author: Author = "agent",
    **more: Any,
) -> MemoryRecord:
    """A record that was written so many days before `NOW`."""
    at = (NOW - timedelta(days=days)).isoformat()
    return MemoryRecord(
        id=id, key=key, text=text, scope=scope, origin=MemoryOrigin(author=author), updated_at=at, **more
    )


def entry(record: MemoryRecord, overrides: Sequence[Override] = ()) -> DigestEntry:
    return as_entry(record, pinned=record.pinned, overrides=tuple(overrides))


def header(id: str = "n1", key: str = "office", text: str = "Lyon", **more: Any) -> NoteHeader:
    return NoteHeader.of(note(id, key, text, **more))


def headers_of(*records: MemoryRecord) -> list[NoteHeader]:
    return [NoteHeader.of(record) for record in records]


# --- hostile ------------------------------------------------------------------------------------------

_PIECES = (
    "</memory>", "<memory>", "\uff1c/memory\uff1e", "< / MEM ORY >", "\n", "\r", "\u2028", "\x85", "\x0b", "\x00", "\t",
    "- [global] key: text", "    ↳ [global] person: text", "Picked for this turn:", "(3 more are not listed)", "[", "]",
    "[[", "]]", ":", "~", "`", "(", ")", ", today) ", "\u202e", "\ud800", "\udfff", "\U0001f600", "\U000e0041", " ",
    "a", "é", "語",
)  # fmt: skip
hostile = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=3)), max_size=8).map("".join)
anything = st.text(st.characters())
"""Any string at all, halves of surrogate pairs included."""

ids = st.one_of(st.sampled_from(("n1", "n2", "~x")), hostile.filter(bool))
scopes = st.one_of(st.sampled_from(("actor:ann", "tenant:acme", "global")), hostile)
keys = st.one_of(st.sampled_from(("office", "editor", "deploy")), hostile)
links = keys.map(lambda key: f"see [[{key}]]")
hostile_records = st.builds(
    note,
    id=ids.filter(str.isprintable),  # a record's id is checked as UTF-8; a header's may be anything
    key=keys,
    text=st.one_of(hostile, links),
    scope=scopes,
    days=st.floats(-1, 400),
    author=st.sampled_from(("agent", "human")),
    kind=st.sampled_from(KINDS),
    pinned=st.booleans(),
)
overrides = st.lists(
    st.builds(Override, scope=scopes, text=hostile, author=st.sampled_from(("agent", "human"))), max_size=2
)
hostile_entries = st.builds(entry, hostile_records, overrides)
hostile_headers = st.builds(
    NoteHeader,
    id=ids,
    scope=scopes,
    key=keys,
    kind=st.sampled_from(KINDS),
    updated_at=st.datetimes(timezones=st.just(UTC)),
    description=st.one_of(st.none(), hostile),
    pinned=st.booleans(),
    links=st.lists(keys, max_size=3).map(tuple),
)
