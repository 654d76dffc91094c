"""`blocks`: what a person does with working blocks."""

from __future__ import annotations

import click

from mcp_memory_server.errors import echo
from mcp_memory_server.kinds.working import MAX_CHAR_LIMIT, AppendLine, Edit, ReplaceText, SetValue
from mcp_memory_server.records import MemoryRecord, visible_lines
from mcp_memory_server.service.kinds import Writer

from .layout import record_json
from .placing import group, placed
from .session import Session, in_session
from .streams import or_stdin
from .writing import show_written


@click.command("list")
@in_session
async def _list(session: Session) -> None:
    """Show the working blocks that apply to you, whole."""
    blocks = await session.service.kinds.blocks.all(session.person)
    shown = "\n\n".join(map(_shown, blocks)) or "There is no working block yet. Begin one with `blocks set`."
    session.show({"blocks": [record_json(block) for block in blocks]}, shown)


def _shown(block: MemoryRecord) -> str:
    working = block.working
    if working is None:
        return block.text
    locked = ", read-only" if working.read_only else ""
    editor = "a person" if block.origin.author == "human" else "an assistant"
    head = (
        f"{block.key} at {block.scope}: last edited by {editor}, version {block.version}, "
        f"{len(working.value)} of {working.char_limit} characters{locked}"
    )
    return "\n".join([head, *(f"  | {line}".rstrip() for line in visible_lines(working.value))])


async def _edit(session: Session, label: str, edit: Edit, writer: Writer, if_version: int | None = None) -> None:
    done = await session.service.kinds.blocks.edit(session.person, label, edit, if_version, writer)
    show_written(session, done)


blocks_command = group("blocks", _list, "Show the working blocks, and change or lock them.")

_if_version = click.option("--if-version", type=int, help="Only over this version; 0: only where there is none.")


@blocks_command.command("set")
@click.argument("label")
@click.argument("value", callback=or_stdin)
@click.option("--char-limit", type=int, help=f"The block's limit, at most {MAX_CHAR_LIMIT}; a new one has 1000.")
@_if_version
@placed
@in_session
async def _set(  # noqa: PLR0913  # click hands over one argument an option
    session: Session, *, label: str, value: str, char_limit: int | None, if_version: int | None, writer: Writer
) -> None:
    """Set the whole VALUE of a block; `-` reads it from standard input."""
    await _edit(session, label, SetValue(value, char_limit), writer, if_version)


@blocks_command.command("append")
@click.argument("label")
@click.argument("line", callback=or_stdin)
@placed
@in_session
async def _append(session: Session, label: str, line: str, writer: Writer) -> None:
    """Add one LINE at the end of a block."""
    await _edit(session, label, AppendLine(line), writer)


@blocks_command.command("replace")
@click.argument("label")
@click.argument("old")
@click.argument("new")
@_if_version
@placed
@in_session
async def _replace(  # noqa: PLR0913  # click hands over one argument an option
    session: Session, *, label: str, old: str, new: str, if_version: int | None, writer: Writer
) -> None:
    """Put NEW in the place of OLD, which must stand in the block once."""
    await _edit(session, label, ReplaceText(old, new), writer, if_version)


@blocks_command.command("lock")
@click.argument("label")
@placed
@in_session
async def _lock(session: Session, label: str, writer: Writer) -> None:
    """Make a block one that assistants cannot change."""
    await _set_lock(session, label, writer, read_only=True)


@blocks_command.command("unlock")
@click.argument("label")
@placed
@in_session
async def _unlock(session: Session, label: str, writer: Writer) -> None:
    """Let assistants change a block again."""
    await _set_lock(session, label, writer, read_only=False)


async def _set_lock(session: Session, label: str, writer: Writer, *, read_only: bool) -> None:
    block = await session.service.kinds.blocks.lock(session.person, label, read_only=read_only, writer=writer)
    state = "Locked" if read_only else "Unlocked"
    session.show({"block": record_json(block)}, f"{state} {echo(block.key)} at {block.scope}, version {block.version}.")
