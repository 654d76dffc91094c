"""The JSON Schemas that the tools publish, written out by hand.

Several clients drop or refuse a tool whose schemas hold references, unions or null; pydantic would emit all
three for optional and nested fields. So every subschema here has one plain `type`, nested objects stand inline,
and an optional field is one that `required` does not name. Short on purpose: every client pays for these in
tokens before it does any work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Schema = dict[str, Any]

STRING: Final[Schema] = {"type": "string"}
INTEGER: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
BOOLEAN: Final[Schema] = {"type": "boolean"}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def record_of(properties: Mapping[str, Schema], required: tuple[str, ...]) -> Schema:
    """An object of an answer: more fields may come with a later release."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def arguments(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    """The arguments of a tool: no others are accepted."""
    return {**record_of(properties, required), "additionalProperties": False}


# What a client's code may count on; a record holds more (see the README), and `additionalProperties` is open.
_RECORD: Final[dict[str, Schema]] = {
    "id": STRING,
    "key": STRING,
    "text": STRING,
    "scope": STRING,
    "origin": record_of({"author": STRING, "thread_id": STRING}, ("author",)),
    "created_at": STRING,
    "updated_at": STRING,
    "version": INTEGER,
    "pinned": BOOLEAN,
    "tags": array(STRING),
    "valid_from": STRING,
    "valid_to": STRING,
}
_RECORD_REQUIRED: Final = ("id", "key", "text", "scope", "origin", "updated_at")

RECORD: Final = record_of(_RECORD, _RECORD_REQUIRED)
OVERRIDES: Final = array(record_of({"scope": STRING, "text": STRING, "author": STRING}, ("scope", "text", "author")))
ENTRY: Final = record_of({**_RECORD, "overrides": OVERRIDES}, _RECORD_REQUIRED)

REMEMBERED: Final = record_of(
    {
        "status": {"type": "string", "enum": ["stored", "replaced", "unchanged"]},
        "record": RECORD,
        "previous": {"type": "object"},
        "overrides": OVERRIDES,
        "similar_keys": array(STRING),
    },
    ("status", "record", "overrides", "similar_keys"),
)

WRITTEN: Final = record_of(
    {
        "status": {"type": "string", "enum": ["stored", "replaced", "unchanged"]},
        "record": {"type": "object"},
    },
    ("status", "record"),
)

DIGEST: Final = record_of(
    {
        "digest_id": STRING,
        "scopes": array(STRING),
        "entries": array(ENTRY),
        "omitted": INTEGER,
        "pinned_omitted": INTEGER,
        "recalled": BOOLEAN,
        "journaled": BOOLEAN,
        "erased": INTEGER,
        "signals": {"type": "object"},
        "outcome": {"type": "string", "enum": ["manifest", "block", "nothing_new", "degrade"]},
        "reason": STRING,
        "surfaced": array(STRING),
        "left_out": {"type": "object"},
        "kept": BOOLEAN,
        "manifest": array({"type": "object"}),
    },
    ("scopes", "entries", "omitted", "pinned_omitted", "recalled", "journaled"),
)

HITS: Final = record_of(
    {
        "hits": array(
            record_of(
                {"record": RECORD, "score": NUMBER, "signals": {"type": "object"}, "why": {"type": "object"}},
                ("record", "score", "signals", "why"),
            )
        )
    },
    ("hits",),
)

HISTORY: Final = record_of(
    {"versions": array(RECORD), "supersedes": array({"type": "object"}), "superseded_by": array({"type": "object"})},
    ("versions", "supersedes", "superseded_by"),
)

DESCRIPTION: Final = record_of(
    {
        "name": STRING,
        "aliases": array(STRING),
        "facts": array(RECORD),
        "neighbours": array(
            record_of(
                {
                    "name": STRING,
                    "predicate": STRING,
                    "direction": {"type": "string", "enum": ["outward", "inward"]},
                    "id": STRING,
                },
                ("name", "predicate", "direction", "id"),
            )
        ),
        "more": BOOLEAN,
    },
    ("name", "aliases", "facts", "neighbours", "more"),
)

MERGED: Final = record_of({"merge_id": STRING, "in_force": BOOLEAN, "at": STRING}, ("merge_id", "in_force", "at"))

FORGOTTEN: Final = record_of(
    {
        "forgotten": BOOLEAN,
        "id": STRING,
        "key": STRING,
        "erasure": {"type": "string", "enum": ["done", "pending"]},
        "still_at": array(STRING),
        "cited_by": array(STRING),
    },
    ("forgotten", "id", "key", "erasure"),
)

SCHEMA_CHECK: Final = record_of(
    {
        "safe": BOOLEAN,
        "checked": INTEGER,
        "findings": array(
            record_of(
                {
                    "tool": STRING,
                    "place": {"type": "string", "enum": ["inputSchema", "outputSchema"]},
                    "pointer": STRING,
                    "verdict": {"type": "string", "enum": ["polynomial", "exponential", "invalid", "unknown"]},
                    "pattern": STRING,
                    "degree": INTEGER,
                    "reason": STRING,
                    "attack": {"type": "object"},
                },
                ("pointer", "verdict", "pattern", "reason"),
            )
        ),
        "omitted": INTEGER,
    },
    ("safe", "checked", "findings"),
)
