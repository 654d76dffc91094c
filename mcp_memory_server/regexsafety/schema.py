"""Finds the patterns of a JSON Schema by the places where a schema may stand, and has each judged once.

A `pattern` in a `const`, an `enum`, a `default` or an `example` is data; a property *named* pattern is a property.
The walk needs no recursion, follows local references once each and never fetches anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeGuard, cast
from urllib.parse import unquote

from .budget import Limits
from .check import check_pattern
from .verdict import PatternVerdict, VerdictName, Witness

Keyword: TypeAlias = Literal["pattern", "patternProperties", ""]

_ONE = frozenset(
    (
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
        "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    )
)  # fmt: skip
"""Keywords whose value is a schema."""
_MANY = frozenset(("allOf", "anyOf", "items", "oneOf", "prefixItems"))
"""Keywords whose value is a list of schemas."""
NAMED_SCHEMAS = frozenset(
    ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")
)
"""Keywords whose value maps names to schemas."""
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_DEEPEST = 500
_MOST_PLACES = 50_000
_MOST_STEPS = 2_000_000
"""Analysis steps for all patterns of one schema, a second or two; beyond it the verdict is unknown."""
_STEPS_A_PATTERN = 300
"""What a pattern costs before its analysis begins."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One pattern of a schema and what is to be thought of it."""

    pointer: str
    """JSON pointer of the `pattern` value or of the `patternProperties` key; "" for the schema as a whole."""
    verdict: VerdictName
    pattern: str
    keyword: Keyword
    judged: PatternVerdict | None = None
    """The verdict in full; None where the schema itself is too large or too deep to be read."""
    max_length: int | None = None
    """A `maxLength` beside the pattern. It may make a polynomial bearable, never an exponential."""
    note: str = ""

    @property
    def unsafe(self) -> bool:
        """Whether a policy should act."""
        return self.verdict != "safe"

    @property
    def degree(self) -> int | None:
        """The degree of a polynomial."""
        return self.judged.degree if self.judged else None

    @property
    def witness(self) -> Witness | None:
        """The attack, where one is known."""
        return self.judged.witness if self.judged else None

    @property
    def reason(self) -> str:
        """Why, in words for a developer."""
        reason = self.judged.reason if self.judged else ""
        return " ".join(part for part in (reason, self.note) if part)


@dataclass(frozen=True, slots=True)
class Place:
    """A schema position; the way to it is a chain, so that deep schemas cost no long pointers."""

    value: object
    parent: Place | None
    step: str
    depth: int

    def below(self, value: object, *steps: str) -> Place:
        """The position some steps further down."""
        place: Place = self
        for step in steps:
            place = Place(value, place, step, place.depth + 1)
        return place

    @property
    def steps(self) -> tuple[str, ...]:
        """The keys and indices from the root."""
        found: list[str] = []
        place, parent = self, self.parent
        while parent is not None:
            found.append(place.step)
            place, parent = parent, parent.parent
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class PatternPlace:
    """A pattern in a schema position."""

    place: Place
    keyword: Keyword
    pattern: str


class _TooLarge(Exception):
    """The schema is beyond what is read; the message says how."""


def to_pointer(steps: Sequence[str]) -> str:
    """Steps as a JSON pointer (RFC 6901)."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def check_schema(schema: object, limits: Limits | None = None) -> list[Finding]:
    """Judge every pattern of a JSON Schema (any draft), in the order of the walk, safe ones included.

    Each is judged under ``u``, as validators compile it, and without it where only that compiles. Whatever the
    argument is, the answer is a list: what cannot be read is one finding with the verdict ``unknown``.
    """
    findings: list[Finding] = []
    known: dict[str, tuple[PatternVerdict, str]] = {}
    left = _MOST_STEPS
    try:
        for found in pattern_places(schema):
            pattern = found.pattern
            if pattern not in known:
                known[pattern] = _judge(pattern, limits or Limits(), left > 0)
                left -= known[pattern][0].cost + _STEPS_A_PATTERN + 10 * len(pattern)
            findings.append(_finding(found, *known[pattern]))
    except _TooLarge as excess:
        findings.append(Finding("", "unknown", "", "", note=str(excess)))
    return findings


def _judge(pattern: str, limits: Limits, affordable: bool) -> tuple[PatternVerdict, str]:
    if not affordable:
        reason = "The schema has more patterns than are judged at once."
        return PatternVerdict(pattern, "u", "ecma", "unknown", reason), ""
    judged = check_pattern(pattern, "u", limits=limits)
    if judged.verdict != "invalid":
        return judged, ""
    fallback = check_pattern(pattern, "", limits=limits)
    if fallback.verdict == "invalid":
        return judged, ""
    return fallback, "Judged without the u flag, with which it does not compile."


def _finding(found: PatternPlace, judged: PatternVerdict, note: str) -> Finding:
    limit: object = None
    owner = found.place.parent
    if found.keyword == "pattern" and owner is not None:
        limit = cast("Mapping[object, object]", owner.value).get("maxLength")
    max_length = int(limit) if isinstance(limit, (int, float)) and 0 <= limit <= 2**53 else None
    pointer = to_pointer(found.place.steps)
    return Finding(pointer, judged.verdict, found.pattern, found.keyword, judged, max_length, note)


def pattern_places(schema: object) -> Iterator[PatternPlace]:
    """Every pattern in a schema position, those behind local references included."""
    # The schema holds every object alive while it is walked, so identities stay good.
    walked: set[int] = set()
    pending = [Place(schema, None, "", 0)]
    while pending:
        references: dict[str, None] = {}
        for place in _schemas_from(pending):
            walked.add(id(place.value))
            node = cast("Mapping[object, object]", place.value)
            yield from _patterns_of(place, node)
            references.update((value, None) for key in _REFERENCES if isinstance(value := node.get(key), str))
        targets = (_resolve(schema, reference) for reference in references)
        pending = [place for place in targets if place is not None and id(place.value) not in walked]


def _schemas_from(roots: list[Place]) -> Iterator[Place]:
    """The schema objects at and below some places, parents first.

    An object that is its own ancestor is not entered again; one that stands at two places is read at both.
    """
    stack = [(0, place) for place in reversed(roots)]
    ancestors: list[int] = []
    count = 0
    while stack:
        level, place = stack.pop()
        del ancestors[level:]
        node = place.value
        if not is_mapping(node) or id(node) in ancestors:
            continue
        count += 1
        if place.depth > _DEEPEST or count > _MOST_PLACES:
            raise _TooLarge(f"The schema is more than {_DEEPEST} levels deep or {_MOST_PLACES} subschemas large.")
        ancestors.append(id(node))
        yield place
        below = list(_below(place, node))
        stack.extend((level + 1, child) for child in reversed(below))


def is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    """isinstance, with a type that a checker can go on with."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """A list or a tuple, but no text."""
    return isinstance(value, (list, tuple))


def _mapping(value: object) -> Mapping[object, object]:
    """The value where it is a mapping, else an empty one."""
    return value if is_mapping(value) else {}


def _list(value: object) -> Sequence[object]:
    """The value where it is a list, else an empty one."""
    return value if is_list(value) else ()


def _below(place: Place, node: Mapping[object, object]) -> Iterator[Place]:
    """The schema positions directly below a schema."""
    for key, value in node.items():
        if not isinstance(key, str):
            continue
        if key in _ONE and is_mapping(value):
            yield place.below(value, key)
        elif key in _MANY:
            for index, item in enumerate(_list(value)):
                yield place.below(item, key, str(index))
        elif key in NAMED_SCHEMAS:
            for name, item in _mapping(value).items():
                if isinstance(name, str):
                    yield place.below(item, key, name)


def _patterns_of(place: Place, node: Mapping[object, object]) -> Iterator[PatternPlace]:
    pattern = node.get("pattern")
    if isinstance(pattern, str):
        yield PatternPlace(place.below(pattern, "pattern"), "pattern", pattern)
    for key in _mapping(node.get("patternProperties")):
        if isinstance(key, str):
            yield PatternPlace(place.below(key, "patternProperties", key), "patternProperties", key)


def _resolve(schema: object, reference: str) -> Place | None:
    """Where a local reference points to, or None."""
    if not reference.startswith("#"):
        return None
    fragment = unquote(reference[1:])
    place = Place(schema, None, "", 0)
    if not fragment.startswith("/"):
        # The root, or a plain name, whose target stands in a schema position and is met by the walk.
        return place if not fragment else None
    for raw in fragment[1:].split("/"):
        if place.depth > _DEEPEST:
            return None
        step = raw.replace("~1", "/").replace("~0", "~")
        named, listed = _mapping(place.value), _list(place.value)
        if step in named:
            place = place.below(named[step], step)
        elif step.isdecimal() and int(step[:9]) < len(listed):
            place = place.below(listed[int(step[:9])], step)
        else:
            return None
    return place
