"""How many requests a caller may send."""

from mcp_memory_server.server.http.buckets import Buckets


def test_a_burst_is_let_through_and_then_as_many_as_flow_in() -> None:
    buckets = Buckets.per_minute(60)
    assert [buckets.take("ann", 0.0) for _ in range(11)] == [0] * 10 + [1]
    assert [buckets.take("ann", 1.0), buckets.take("ann", 1.0)] == [0, 1]
    assert [buckets.take("ann", 1000.0) for _ in range(11)] == [0] * 10 + [1]


def test_the_wait_that_is_told_is_long_enough() -> None:
    buckets = Buckets(1, 0.01)
    assert buckets.take("ann", 0.0) == 0
    wait_s = buckets.take("ann", 30.0)
    assert wait_s == 70
    assert buckets.take("ann", 30.0 + wait_s) == 0


def test_callers_do_not_share_a_bucket_and_refusals_cost_nothing() -> None:
    buckets = Buckets(1, 1.0)
    assert buckets.take("ann", 0.0) == 0
    assert all(buckets.take("ann", 0.5) for _ in range(100))
    assert buckets.take("bob", 0.5) == 0
    assert buckets.take("ann", 1.0) == 0


def test_what_is_kept_about_callers_is_bounded() -> None:
    buckets = Buckets(1, 0.001)
    assert buckets.take("ann", 0.0) == 0
    for number in range(10_000):
        buckets.take(f"caller {number}", 0.0)
    assert buckets.take("caller 9999", 0.0) > 0
    assert buckets.take("ann", 0.0) == 0  # forgotten, so anew
