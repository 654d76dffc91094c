"""Records with their history as JSON Lines: what leaves comes back the same.

The first line is a header that names the format and its version. Every further line is one version of one
record, with every field that it has; of a record with history the versions rise from line to line, and the last
one is current. UTF-8, one document a line, `\\n` between them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from mcp_memory_server.errors import CredentialRefused, InvalidInput, Problem, echo
from mcp_memory_server.identity import MAX_STORED_SCOPE_CHARS, check_scope
from mcp_memory_server.kinds import normal_kind
from mcp_memory_server.records import (
    MemoryRecord,
    check_validity,
    lane_of,
    normal_key,
    normal_tags,
    visible_line,
)

FORMAT: Final = "mcp-memory-server"
FORMAT_VERSION: Final = 1

_MOST_PROBLEMS: Final = 20
_MAX_ID_CHARS: Final = 200
_MAX_VERSION: Final = 2**53 - 1
"""The largest whole number that every reader of JSON takes exactly; stores count on from it."""

_Place = tuple[str, str, str]
"""Scope, key and lane: one current record each."""

Versions = tuple[MemoryRecord, ...]
"""The versions of one record as they were when current, oldest first."""


def header_line(exported_at: str) -> str:
    """The first line of a file."""
    return json.dumps({"format": FORMAT, "version": FORMAT_VERSION, "exported_at": exported_at})


def record_lines(versions: Versions) -> Iterator[str]:
    """The lines of one record."""
    return (version.model_dump_json() for version in versions)


def read_records(
    lines: Iterable[bytes], max_fact_chars: int, check: Callable[[MemoryRecord], None] | None = None
) -> tuple[Versions, ...]:
    """The records that the lines of a file hold, in the order of their first lines; the seal is no line of these.

    Id, text, key, tags, scope and what a kind adds go through the same gate as in any other write, and before that
    through `check`, whose `CredentialRefused` is told with its line.

    Raises:
        InvalidInput: names every line that is wrong (the first twenty of them); nothing of the file is usable.
    """
    reading = _Reading(max_fact_chars, check)
    for number, line in enumerate(lines, start=1):
        reading.take(number, line)
        if len(reading.problems) > _MOST_PROBLEMS:
            reading.problems[-1] = Problem(f"line {number}", "and perhaps later ones are wrong too")
            break
    if not reading.seen_header and not reading.problems:
        reading.problems.append(Problem("line 1", "is missing: the file is empty"))
    if reading.problems:
        raise InvalidInput(*reading.problems)
    return tuple(tuple(held) for held in reading.by_id.values())


@dataclass(slots=True)
class _Reading:
    """What was read so far, and what was wrong with it."""

    max_fact_chars: int
    check: Callable[[MemoryRecord], None] | None = None
    by_id: dict[str, list[MemoryRecord]] = field(default_factory=dict[str, list[MemoryRecord]])
    problems: list[Problem] = field(default_factory=list[Problem])
    seen_header: bool = False
    _lines: dict[str, int] = field(default_factory=dict[str, int])
    """The newest line of each id."""
    _holders: dict[_Place, str] = field(default_factory=dict[_Place, str])
    """The id that holds each place."""

    def take(self, number: int, line: bytes) -> None:
        try:
            text = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).decode()
            if not text.strip():
                return
            document = _parsed(text)
            if not self.seen_header:
                self.seen_header = True
                _check_header(document)
            elif "seal" in document:
                raise ValueError("is the seal of an export, and more lines follow it")
            else:
                raw = _record(text)
                if self.check is not None:
                    self.check(raw)
                self._add(number, _normal(raw, self.max_fact_chars))
        except UnicodeDecodeError:
            self.problems.append(Problem(f"line {number}", "is no UTF-8"))
        except InvalidInput as error:
            self.problems += [Problem(f"line {number}", str(problem)) for problem in error.problems]
        except CredentialRefused as error:
            self.problems.append(Problem(f"line {number}", f"holds what looks like a credential ({error.kind})"))
        except ValueError as error:
            self.problems.append(Problem(f"line {number}", str(error)))

    def _add(self, number: int, record: MemoryRecord) -> None:
        held = self.by_id.get(record.id, [])
        place = _place_of(record)
        other = self._holders.get(place, record.id)
        if held:
            before = held[-1]
            if (record.scope, record.key) != (before.scope, before.key):
                raise ValueError(
                    f"has the id of line {self._lines[record.id]}, {echo(record.id)}, but another scope or key"
                )
            if record.version <= before.version:
                raise ValueError(
                    f"is version {record.version} of {echo(record.id)}, which must be above version "
                    f"{before.version} on line {self._lines[record.id]}"
                )
            self._holders.pop(_place_of(before), None)
        if other != record.id:
            raise ValueError(
                f"has the scope and key of line {self._lines[other]}, {echo(record.key)}, but another id: "
                "a key has one record at a scope"
            )
        self.by_id.setdefault(record.id, []).append(record)
        self._lines[record.id] = number
        self._holders[place] = record.id


def _place_of(record: MemoryRecord) -> _Place:
    return record.scope, record.key, lane_of(record)


def _parsed(text: str) -> dict[str, Any]:
    try:
        document: object = json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"is no JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError("is no JSON object")
    return document  # pyright: ignore[reportUnknownVariableType]  # JSON's objects have string keys


def _without_doubles(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        double = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise ValueError(f"has the field {echo(double)} twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"is no JSON: it has {name} where a number stands")


def _check_header(document: dict[str, Any]) -> None:
    if document.get("format") != FORMAT:
        raise ValueError(f'is no header: the file must begin with {{"format": "{FORMAT}", "version": 1}}')
    if document.get("version") != FORMAT_VERSION:
        raise ValueError(f"has format version {echo(document.get('version'))}; this release reads {FORMAT_VERSION}")


def _record(text: str) -> MemoryRecord:
    try:
        # Strict: a number in quotes or a truth value in words would come back different from what left.
        return MemoryRecord.model_validate_json(text, strict=True)
    except ValidationError as error:
        faults = error.errors()
        if faults[0]["type"] == "json_invalid":  # though Python's reader took it
            raise ValueError("holds half of a surrogate pair; send whole ones") from None
        # pydantic's own message quotes the text, and messages reach logs.
        raise InvalidInput(*(_problem(fault["loc"], fault["msg"]) for fault in faults)) from None


def _problem(place: Sequence[int | str], message: str) -> Problem:
    return Problem(echo(".".join(map(str, place))).strip("'"), message.removeprefix("Value error, ")[:200])


def _normal(record: MemoryRecord, max_fact_chars: int) -> MemoryRecord:
    """The record as a write would have stored it.

    Raises:
        InvalidInput: it breaks a limit of what is written.
    """
    _check_id(record.id)
    if record.version > _MAX_VERSION:
        raise ValueError(f"has version {record.version}, above {_MAX_VERSION}")
    check_scope(record.scope, MAX_STORED_SCOPE_CHARS)  # a namespace may stand before it
    check_validity(record.valid_from, record.valid_to)
    named = {"key": normal_key(record.key), "tags": normal_tags(record.tags)}
    return normal_kind(record, max_fact_chars).model_copy(update=named)


def _check_id(record_id: str) -> None:
    """Ids are shown beside facts and asked for by, so they must be one visible line of a size that can be sent."""
    if len(record_id) > _MAX_ID_CHARS:
        raise InvalidInput.of("id", f"has {len(record_id)} characters and the limit is {_MAX_ID_CHARS}")
    if visible_line(record_id) != record_id:
        raise InvalidInput.of("id", f"is not one visible line: {echo(record_id)}")
