"""Blocks: built from rows, changed by writes, the same either way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory_server.ranking import Question, Row, SignatureBlock, encode_vector, rank
from mcp_memory_server.ranking.segment import Segment
from mcp_memory_server.ranking.signature import encode_signature, signature_parts

from .asking import NOW, row

TEXTS = ["Anna likes green tea", "Ben moved to Oslo", "The deploy is on Friday", "Anna flew to Oslo", "tea is in box 4"]


def any_row(number: int, text: str, thread: str | None, *, with_vector: bool) -> Row:
    vector = encode_vector(np.full(4, number + 1, dtype=np.float32)) if with_vector else None
    return row(number, text, origin_thread=thread, vector=vector)


rows = st.builds(
    any_row,
    st.integers(0, 30),
    st.sampled_from(TEXTS),
    st.sampled_from([None, "t-1", "t-2"]),
    with_vector=st.booleans(),
)
writes = st.lists(st.tuples(st.lists(rows, max_size=4), st.lists(st.integers(0, 30), max_size=2)), max_size=8)


@settings(max_examples=150, deadline=None)
@given(writes)
def test_a_block_after_writes_ranks_like_one_built_from_what_is_left(
    steps: list[tuple[list[Row], list[int]]],
) -> None:
    kept: dict[int, Row] = {}
    changed = SignatureBlock()
    for upserts, deleted in steps:
        distinct = {row.number: row for row in upserts}
        changed = changed.with_changes(distinct.values(), deleted)
        for number in deleted:
            kept.pop(number, None)
        kept.update(distinct)
    built = SignatureBlock.from_rows(kept[number] for number in sorted(kept))
    assert len(changed) == len(built) == len(kept)
    question = Question("When does Anna drink tea in Oslo?", NOW)
    left, right = (rank([block], question, 50) for block in (changed, built))
    assert [record.number for record in left] == [record.number for record in right]
    assert [record.score for record in left] == pytest.approx([record.score for record in right], abs=1e-5)


def test_a_write_shares_the_untouched_columns() -> None:
    block = SignatureBlock.from_rows(row(number, TEXTS[number % 5]) for number in range(500))
    changed = block.with_changes([row(900, "Carla paints")])
    assert changed.segments[0] is block.segments[0]
    assert len(changed) == 501


def test_small_writes_do_not_pile_up_segments() -> None:
    block = SignatureBlock.from_rows(row(number, TEXTS[number % 5]) for number in range(600))
    for number in range(200):
        block = block.with_changes([row(1000 + number, "Carla paints")])
    assert len(block.segments) <= 5
    assert len(block) == 800


def test_a_block_tells_its_size_in_bytes() -> None:
    small, large = (SignatureBlock.from_rows(row(n, TEXTS[n % 5]) for n in range(count)) for count in (10, 100))
    assert 0 < small.nbytes < large.nbytes
    assert SignatureBlock().nbytes == 0


def test_a_signature_of_another_version_is_refused() -> None:
    old = b"\x00" + encode_signature(key="k", text="tea")[1:]
    with pytest.raises(ValueError, match="encode the record again"):
        SignatureBlock.from_rows([row(1, "tea")._replace(signature=old)])
    with pytest.raises(ValueError, match="encode the record again"):
        signature_parts(old)


def test_a_signature_holds_no_plaintext() -> None:
    signature = encode_signature(key="door-code", text="The code of the door is swordfish", subject="Esmeralda")
    for word in (b"swordfish", b"Esmeralda", b"esmeralda", b"door", b"code"):
        assert word not in signature


def test_equal_records_have_equal_signatures() -> None:
    first, second = (encode_signature(key="k", text="Anna likes tea", tags=["a"], subject="Anna") for _ in range(2))
    assert first == second


def test_a_signature_can_be_taken_apart() -> None:
    parts = signature_parts(encode_signature(key="drink", text="tea tea", subject="Anna"))
    assert parts.word_count == 4
    assert sorted(parts.frequencies) == [1, 1, 1, 2]
    assert len(parts.subjects) == 4


def test_vectors_of_another_dimension_count_as_absent() -> None:
    four, two = (encode_vector(np.ones(size, dtype=np.float32)) for size in (4, 2))
    block = SignatureBlock.from_rows([row(1, "tea", vector=two), row(2, "tea", vector=four)])
    segment: Segment = block.segments[0]
    assert segment.vectors.shape == (2, 4)
    assert segment.vector_lengths.tolist()[0] == 0


def test_a_thread_whose_records_are_all_gone_changes_nothing() -> None:
    kept = row(1, "Anna likes green tea")
    with_thread = SignatureBlock.from_rows([row(0, "Anna likes green tea", origin_thread="t"), kept])
    question = Question("does Anna drink tea?", NOW)
    assert rank([with_thread.with_changes((), [0])], question, 5) == rank(
        [SignatureBlock.from_rows([kept])], question, 5
    )
