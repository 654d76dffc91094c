"""`check-regex`: patterns from the command line, or a stream of them from another program."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import click

from mcp_memory_server.regexsafety import Dialect, PatternVerdict, check_pattern
from mcp_memory_server.regexsafety.explain import explain
from mcp_memory_server.regexsafety.lines import BadLine, check_regex_lines
from mcp_memory_server.regexsafety.report import shown, verdict_json, verdict_label

from .failures import Unreadable
from .flags import Flags, setting_flags

_LONGEST_ATTACK = 400


@click.command("check-regex")
@click.argument("patterns", metavar="PATTERN...", nargs=-1)
@click.option(
    "--flags",
    "letters",
    metavar="LETTERS",
    help="Some of dgimsuvy (u: Unicode mode), or of aimsux for Python's dialect.",
)
@click.option(
    "--dialect", type=click.Choice(["ecma", "python"]), default="ecma", help="Whose syntax it is; default: ecma."
)
@click.option("--explain", "drawn", is_flag=True, help="Draw two ways in which the pattern reads one text.")
@click.option("--jsonl", is_flag=True, help='A {"pattern", "flags"} a line in, a verdict a line out, as they come.')
@setting_flags(hidden=True)
@click.pass_context
def check_regex_command(  # noqa: PLR0913, PLR0917  # click hands over one argument an option
    ctx: click.Context, patterns: tuple[str, ...], letters: str | None, dialect: Dialect, drawn: bool, jsonl: bool
) -> None:
    """Say whether a regular expression can hang a backtracking engine.

    Exit status 1 when one is not safe. With --jsonl it reads standard input; the status is then 0 whatever the
    verdicts, and 2 at a line that is no request.
    """
    if jsonl:
        if patterns or letters is not None or drawn:
            raise click.UsageError("With --jsonl patterns and flags come from standard input, and nothing is drawn.")
        return _answer_lines(dialect, as_json=Flags.of(ctx).json)
    if not patterns:
        raise click.UsageError("Give at least one PATTERN, or --jsonl.")
    verdicts = [check_pattern(pattern, letters or "", dialect) for pattern in patterns]
    safe = not any(verdict.unsafe for verdict in verdicts)
    if Flags.of(ctx).json:
        # ASCII: an argument may hold bytes that are no text, and an attack halves of surrogate pairs.
        click.echo(json.dumps({"safe": safe, "patterns": [verdict_json(verdict) for verdict in verdicts]}))
    else:
        click.echo("\n\n".join(explain(verdict) if drawn else _told(verdict) for verdict in verdicts))
    ctx.exit(0 if safe else 1)


def _answer_lines(dialect: Dialect, *, as_json: bool) -> None:
    try:
        for answer in check_regex_lines(_lines(), dialect):
            click.echo(answer)  # which flushes: whoever asked may wait for it before asking again
    except BadLine as refusal:
        raise Unreadable(f"Standard input, {refusal}.", as_json=as_json) from None


def _lines() -> Iterator[str]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise BadLine(number, "no UTF-8") from None


def _told(judged: PatternVerdict) -> str:
    lines = [
        shown(judged.pattern) or "(the empty pattern)",
        f"  verdict  {verdict_label(judged.verdict, judged.degree)}",
        f"  why      {shown(judged.reason)}",
    ]
    if judged.witness is not None:
        # Python notation, most of which JavaScript shares, so that it can be tried.
        parts = [piece for fixed, pump in judged.witness.pumps for piece in (repr(fixed), f"{pump!r} * n")]
        attack = " + ".join(part for part in (*parts, repr(judged.witness.suffix)) if part != "''")
        lines.append(f"  attack   {attack if len(attack) <= _LONGEST_ATTACK else 'too long to show: see --json'}")
    if judged.length_for_one_second is not None:
        lines.append(f"  cost     about a second at {judged.length_for_one_second:,} characters")
    return "\n".join(lines)
