"""What counts, rarity and length tell."""

import numpy as np
import pytest

from mcp_memory_server.ranking.bm25 import length_divisors, rarity, saturated, saturated_at_mean


@pytest.mark.parametrize("count", [1, 7, 200, 8_192, 8_193, 50_000])
def test_a_terms_rarity_is_its_own_whatever_else_is_asked_for(count: int) -> None:
    holding = np.arange(0, count + 1, max(count // 50, 1))
    together = rarity(holding, count)
    assert together.dtype == np.float32
    assert [rarity(np.array([held]), count)[0] for held in holding] == together.tolist()
    assert (np.diff(together) < 0).all()
    assert (together > 0).all()


def test_a_count_is_worth_more_the_higher_it_is_but_ever_less_more() -> None:
    worth = saturated_at_mean(np.arange(256, dtype=np.uint8))
    assert worth[0] == 0
    assert worth[1] == pytest.approx(1)
    assert (np.diff(worth) > 0).all()
    assert (np.diff(worth, 2) < 1e-6).all()


def test_at_mean_length_a_count_is_worth_what_it_is_among_records_of_one_length() -> None:
    counts = np.arange(256, dtype=np.float32)
    divisors = length_divisors(np.full(256, 12, dtype=np.float32), mean=12)
    assert saturated(counts, divisors) == pytest.approx(saturated_at_mean(counts.astype(np.uint8)))


def test_the_same_count_is_worth_less_in_a_longer_record() -> None:
    divisors = length_divisors(np.array([3, 12, 48], dtype=np.float32), mean=12)
    worth = saturated(np.full(3, 2, dtype=np.float32), divisors)
    assert worth[0] > worth[1] > worth[2]
