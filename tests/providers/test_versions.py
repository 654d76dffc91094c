"""What a write comes to, where the contract of every provider does not say it already."""

from typing import Any

import pytest

from mcp_memory_server.errors import InvalidInput
from mcp_memory_server.providers.contract.samples import minute, raw_record, writing
from mcp_memory_server.providers.versions import closed, closed_history, next_version


@pytest.mark.parametrize("wrong", [{"importance": 2.0}, {"kind": "rumour"}, {"valid_from": "yesterday"}])
def test_a_value_that_no_record_can_hold_is_named_and_the_text_is_not_shown(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"^{next(iter(wrong))} cannot be stored") as refused:
        next_version(None, writing("office", "somewhere-in-Lyon", **wrong), "id-1")
    assert "somewhere-in-Lyon" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_closing_a_version_twice_closes_it_once() -> None:
    record = raw_record("id-1", "office", "Lyon")
    assert closed(closed(record, minute(5)), minute(9)) == closed(record, minute(5))


def test_no_version_has_no_history() -> None:
    assert closed_history(()) == ()
