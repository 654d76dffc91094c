"""Blocks: built from rows, changed by writes, the same either way."""

from collections.abc import Iterable
from dataclasses import fields
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mcp_memory_server.ranking import Question, Row, SignatureBlock, encode_vector, rank
from mcp_memory_server.ranking.postings import Postings
from mcp_memory_server.ranking.segment import Segment
from mcp_memory_server.ranking.signature import encode_signature, signature_parts

from .asking import NOW, NOW_MS, row

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


mixed_rows = st.builds(
    row,
    st.integers(0, 30),
    st.one_of(st.sampled_from([*TEXTS, "", "…"]), st.text(max_size=30)),
    key=st.sampled_from(["a", "b", "c"]),
    subject=st.sampled_from([None, "Anna", "Ben Boer"]),
    origin_thread=st.sampled_from([None, "t-1", "t-2"]),
    time_ms=st.integers(0, NOW_MS),
    vector=st.sampled_from([None, bytes(4), bytes([1, 2, 3, 4]), bytes([200, 0, 7, 1])]),
)
mixed_writes = st.lists(
    st.tuples(
        st.lists(mixed_rows, max_size=5, unique_by=lambda upsert: upsert.number),
        st.lists(st.integers(0, 30), max_size=8),
    ),
    min_size=1,
    max_size=8,
)


@given(mixed_writes)
def test_a_small_block_after_writes_is_the_block_of_what_is_left_column_by_column(
    steps: list[tuple[list[Row], list[int]]],
) -> None:
    kept: dict[int, Row] = {}
    changed = SignatureBlock()
    for upserts, deleted in steps:
        before = [columns_of(segment) for segment in changed.segments]
        shared = changed
        changed = shared.with_changes(upserts, deleted)
        assert [columns_of(segment) for segment in shared.segments] == before
        for number in [*deleted, *(upsert.number for upsert in upserts)]:
            kept.pop(number, None)
        kept |= {upsert.number: upsert for upsert in upserts}
    built = SignatureBlock.from_rows(kept.values())
    assert [columns_of(segment) for segment in changed.segments] == [columns_of(segment) for segment in built.segments]
    assert changed.alive.all()


def columns_of(part: Segment | Postings) -> dict[str, object]:
    """All of it as values to compare, with the type and shape of each array."""
    columns = {field.name: as_value(getattr(part, field.name)) for field in fields(part)}
    # Where no row has a vector any more, a matrix of zeros is as good as one without columns.
    if isinstance(part, Segment) and not part.vectors.any():
        del columns["vectors"]
    return columns


def as_value(column: NDArray[Any] | Postings | int) -> object:
    if isinstance(column, Postings):
        return columns_of(column)
    return column if isinstance(column, int) else (column.dtype.str, column.shape, column.tobytes())


def alike(numbers: Iterable[int]) -> SignatureBlock:
    """Many rows, of which nothing but the number differs."""
    one = row(0, "tea")
    return SignatureBlock.from_rows(one._replace(number=number) for number in numbers)


def test_rows_are_named_by_two_bytes_while_they_suffice() -> None:
    block = alike(range(65_535))
    one = row(0, "tea")
    grown = block.with_changes([one._replace(number=number) for number in range(70_000, 79_000)])
    shrunk = grown.with_changes([one._replace(number=number) for number in range(80_000, 89_400)], range(20_000))
    assert [block.segments[0].postings.rows.itemsize, grown.segments[0].postings.rows.itemsize] == [2, 4]
    assert len(shrunk) == 63_935
    built = alike(shrunk.numbers.tolist())
    assert [columns_of(part) for part in shrunk.segments] == [columns_of(part) for part in built.segments]


@given(st.lists(st.lists(mixed_rows, min_size=1, max_size=5), min_size=1, max_size=4), st.sets(st.integers(0, 15)))
def test_a_block_of_several_segments_ranks_like_one(written: list[list[Row]], gone: set[int]) -> None:
    numbers = count()
    parts = [[upsert._replace(number=next(numbers)) for upsert in upserts] for upserts in written]
    blocks = [SignatureBlock.from_rows(part) for part in parts]
    segments = [segment for block in blocks for segment in block.segments]
    apart = SignatureBlock(tuple(segments), tuple(block.alive for block in blocks)).without(gone)
    whole = SignatureBlock.from_rows(kept for part in parts for kept in part if kept.number not in gone)
    question = Question("When does Anna drink tea in Oslo?", NOW)
    assert rank([apart], question, 50) == rank([whole], question, 50)


@given(st.lists(st.sampled_from(("jam", "tea", "fog", "ink", "sun")), min_size=12, max_size=30), st.randoms())
def test_where_a_row_stands_does_not_matter(liked: list[str], chance: Random) -> None:
    """A process that saw a record replaced has its row elsewhere than one that reads the scope now. It could show among
    records that answer equally well, of which some have to be taken for the best."""
    rows = [row(number, f"Ann likes {what}") for number, what in enumerate(liked)]
    moved = SignatureBlock.from_rows(chance.sample(rows, len(rows)))
    question = Question("What does Ann like?", NOW)
    assert rank([moved], question, 40) == rank([SignatureBlock.from_rows(rows)], question, 40)


def test_a_write_to_a_large_block_shares_the_untouched_columns() -> None:
    block = alike(range(4_000))
    changed = block.with_changes([row(5_000, "Carla paints")])
    assert changed.segments[0] is block.segments[0]
    assert len(changed) == 4_001


def test_small_writes_to_a_large_block_do_not_pile_up_segments() -> None:
    block = alike(range(3_100))
    for number in range(5_000, 5_200):
        block = block.with_changes([row(number, "Carla paints")])
    assert 1 < len(block.segments) <= 5
    assert len(block) == 3_300


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
