"""Takes a pattern out of a schema in such a way that the schema accepts what it did, and more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from .schema import NAMED_SCHEMAS, Finding, is_mapping

_TURNING = ("not", "if")
"""Keywords under which accepting more means rejecting more, or something else."""
_WITH_IT = {"if": ("if", "then", "else"), "contains": ("contains", "minContains", "maxContains")}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_COVERED_BY_KEYS = ("additionalProperties", "unevaluatedProperties")


class CannotStrip(Exception):
    """The schema is such that nothing can be taken out without a risk of rejecting what was accepted."""


def replace_pattern(schema: object, finding: Finding, pattern: str) -> object:
    """A copy of the schema with another pattern at the finding's place."""
    *way, last = _steps(finding.pointer)
    copy, owner = _copy_to(schema, way)
    if finding.keyword == "pattern":
        owner[last] = pattern
    else:
        # The order of keys says nothing in JSON, but people read it.
        entries = [(pattern if key == last else key, value) for key, value in owner.items()]
        owner.clear()
        owner.update(entries)
    return copy


def strip_pattern(schema: object, finding: Finding) -> tuple[object, str]:
    """A copy of the schema without the pattern, and what went with it; raises CannotStrip.

    Once all patterns are out, ``loosen_choices`` must follow. A pattern that went with an earlier one is no error.
    """
    if not finding.keyword:
        raise CannotStrip("the schema is too large or too deep to be changed")
    if _refers_from_turning_places(schema):
        raise CannotStrip("a reference stands under `not` or `if`, so taking a pattern out might reject more")
    steps = _steps(finding.pointer)
    if not _holds(schema, steps):
        return schema, "nothing more: it went with another pattern"
    turning = _first_turning(schema, steps)
    if turning is not None:
        copy, owner = _copy_to(schema, steps[:turning])
        gone = [key for key in _WITH_IT.get(steps[turning], (steps[turning],)) if owner.pop(key, None) is not None]
        return copy, ", ".join(gone)
    copy, owner = _copy_to(schema, steps[:-1])
    del owner[steps[-1]]
    gone = [finding.keyword]
    if finding.keyword == "patternProperties":
        # What the key covered would now fall under these.
        holder = _at(copy, steps[:-2])
        gone.extend(key for key in _COVERED_BY_KEYS if holder.pop(key, None) is not None)
    return copy, ", ".join(gone)


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _first_turning(schema: object, steps: Sequence[str]) -> int | None:
    """The position of the outermost keyword on the way that does not let the schema simply accept more."""
    value = schema
    named = False
    for position, step in enumerate(steps):
        keyword = False
        if is_mapping(value) and not named:
            keyword = True
            if step in _TURNING or (step == "contains" and "maxContains" in value):
                return position
        named = keyword and step in NAMED_SCHEMAS
        value = _child(value, step)
    return None


def _refers_from_turning_places(schema: object) -> bool:
    """Whether a reference stands below `not` or `if`: what it points to must not be loosened then."""
    stack: list[tuple[object, bool, int]] = [(schema, False, 0)]
    while stack:
        value, turned, depth = stack.pop()
        if depth > 1000:
            return True
        if isinstance(value, Mapping):
            mapping = cast("Mapping[str, object]", value)
            if turned and any(isinstance(mapping.get(key), str) for key in _REFERENCES):
                return True
            stack.extend((child, turned or key in _TURNING, depth + 1) for key, child in mapping.items())
        elif isinstance(value, (list, tuple)):
            items = cast("Sequence[object]", value)
            stack.extend((item, turned, depth + 1) for item in items)
    return False


def loosen_choices(schema: object, findings: Sequence[Finding]) -> object:
    """Turn every `oneOf` above a pattern that is gone into `anyOf`: more than one branch may hold now."""
    ways = {
        tuple(steps[:position])
        for finding in findings
        for steps in (_steps(finding.pointer),)
        for position, step in enumerate(steps[:-1])
        if step == "oneOf"
    }
    for way in sorted(ways, key=len, reverse=True):
        if not _holds(schema, [*way, "oneOf"]):
            continue
        schema, owner = _copy_to(schema, way)
        branches = owner.pop("oneOf")
        if "anyOf" not in owner:
            owner["anyOf"] = branches
        else:
            earlier = owner.get("allOf")
            owner["allOf"] = [
                *(cast("list[object]", earlier) if isinstance(earlier, list) else []),
                {"anyOf": branches},
            ]
    return schema


def _holds(schema: object, steps: Sequence[str]) -> bool:
    """Whether there is something at the place."""
    value = schema
    for step in steps:
        if is_mapping(value) and step not in value:
            return False
        value = _child(value, step)
    return value is not None


def _child(value: object, step: str) -> object:
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value).get(step)
    if isinstance(value, (list, tuple)) and step.isdecimal():
        return cast("Sequence[object]", value)[int(step)]
    return None


def _at(value: object, steps: Sequence[str]) -> dict[str, object]:
    for step in steps:
        value = _child(value, step)
    return cast("dict[str, object]", value)


def _copy_to(schema: object, steps: Sequence[str]) -> tuple[object, dict[str, object]]:
    """A copy that shares all but the way to a place, and the mapping at that place, which may be changed."""
    root = _shallow(schema)
    value = root
    for step in steps:
        child = _shallow(_child(value, step))
        if isinstance(value, dict):
            cast("dict[str, object]", value)[step] = child
        else:
            cast("list[object]", value)[int(step)] = child
        value = child
    return root, cast("dict[str, object]", value)


def _shallow(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    return list(cast("Sequence[object]", value))
