"""Findings as rows for a table, as JSON values, and as SARIF 2.1.0 for code scanning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .schema import Finding
from .verdict import PatternVerdict

HEADINGS = ("where", "verdict", "pattern", "why")
_LONGEST_CELL = 60
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"exponential": "error", "polynomial": "warning", "invalid": "warning", "unknown": "warning"}
_RULES = {
    "exponential": "Some thirty characters keep a backtracking engine busy for seconds.",
    "polynomial": "The work grows with a power of the length of the string.",
    "invalid": "The pattern does not compile, or there is no schema at all, so a validator throws.",
    "unknown": "The pattern could not be judged; treat it as unsafe.",
}


@dataclass(frozen=True, slots=True)
class Located:
    """A finding and where its schema was found: a tool and field, a file, or nothing."""

    source: str
    finding: Finding


def verdict_label(name: str, degree: int | None) -> str:
    """`polynomial(3)` and the like."""
    return f"{name}({degree})" if degree else name


def rows(located: Iterable[Located], include_safe: bool = False) -> list[tuple[str, str, str, str]]:
    """One row a finding, under HEADINGS, with control characters made visible."""
    return [
        (
            shown(f"{entry.source}#{entry.finding.pointer}"),
            verdict_label(entry.finding.verdict, entry.finding.degree),
            shortened(shown(entry.finding.pattern)),
            shown(entry.finding.reason),
        )
        for entry in located
        if include_safe or entry.finding.unsafe
    ]


def shown(text: str) -> str:
    """The text without anything that could steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def shortened(text: str) -> str:
    """At most 60 characters, cut in the middle."""
    return text if len(text) <= _LONGEST_CELL else f"{text[:44]}...{text[-13:]}"


def verdict_json(judged: PatternVerdict) -> dict[str, object]:
    """A verdict as JSON."""
    return {
        "pattern": judged.pattern,
        "flags": judged.flags,
        "dialect": judged.dialect,
        "verdict": judged.verdict,
        "degree": judged.degree,
        "reason": judged.reason,
        "attack": None if judged.witness is None else judged.witness.as_json(),
        "loop": None if judged.loop is None else [judged.loop.start, judged.loop.end],
        "length_for_one_second": judged.length_for_one_second,
    }


def finding_json(entry: Located) -> dict[str, object]:
    """A finding as JSON: the verdict's fields and where it stands."""
    finding = entry.finding
    place: dict[str, object] = {"source": entry.source, "pointer": finding.pointer, "keyword": finding.keyword}
    if finding.judged is None:
        return {**place, "pattern": finding.pattern, "verdict": finding.verdict, "reason": finding.reason}
    return {**place, **verdict_json(finding.judged), "reason": finding.reason, "max_length": finding.max_length}


def sarif(located: Sequence[Located], tool_version: str) -> dict[str, object]:
    """A SARIF 2.1.0 log of the unsafe findings."""
    unsafe = [entry for entry in located if entry.finding.unsafe]
    rules = [
        {"id": f"regex-{name}", "shortDescription": {"text": text}, "defaultConfiguration": {"level": _LEVELS[name]}}
        for name, text in _RULES.items()
    ]
    driver: dict[str, object] = {"name": "mcp-memory-server check", "version": tool_version, "rules": rules}
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_sarif_result(entry) for entry in unsafe]}],
    }


def _sarif_result(entry: Located) -> dict[str, object]:
    finding = entry.finding
    result: dict[str, object] = {
        "ruleId": f"regex-{finding.verdict}",
        "level": _LEVELS[finding.verdict],
        "message": {"text": f"{shown(finding.pattern)}: {shown(finding.reason)}"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": _uri(entry.source)}},
                "logicalLocations": [{"fullyQualifiedName": f"{entry.source}#{finding.pointer}", "kind": "member"}],
            }
        ],
        "partialFingerprints": {"pattern/v1": f"{entry.source}#{finding.pointer}"},
    }
    if finding.witness is not None:
        result["properties"] = {"attack": finding.witness.as_json(), "degree": finding.degree}
    return result


def _uri(source: str) -> str:
    """The source as a relative URI reference."""
    kept = "-._~/"
    return "".join(c if (c.isalnum() and c.isascii()) or c in kept else _percent(c) for c in source) or "schema"


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
