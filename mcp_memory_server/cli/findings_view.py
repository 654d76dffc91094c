"""How findings in schemas are shown: a table for people, JSON, or SARIF for code scanning."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import click

from mcp_memory_server.regexsafety.listing import ListingReport, PlacedFinding
from mcp_memory_server.regexsafety.report import Located, finding_json, sarif, shortened, shown, verdict_label

from .columns import align, counted, terminal_width
from .flags import Flags

_LONGEST_CELL = 120
"""Every row is as long as the longest, so a hostile pointer of a megabyte must not set the width."""
_HEADINGS = ("TOOL", "PLACE", "POINTER", "VERDICT", "COST", "PATTERN")


@dataclass(frozen=True, slots=True)
class FindingsView:
    """In which form the findings were asked for, and whether safe patterns are to be listed too."""

    as_json: bool
    as_sarif: bool
    include_safe: bool

    def show(self, report: ListingReport, source: str, *, is_file: bool) -> None:
        """Print the report. In SARIF a file is the artifact, else every schema is one."""
        # JSON is ASCII: a pattern may hold halves of surrogate pairs.
        if self.as_sarif:
            from importlib.metadata import version  # noqa: PLC0415  # a tenth of what a check costs

            located = [_in_file(source, placed) if is_file else _by_schema(placed) for placed in report.placed]
            click.echo(json.dumps(sarif(located, version("mcp-memory-server"))))
        elif self.as_json:
            click.echo(json.dumps(self._document(report, source)))
        else:
            click.echo(self._text(report))

    def _listed(self, report: ListingReport) -> tuple[PlacedFinding, ...]:
        return report.placed if self.include_safe else report.unsafe

    def _document(self, report: ListingReport, source: str) -> dict[str, Any]:
        findings = [
            {"tool": placed.tool, "place": placed.place, **finding_json(Located(source, placed.finding))}
            for placed in self._listed(report)
        ]
        tools = {} if report.tools is None else {"tools": report.tools}
        return {"safe": not report.unsafe, **tools, "checked": report.checked, "findings": findings}

    def _text(self, report: ListingReport) -> str:
        parts: list[str] = []
        if listed := self._listed(report):
            rows = [_HEADINGS, *map(_row, listed)]
            if report.tools is None:
                rows = [row[2:] for row in rows]
            parts.append(align(rows, terminal_width(), flexible=len(rows[0]) - 1))
        parts.append(_summary(report))
        if any(placed.finding.witness for placed in report.unsafe):
            parts.append("`mcp-memory-server check-regex --flags u --explain PATTERN` shows how one goes wrong.")
        return "\n\n".join(parts)


def _row(placed: PlacedFinding) -> tuple[str, ...]:
    finding = placed.finding
    return (
        _cut(shown(placed.tool or "")),
        placed.place or "",
        _cut(shown(finding.pointer)) or "(all of it)",
        verdict_label(finding.verdict, finding.degree),
        _cost(placed),
        shortened(shown(finding.pattern)),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _cost(placed: PlacedFinding) -> str:
    """What an attack costs, in a few words."""
    finding = placed.finding
    if finding.judged is None:
        return finding.note
    match finding.verdict:
        case "safe":
            return ""
        case "invalid":
            return "does not compile"
        case "unknown":
            return "not judged to the end"
        case "exponential" | "polynomial":
            limit = "" if finding.max_length is None else f", maxLength {finding.max_length:,}"
            return f"1 s at {finding.judged.length_for_one_second:,} characters{limit}"


def _summary(report: ListingReport) -> str:
    where = "" if report.tools is None else f" in {counted(report.tools, 'tool')}"
    checked = f"{counted(report.checked, 'pattern')}{where}"
    if not report.unsafe:
        return f"{checked}, nothing that can hang a host."
    verdicts = Counter(placed.finding.verdict for placed in report.unsafe)
    return f"{checked}, of which not safe: {', '.join(f'{number} {name}' for name, number in verdicts.items())}."


def _in_file(file: str, placed: PlacedFinding) -> Located:
    return Located(file, replace(placed.finding, pointer=placed.root + placed.finding.pointer))


def _by_schema(placed: PlacedFinding) -> Located:
    return Located("/".join(part for part in (placed.tool, placed.place) if part), placed.finding)


def report_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--sarif` and `--all`; the body gets them as `view`."""

    @click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0, for code scanning.")
    @click.option("--all", "include_safe", is_flag=True, help="List safe patterns too.")
    @functools.wraps(command)
    def run(*args: Any, as_sarif: bool, include_safe: bool, **kwargs: Any) -> Any:
        as_json = Flags.of(click.get_current_context()).json
        if as_json and as_sarif:
            raise click.UsageError("Give --json or --sarif, not both.")
        return command(*args, view=FindingsView(as_json, as_sarif, include_safe), **kwargs)

    return run
