"""Reading a tool's arguments by its published schema, so that what is advertised is what is checked.

Models fill optional arguments with null or "", quote numbers and send one tag as a bare string: where the
meaning is plain it is taken. Everything else is refused, with every wrong argument named at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from mcp_memory_server.errors import InvalidInput, Problem, echo

from .schemas import Schema


class _Unusable(Exception):
    """The value does not fit; the message completes "argument ..."."""


def read_arguments(schema: Schema, given: Mapping[str, Any] | None) -> tuple[dict[str, Any], list[Problem]]:
    """The arguments that can be read, in the types that `schema` names, and what is wrong with the others.

    Absent optional ones are left out. Every missing, unknown and wrong argument is a problem of its own, with the
    limit that it broke.
    """
    properties: dict[str, Schema] = schema["properties"]
    required: list[str] = schema["required"]
    present = {name: value for name, value in (given or {}).items() if value not in (None, "") or name in required}
    problems = [
        Problem(echo(name), f"is no argument of this tool; it takes {', '.join(properties)}")
        for name in present
        if name not in properties
    ]
    values: dict[str, Any] = {}
    for name, subschema in properties.items():
        if name in present and present[name] is not None:
            try:
                values[name] = _READERS[subschema["type"]](present[name], subschema)
            except _Unusable as error:
                problems.append(Problem(name, str(error)))
        elif name in required:
            problems.append(Problem(name, "is required"))
    return values, problems


def _string(value: object, schema: Schema) -> str:
    if not isinstance(value, str):
        raise _Unusable(f"must be a string, not {_kind(value)}")
    if len(value) > schema.get("maxLength", len(value)):
        raise _Unusable(f"has {len(value)} characters and the limit is {schema['maxLength']}")
    if value not in schema.get("enum", [value]):
        raise _Unusable(f"must be one of {', '.join(schema['enum'])}, not {echo(value)}")
    return value


def _integer(value: object, schema: Schema) -> int:
    number = _whole(value)
    if number is None:
        raise _Unusable(f"must be a whole number, not {_kind(value)} {echo(value)}")
    least, most = schema.get("minimum"), schema.get("maximum")
    if (least is not None and number < least) or (most is not None and number > most):
        span = f"{least} to {most}" if most is not None else f"at least {least}"
        raise _Unusable(f"must be {span}, not {echo(number)}")
    return number


def _whole(value: object) -> int | None:
    match value:
        case bool():
            return None
        case int():
            return value
        case float() if value.is_integer():
            return int(value)
        case str() if re.fullmatch(r"[+-]?[0-9]{1,20}", value.strip()):
            return int(value)
        case _:
            return None


def whole_number(name: str, given: str) -> int:
    """The number in an argument that the protocol has as a string: a variable of a URI, an argument of a prompt.

    Raises:
        InvalidInput: it is none.
    """
    number = _whole(given)
    if number is None:
        raise InvalidInput.of(name, f"must be a whole number, not {echo(given)}")
    return number


def _boolean(value: object, _: Schema) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise _Unusable(f"must be true or false, not {_kind(value)} {echo(value)}")
    return value


def _object(value: object, _: Schema) -> dict[str, Any]:
    value = _parsed(value, "{")
    if not isinstance(value, dict):
        raise _Unusable(f"must be an object, not {_kind(value)}")
    return cast("dict[str, Any]", value)


def _array(value: object, schema: Schema) -> list[Any]:
    items: Schema = schema["items"]
    value = _parsed(value, "[")
    if isinstance(value, str) and items["type"] == "string":
        value = [value]
    if not isinstance(value, list):
        raise _Unusable(f"must be a list of {items['type']}s, not {_kind(value)}")
    return [_READERS[items["type"]](item, items) for item in cast("list[object]", value)]


def _parsed(value: object, opening: str) -> object:
    """A list or an object that was sent as its JSON text; anything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith(opening):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


_READERS: Final[dict[str, Callable[[object, Schema], Any]]] = {
    "string": _string,
    "integer": _integer,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "null"
