"""`doctor`: is everything as it should be, and where does each setting come from?"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import anyio
import click

from mcp_memory_server.config import Settings, load_settings, unknown_variables
from mcp_memory_server.errors import ConfigurationError, MemoryServerError, NotSupported
from mcp_memory_server.opening import open_service
from mcp_memory_server.providers.base import Condition

from .failures import told
from .flags import Flags, setting_flags
from .layout import table
from .self_test import Step, self_test
from .session import log_to_stderr, show


@dataclass(slots=True)
class _Report:
    settings: Settings
    store: dict[str, str | int] = field(default_factory=dict[str, str | int])
    self_test: list[Step] = field(default_factory=list[Step])
    faults: list[str] = field(default_factory=list[str])
    notices: list[str] = field(default_factory=list[str])

    def add(self, condition: Condition) -> None:
        self.store |= condition.details
        self.faults += condition.faults
        self.notices += condition.notices

    def setting_rows(self) -> list[tuple[str, str | float | None, str]]:
        values = self.settings.model_dump(mode="json") | {"url": self.settings.shown_url}
        return [(name, value, self.settings.origin(name)) for name, value in values.items()]


@click.command("doctor")
@setting_flags(hidden=True)
@click.pass_context
def doctor_command(ctx: click.Context) -> None:
    """Check settings and store, and mend what can be mended.

    Damage is mended, with a copy kept; pending erasures are completed. Exit status 1 when something is wrong.
    """
    flags = Flags.of(ctx)
    with told(flags):
        settings = load_settings(flags.settings)
        log_to_stderr(settings)
        report = anyio.run(_examine, settings)
    show(_document(report), _text(report), as_json=flags.json)
    ctx.exit(1 if report.faults else 0)


async def _examine(settings: Settings) -> _Report:
    report = _Report(settings)
    report.notices += [
        f"No setting has the name of the variable {name}; it is ignored." for name in unknown_variables()
    ]
    try:
        async with open_service(settings) as service:
            report.store["provider"] = service.provider.capabilities.provider
            report.add(await service.examine())
            if settings.embedder is not None:
                count = await service.vectors()
                report.store["records_with_vectors"] = count.embedded
    except ConfigurationError:
        raise
    except NotSupported as error:
        report.notices.append(str(error))
    except MemoryServerError as error:
        report.faults.append(f"{error} ({error.code})")
    report.self_test = await self_test(settings)
    report.faults += [f"Self-test, {step.name}: {step.fault}" for step in report.self_test if step.fault]
    return report


def _document(report: _Report) -> dict[str, Any]:
    return {
        "ok": not report.faults,
        "version": version("mcp-memory-server"),
        "python": platform.python_version(),
        "settings": {name: {"value": value, "origin": origin} for name, value, origin in report.setting_rows()},
        "store": report.store,
        "self_test": [{"step": step.name, "ok": step.fault is None} for step in report.self_test],
        "faults": report.faults,
        "notices": report.notices,
    }


def _text(report: _Report) -> str:
    settings = [(name, "" if value is None else value, origin) for name, value, origin in report.setting_rows()]
    parts = [
        f"mcp-memory-server {version('mcp-memory-server')}, Python {platform.python_version()} on {sys.platform}",
        table(("SETTING", "VALUE", "FROM"), settings, None, flexible=1),
        table(
            ("STORE", ""), [(name.replace("_", " "), value) for name, value in report.store.items()], None, flexible=1
        ),
        "Self-test on a scratch store: " + ", ".join(step.name for step in report.self_test),
        *(f"Note: {notice}" for notice in report.notices),
        *(f"WRONG: {fault}" for fault in report.faults),
    ]
    if not report.faults:
        parts.append("Everything is as it should be.")
    return "\n\n".join(parts)
