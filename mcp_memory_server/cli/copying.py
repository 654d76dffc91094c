"""`copy`: a whole store into another one, with progress, and verified."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any, Final

import anyio
import click

from mcp_memory_server.config import Settings, load_settings
from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.opening import are_one_store, is_missing, open_store
from mcp_memory_server.providers.base import Part
from mcp_memory_server.service.copying import Copied, CopyRequest, Progress, copy_store

from .columns import counted
from .failures import told
from .flags import Flags, setting_flags
from .session import log_to_stderr, show

_LABELS: Final = {"copying": "Copying", "verifying": "Verifying", "carrying": "Taking along the rest"}
_PARTS: Final[dict[Part, str]] = {
    "entities": "entity",
    "merges": "line of the ledger of merges",
    "audit": "audit line",
    "journal": "shown digest",
    "surfaced": "conversation",
    "vectors": "vector",
}
_PLURALS: Final = {"entity": "entities", "line of the ledger of merges": "lines of the ledger of merges"}
_FLEETING: Final = "memory://"


@click.command("copy")
@click.option("--from", "source", metavar="URL", help="The store to copy; default: the configured one.")
@click.option("--to", "target", metavar="URL", help="The store to copy it into; default: the configured one.")
@click.option("--merge", is_flag=True, help="Add to a target that holds records of its own, and keep those.")
@setting_flags(hidden=True)
@click.pass_context
def copy_command(ctx: click.Context, *, source: str | None, target: str | None, merge: bool) -> None:
    """Copy a whole store into another one, of any kind.

    Servers may go on writing to the source. Stopped, it goes on where it was when it is run again; run again later, it
    takes what changed since, and erases what was forgotten. At the end both stores are read and compared: exit status
    1 says that they do not hold the same. Nothing that the target holds of its own is changed or erased.

    A URL with a password is better kept from the command line: leave --from or --to out, and put it where the
    settings are, such as the file that --url-file names.
    """
    flags = Flags.of(ctx)
    with told(flags):
        ends = _ends(flags, source, target)
        log_to_stderr(ends[0])
        copied = anyio.run(_copy, *ends, merge)
    show(_document(copied, *ends), "\n".join(_lines(copied, *ends)), as_json=flags.json)
    ctx.exit(0 if copied.same else 1)


def _ends(flags: Flags, source: str | None, target: str | None) -> tuple[Settings, Settings]:
    """The settings of the two ends.

    Raises:
        ConfigurationError
        click.UsageError: they are one, or neither is named.
    """
    if source is None and target is None:
        raise click.UsageError("Give --from URL or --to URL, or both; the one left out is the configured store.")
    ends = _settings(flags, source), _settings(flags, target)
    if any(end.url.startswith(_FLEETING) for end in ends):
        raise click.UsageError(f"A store {_FLEETING} is empty when a command begins, and gone when it ends.")
    if are_one_store(*ends):
        raise click.UsageError("--from and --to mean one store; name two.")
    if is_missing(ends[0]):
        raise ConfigurationError(f"There is no store at {ends[0].shown_url} to copy from; nothing was made.")
    return ends


def _settings(flags: Flags, url: str | None) -> Settings:
    return load_settings(flags.settings if url is None else {**flags.settings, "url": url})


async def _copy(source: Settings, target: Settings, merge: bool) -> Copied:
    with _Bars() as report:
        async with open_store(source) as ours, open_store(target) as theirs:
            return await copy_store(CopyRequest(ours, theirs, by=source.actor, merge=merge), report)


class _Bars:
    """A progress bar on standard error for one step after the other."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._step: str | None = None
        self._bar: Any = None

    def __enter__(self) -> _Bars:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def __call__(self, progress: Progress) -> None:
        if progress.step != self._step:
            self._open.close()
            self._step = progress.step
            label = _LABELS[progress.step]
            bar = click.progressbar(length=1, label=label, file=sys.stderr, show_pos=True)
            self._bar = self._open.enter_context(bar)
        self._bar.length = max(progress.total, 1)
        self._bar.update(progress.done - self._bar.pos)


def _document(copied: Copied, source: Settings, target: Settings) -> dict[str, Any]:
    return {"from": source.shown_url, "to": target.shown_url, "same": copied.same, **asdict(copied)}


def _lines(copied: Copied, source: Settings, target: Settings) -> Iterator[str]:
    held = (
        f"{counted(copied.records, 'record')}, {counted(copied.versions, 'version')}, {counted(copied.scopes, 'scope')}"
    )
    yield f"From {source.shown_url} to {target.shown_url}: {held}."
    yield f"New or changed at the target: {copied.restored}. Erased there, as at the source: {copied.forgotten}."
    if copied.pending:
        yield f"The bytes of {copied.pending} of those wait to be erased: run doctor on the target."
    yield from _beside(copied)
    yield from _left(copied)
    if copied.same:
        yield f"Verified: both hold the same, version for version. SHA-256 {copied.source_digest}"
    else:
        yield from _differences(copied)
    yield _last_word(copied)


def _beside(copied: Copied) -> Iterator[str]:
    if copied.carries:
        yield f"Beside them: {', '.join(_rows(beside.part, beside.rows) for beside in copied.beside)}."
    else:
        yield (
            "Not copied, since not both stores can hand it over: audit lines of what was forgotten, shown digests and "
            "conversations, merges of entities, and vectors, which reindex makes anew."
        )
    if not copied.with_history:
        yield "Not copied, since not both stores keep them: replaced versions."


def _rows(part: Part, rows: int) -> str:
    one = _PARTS[part]
    return f"{rows} {one if rows == 1 else _PLURALS.get(one, f'{one}s')}"


def _left(copied: Copied) -> Iterator[str]:
    """What was left as it is, and why."""
    reasons = {
        "changed at the target since, and newer there": copied.newer,
        "forgotten at the target, and not brought back": copied.erased,
        "of a key that the target has a record of its own for": copied.beaten,
    }
    yield from (f"Left out: {counted(count, 'record')}, {reason}." for reason, count in reasons.items() if count)
    if copied.own:
        yield f"The target holds {counted(copied.own, 'record')} of its own, which stay."


def _differences(copied: Copied) -> Iterator[str]:
    if copied.differing:
        yield f"DIFFERENT at {counted(copied.differing, 'scope')}:"
        for found in copied.differences:
            yield f"  {found.scope}: {found.at_source} at the source, {found.at_target} at the target"
        if copied.differing > len(copied.differences):
            yield f"  and {copied.differing - len(copied.differences)} more"
        yield f"SHA-256 {copied.source_digest} at the source, {copied.target_digest} at the target."
    for beside in copied.beside:
        if not beside.held:
            yield f"DIFFERENT: not all of {_rows(beside.part, beside.rows)} reached the target."


def _last_word(copied: Copied) -> str:
    again = "stop what writes to it and run this again, which takes what is missing, then switch to the target."
    if not copied.follows:
        return f"The source does not tell whether it was written meanwhile: {again}"
    if copied.written:
        return f"The source was written meanwhile ({counted(copied.written, 'change')}): {again}"
    return "Nothing was written to the source meanwhile. If that stays so, switch to the target now."
