"""`check-schema`: the patterns in what a file holds."""

from __future__ import annotations

import json
from typing import BinaryIO

import click

from mcp_memory_server.regexsafety.listing import NoSchema, check_document
from mcp_memory_server.regexsafety.report import shown

from .failures import Unreadable
from .findings_view import FindingsView, report_flags
from .flags import setting_flags
from .streams import STDIN


@click.command("check-schema")
@click.argument("file", type=click.File("rb"))
@setting_flags(hidden=True)
@report_flags
def check_schema_command(file: BinaryIO, view: FindingsView) -> None:
    """Check the patterns of a JSON Schema, a tool or a tools/list result.

    FILE may be `-` for standard input. Exit status 1 when a pattern is not safe, 2 when FILE holds no schema.
    """
    opened: object = getattr(file, "name", None)
    source = opened if isinstance(opened, str) and opened not in (STDIN, "<stdin>") else "stdin"
    try:
        report = check_document(json.load(file))
    except NoSchema as refusal:
        problem = f"holds no schema: it is {refusal}"
    except RecursionError:
        problem = "is nested too deeply to be read"
    except ValueError as refusal:
        problem = f"is no JSON: {refusal}"[:200]
    else:
        view.show(report, source, is_file=True)
        click.get_current_context().exit(1 if report.unsafe else 0)
    raise Unreadable(shown(f"{source} {problem}."), as_json=view.as_json)
