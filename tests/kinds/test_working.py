"""Working blocks: limits, edits, and that nothing is ever cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.kinds.working import (
    AppendLine,
    Edit,
    ReplaceText,
    SetValue,
    edited,
    normal_working,
    working_text,
)
from mcp_memory_server.records import WorkingBlock

PLAN = WorkingBlock(value="write\n  test\nship", char_limit=20)


def refusal(block: WorkingBlock | None, edit: Edit) -> str:
    with pytest.raises(InvalidInput) as refused:
        edited(block, edit)
    return str(refused.value)


def test_a_block_keeps_its_lines_and_their_indentation() -> None:
    block = normal_working(WorkingBlock(value="\n\r\n a\u202e\r\n\tb\u2028\n\nc  \n", char_limit=30))
    assert block.value == " a\n    b\n\n\nc"
    assert working_text(block) == "a b c"


def test_a_block_over_its_limit_is_refused_with_both_numbers_and_nothing_is_cut() -> None:
    """9.1: `working` block (`char_limit`)."""
    for edit in (SetValue("x" * 21), AppendLine("four"), ReplaceText("ship", "x" * 10)):
        said = refusal(PLAN, edit)
        assert "characters and the block's limit is 20; nothing was stored and nothing was cut" in said
    assert "value has 21 characters" in refusal(PLAN, SetValue("x" * 21))


@pytest.mark.parametrize("limit", [-1, 0, 2_001, 10**30])
def test_a_limit_is_1_to_2000(limit: int) -> None:
    assert "char_limit is" in refusal(None, SetValue("v", limit))
    assert "outside 1 to 2000" in refusal(None, SetValue("v", limit))


def test_setting_a_block_keeps_its_limit_and_lock_unless_told() -> None:
    locked = PLAN.model_copy(update={"read_only": True})
    assert edited(locked, SetValue("new")) == WorkingBlock(value="new", char_limit=20, read_only=True)
    assert edited(locked, SetValue("new", 5)) == WorkingBlock(value="new", char_limit=5, read_only=True)
    assert edited(None, SetValue("new")) == WorkingBlock(value="new", char_limit=1_000)
    assert "has 3 characters and the block's limit is 2" in refusal(PLAN, SetValue("new", 2))


def test_appending_adds_one_line_and_begins_a_block_that_is_not_there() -> None:
    assert edited(PLAN, AppendLine("ok")) == PLAN.model_copy(update={"value": "write\n  test\nship\nok"})
    assert edited(None, AppendLine("ok")) == WorkingBlock(value="ok", char_limit=1_000)
    assert "line is blank" in refusal(PLAN, AppendLine(" \n"))
    assert "line has 2 lines" in refusal(PLAN, AppendLine("a\nb"))


def test_what_is_replaced_must_stand_there_once() -> None:
    assert edited(PLAN, ReplaceText("  test", "run")) == PLAN.model_copy(update={"value": "write\nrun\nship"})
    assert edited(PLAN, ReplaceText("write\n  test", "")) == PLAN.model_copy(update={"value": "ship"})
    assert "old is not in the block" in refusal(PLAN, ReplaceText("sail", "x"))
    assert "old stands in the block 3 times" in refusal(PLAN, ReplaceText("t", "x"))
    assert "old is blank" in refusal(PLAN, ReplaceText("\n", "x"))


def test_nothing_is_replaced_where_there_is_no_block() -> None:
    assert edited(None, ReplaceText("a", "b")) is None


def test_a_block_can_be_emptied() -> None:
    empty = edited(PLAN, SetValue(" \n "))
    assert empty is not None
    assert (empty.value, working_text(empty)) == ("", "(empty)")
    assert edited(empty, AppendLine("one")) == PLAN.model_copy(update={"value": "one"})


@pytest.mark.parametrize(
    "edit", [SetValue("\ud800"), AppendLine("\ud800"), ReplaceText("\ud800", "a"), ReplaceText("ship", "\ud800")]
)
def test_half_a_surrogate_pair_is_refused(edit: Edit) -> None:
    assert "half of a surrogate pair" in refusal(PLAN, edit)


@given(st.lists(st.text(max_size=20), max_size=6))
def test_what_is_stored_is_stored_again_as_it_is(lines: list[str]) -> None:
    try:
        block = normal_working(WorkingBlock(value="\n".join(lines), char_limit=2_000))
    except InvalidInput:
        return
    assert normal_working(block) == block
    assert "\n" not in working_text(block)
