"""Working blocks: named slots of a few lines, and what each edit makes of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, assert_never

from mcp_memory_server.errors import InvalidInput, echo
from mcp_memory_server.records import WorkingBlock, refuse_surrogates, visible_lines

DEFAULT_CHAR_LIMIT: Final = 1_000
MAX_CHAR_LIMIT: Final = 2_000


def normal_working(block: WorkingBlock) -> WorkingBlock:
    """A working block as it is stored: visible lines, without blank ones at either end.

    Raises:
        InvalidInput: more characters than its limit, with both numbers, or a limit outside 1 to 2,000.
    """
    refuse_surrogates("value", block.value)
    if not 1 <= block.char_limit <= MAX_CHAR_LIMIT:
        raise InvalidInput.of("char_limit", f"is {echo(block.char_limit)}, outside 1 to {MAX_CHAR_LIMIT}")
    value = "\n".join(visible_lines(block.value)).strip("\n")
    if len(value) > block.char_limit:
        raise InvalidInput.of(
            "value",
            f"has {len(value)} characters and the block's limit is {block.char_limit}; nothing was stored and nothing "
            f"was cut. Shorten the block, or set it with a char_limit of up to {MAX_CHAR_LIMIT}",
        )
    return block.model_copy(update={"value": value})


def working_text(block: WorkingBlock) -> str:
    """The value of a working block on one line."""
    return " ".join(line.strip() for line in block.value.split("\n") if line.strip()) or "(empty)"


@dataclass(frozen=True, slots=True)
class SetValue:
    """Put `value` in the block's place. None leaves the limit as it is, or takes the default for a new block."""

    value: str
    char_limit: int | None = None


@dataclass(frozen=True, slots=True)
class AppendLine:
    """Add one line at the end; a block that is not there yet begins with it."""

    line: str


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Put `new` in the place of `old`, which must stand in the block once. A blank `new` takes `old` out."""

    old: str
    new: str


Edit = SetValue | AppendLine | ReplaceText


def words_of(edit: Edit) -> dict[str, tuple[str, ...]]:
    """What an edit would have the block say, by argument."""
    match edit:
        case SetValue():
            return {"value": (edit.value,)}
        case AppendLine():
            return {"line": (edit.line,)}
        case ReplaceText():
            return {"new": (edit.new,)}
        case _:
            assert_never(edit)


def edited(block: WorkingBlock | None, edit: Edit) -> WorkingBlock | None:
    """The block after the edit; None where there is no block for it to change.

    Raises:
        InvalidInput: the block would pass its limit (nothing is cut), or the edit has nothing to say.
    """
    held = block or WorkingBlock(value="", char_limit=DEFAULT_CHAR_LIMIT)
    match edit:
        case SetValue():
            limit = held.char_limit if edit.char_limit is None else edit.char_limit
            # Built, not copied: a limit below 1 is the gate's to refuse.
            return normal_working(held.model_copy(update={"value": edit.value, "char_limit": limit}))
        case AppendLine():
            return normal_working(held.model_copy(update={"value": f"{held.value}\n{_one_line(edit.line)}"}))
        case ReplaceText():
            return block and _replaced(block, edit)
        case _:
            assert_never(edit)


def _one_line(line: str) -> str:
    refuse_surrogates("line", line)
    shown = [part for part in visible_lines(line) if part]
    if len(shown) != 1:
        fault = "is blank" if not shown else f"has {len(shown)} lines; append them one by one, or set the whole value"
        raise InvalidInput.of("line", fault)
    return shown[0]


def _replaced(block: WorkingBlock, edit: ReplaceText) -> WorkingBlock:
    refuse_surrogates("old", edit.old)
    refuse_surrogates("new", edit.new)
    old = "\n".join(visible_lines(edit.old)).strip("\n")
    if not old:
        raise InvalidInput.of("old", "is blank; give the text that is to be replaced")
    if (found := block.value.count(old)) != 1:
        state = "is not in the block" if found == 0 else f"stands in the block {found} times; give more of it"
        raise InvalidInput.of("old", state)
    return normal_working(block.model_copy(update={"value": block.value.replace(old, edit.new)}))
