"""Where time and ids come from."""

import time
from datetime import UTC, datetime
from uuid import RFC_4122, UUID

import pytest

from mcp_memory_server.providers.base import Filter
from mcp_memory_server.records import canonical_instant
from mcp_memory_server.service.wiring import new_id, utc_now


@pytest.mark.parametrize("epoch_ms", [0, 999, 1_000, 1_796_041_355_443, 1_796_041_355_444, 1_796_041_356_000])
def test_now_is_the_clocks_time_as_a_canonical_instant(monkeypatch: pytest.MonkeyPatch, epoch_ms: int) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: epoch_ms * 1_000_000 + 999_999)
    now = utc_now()
    assert now == canonical_instant(datetime.fromtimestamp(epoch_ms / 1_000, UTC))
    assert Filter(at=now) == Filter(at=str(now))


def test_a_new_id_is_a_uuid_of_version_7_that_tells_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_796_041_355_443_999_999)
    made = [new_id() for _ in range(1_000)]
    parsed = [UUID(each) for each in made]
    assert [str(each) for each in parsed] == made
    assert {(each.version, each.variant, each.int >> 80) for each in parsed} == {(7, RFC_4122, 1_796_041_355_443)}
    assert len({each.int & ((1 << 62) - 1) for each in parsed}) == len(made)
