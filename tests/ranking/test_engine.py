"""What a question finds, in which order, and what it leaves alone."""

import subprocess
import sys
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory_server.ranking import (
    QueryVectors,
    Question,
    Ranked,
    Row,
    SignatureBlock,
    encode_tokens,
    encode_vector,
    rank,
)

from .asking import DAY_MS, NOW, NOW_MS, asked, block, numbers, row

FACTS = {
    "tea": "Anna drinks green tea in the morning",
    "job": "Ben works as a nurse at the city hospital",
    "pet": "Carla has a dog called Bruno",
    "oslo": "Ben moved to Oslo two years ago",
    "deploy": "The deploy of the payment service is on Friday",
}


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("Who drinks tea?", "tea"),
        ("What pets does Carla have?", "pet"),
        ("What does Ben do for a career?", "job"),
        ("When are payments deployed?", "deploy"),
        ("payement servise", "deploy"),
        ("friday the deploy, roughly when on which day is it again", "deploy"),
    ],
)
def test_the_fact_that_answers_comes_first(query: str, key: str) -> None:
    assert asked(FACTS, query)[0] == key


@pytest.mark.parametrize("query", ["What is the boiling point of xenon?", "Quantenphysik", "量子力学", "zzz"])
def test_a_question_that_nothing_answers_finds_nothing(query: str) -> None:
    assert asked(FACTS, query) == []


@pytest.mark.parametrize("query", ["", " ", "\n", "\ud800"])
def test_a_query_without_words_finds_nothing(query: str) -> None:
    assert asked(FACTS, query) == []


@given(st.integers(1, 30))
@settings(max_examples=20, deadline=None)
def test_a_fact_that_holds_a_word_of_the_query_is_never_cut(count: int) -> None:
    same = block(["the coffee machine is broken"] * count)
    assert len(numbers([same], "coffee", limit=100)) == count


def test_no_blocks_and_empty_blocks_find_nothing() -> None:
    assert numbers([], "tea") == []
    assert numbers([SignatureBlock()], "tea") == []
    assert numbers([SignatureBlock(), block(["tea"])], "tea") == [0]


def test_ties_go_to_the_newer_record_and_then_to_the_higher_number() -> None:
    rows = [row(number, "tea", time_ms=time) for number, time in ((1, 5), (2, 9), (3, 9), (4, 1))]
    assert numbers([SignatureBlock.from_rows(rows)], "tea") == [3, 2, 1, 4]


def test_limit_counts_keys_and_all_records_of_a_key_come_along() -> None:
    own = SignatureBlock.from_rows([row(1, "the fiscal year starts in April", key="fiscal-year")])
    wider = SignatureBlock.from_rows(
        [row(1, "January first", key="fiscal-year"), row(2, "the fiscal report is due", key="report")]
    )
    found = rank([own, wider], Question("When does the fiscal year start?", NOW), 1)
    assert [(record.block_index, record.number) for record in found] == [(0, 1), (1, 1)]
    both = rank([own, wider], Question("When does the fiscal year start?", NOW), 2)
    assert [(record.block_index, record.number) for record in both] == [(0, 1), (1, 1), (1, 2)]


def test_the_signals_sum_to_the_score() -> None:
    for record in rank([block(FACTS.values())], Question("Where did Ben move in 2026?", NOW), 5):
        assert sum(record.signals.values()) == pytest.approx(record.score, abs=1e-5)


def test_rows_of_another_caller_move_nothing() -> None:
    mine = block(FACTS.values())
    before = rank([mine], Question("Who drinks tea?", NOW), 5)
    SignatureBlock.from_rows(row(number, "tea " * 5) for number in range(50))
    assert rank([mine], Question("Who drinks tea?", NOW), 5) == before


def test_rows_that_are_gone_or_left_out_move_nothing() -> None:
    """Neither as one of the best rows, nor by holding a term that the living ones hold too."""
    texts = ["cherry tart with cream", "cherry tart for tea", "an old tart", "nothing of it"]
    gone = ["cherry tart and cherry tree"] * 20
    question = Question("cherry", NOW)
    alone = rank([block(texts)], question, 9)
    both = SignatureBlock.from_rows(
        [row(number, text) for number, text in enumerate(texts)]
        + [row(100 + number, text, key=f"gone-{number}") for number, text in enumerate(gone)]
    )
    empty = block(gone).with_changes((), range(len(gone)))
    assert alone[0].signals["feedback"] > 0
    assert rank([both.with_changes((), range(100, 120))], question, 9) == alone
    assert rank([both.restricted_to(range(len(texts)))], question, 9) == alone
    assert [hit._replace(block_index=0) for hit in rank([empty, block(texts)], question, 9)] == alone


def test_the_same_rows_in_one_block_or_several_rank_alike() -> None:
    rows = [row(number, text) for number, text in enumerate(FACTS.values())]
    together = rank([SignatureBlock.from_rows(rows)], Question("Where does Ben work?", NOW), 5)
    apart = rank([SignatureBlock.from_rows([one]) for one in rows], Question("Where does Ben work?", NOW), 5)
    assert [(r.number, round(r.score, 4)) for r in together] == [(r.number, round(r.score, 4)) for r in apart]


def test_a_named_subject_lifts_what_is_about_it() -> None:
    rows = [
        row(1, "Likes jazz and long walks", subject="Ben"),
        row(2, "Likes jazz and long walks", subject="Anna"),
        row(3, "Told Ben that she likes jazz", subject="Anna"),
    ]
    found = rank([SignatureBlock.from_rows(rows)], Question("What music does Anna like, jazz?", NOW), 3)
    assert {record.number for record in found[:2]} == {2, 3}
    assert found[0].signals["subject"] > 0


def test_two_named_subjects_lift_neither() -> None:
    rows = [row(1, "jazz", subject="Ben"), row(2, "jazz", subject="Anna")]
    found = rank([SignatureBlock.from_rows(rows)], Question("Do Anna and Ben like jazz?", NOW), 3)
    assert all(record.signals["subject"] == 0 for record in found)


def test_the_answer_written_after_the_question_comes_along() -> None:
    rows = [
        row(1, "Did you enjoy the pottery workshop?", origin_thread="a"),
        row(2, "Yes, it was wonderful!", origin_thread="a"),
        row(3, "Wonderful weather today", origin_thread="b"),
    ]
    assert numbers([SignatureBlock.from_rows(rows)], "How was the pottery workshop?")[:2] == [1, 2]


def test_neighbours_of_another_thread_do_not_count() -> None:
    rows = [row(1, "pottery workshop", origin_thread="a"), row(2, "Yes!", origin_thread="b"), row(3, "No.")]
    assert numbers([SignatureBlock.from_rows(rows)], "pottery workshop") == [1]


def test_a_date_in_the_question_lifts_what_was_written_then() -> None:
    rows = [
        row(1, "went hiking", time_ms=NOW_MS - 200 * DAY_MS),
        row(2, "went hiking", time_ms=NOW_MS - 60 * DAY_MS),
        row(3, "went hiking", time_ms=NOW_MS),
    ]
    hikes = SignatureBlock.from_rows(rows)
    assert numbers([hikes], "Where did we go hiking in January 2026?")[0] == 2
    assert numbers([hikes], "Where did we go hiking on 28 August?")[0] == 1
    assert numbers([hikes], "Where did we go hiking today?")[0] == 3


def test_now_is_what_relative_dates_are_told_from() -> None:
    rows = [row(number, "went hiking", time_ms=NOW_MS - number * 7 * DAY_MS) for number in range(8)]
    hikes = SignatureBlock.from_rows(rows)
    for weeks in (0, 3):
        asked_at = NOW - timedelta(weeks=weeks)
        assert rank([hikes], Question("hiking last week", asked_at), 1)[0].number == weeks + 1


def vector(*values: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


def embedded_rows() -> list[Row]:
    return [
        row(1, "Loves sushi", vector=encode_vector(vector(1, 0, 0, 0.1))),
        row(2, "Rides a bicycle", vector=encode_vector(vector(0, 1, 0, 0.1))),
        row(3, "Collects stamps", vector=encode_vector(vector(0, 0, 1, 0.1))),
        row(4, "Waits for its vector, loves ramen"),
    ]


def test_a_near_vector_finds_what_shares_no_word() -> None:
    question = Question("Which dinner?", NOW, QueryVectors(vector(1, 0.1, 0, 0)))
    found = rank([SignatureBlock.from_rows(embedded_rows())], question, 5)
    assert found[0].number == 1
    assert 4 not in [record.number for record in found]
    assert found[0].signals["vector"] > 0


def test_a_far_vector_finds_nothing() -> None:
    question = Question("Which dinner?", NOW, QueryVectors(vector(-1, -1, -1, 0)))
    assert rank([SignatureBlock.from_rows(embedded_rows())], question, 5) == []


def test_a_record_without_a_vector_is_ranked_by_its_words() -> None:
    question = Question("ramen", NOW, QueryVectors(vector(1, 0, 0, 0)))
    found = rank([SignatureBlock.from_rows(embedded_rows())], question, 5)
    assert {record.number for record in found[:2]} == {4, 1}


def test_the_more_records_there_are_the_nearer_the_best_must_be() -> None:
    vectors = QueryVectors(vector(1, 0))
    assert vectors.near(1) == vectors.unrelated < vectors.near(100) < vectors.near(10_000) < 0.5


def test_a_question_embedded_in_another_dimension_is_ranked_by_words() -> None:
    question = Question("ramen", NOW, QueryVectors(vector(1, 0)))
    assert [record.number for record in rank([SignatureBlock.from_rows(embedded_rows())], question, 5)] == [4]


def test_token_vectors_order_what_the_pooled_vector_cannot_tell_apart() -> None:
    pooled = encode_vector(vector(1, 1))
    rows = [row(number, text, vector=pooled) for number, text in ((1, "alpha note"), (2, "beta note"))]
    documents = {1: encode_tokens(np.eye(2, dtype=np.float32)[:1]), 2: encode_tokens(np.eye(2, dtype=np.float32)[1:])}
    asked_for: list[tuple[int, int]] = []

    def read(wanted: list[tuple[int, int]]) -> list[bytes | None]:
        asked_for.extend(wanted)
        return [documents.get(number) for _, number in wanted]

    tokens = QueryVectors(vector(1, 1), vector(0, 1).reshape(1, 2), ("note",), read)  # pyright: ignore[reportArgumentType]
    found = rank([SignatureBlock.from_rows(rows)], Question("note", NOW, tokens), 3)
    assert found[0].number == 2
    assert sorted(asked_for) == [(0, 1), (0, 2)]


def test_ranked_records_are_plain_values() -> None:
    (record,) = rank([block(["tea"])], Question("tea", NOW), 1)
    assert record == Ranked(0, 0, record.score, record.signals)
    assert type(record.number) is int
    assert type(record.score) is float


def test_importing_the_package_and_cutting_text_load_no_numpy() -> None:
    program = (
        "import sys, mcp_memory_server.ranking as r; r.terms('Anna drinks tea');"
        "print('numpy' in sys.modules); r.SignatureBlock; print('numpy' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "True"]


def test_records_of_one_key_in_one_block_come_along_too() -> None:
    rows = [row(1, "tea", key="a"), row(2, "no such word", key="a"), row(3, "tea in box 4", key="b")]
    twice = SignatureBlock.from_rows(rows)
    assert numbers([twice], "tea", limit=1) == [1, 2]
    assert sorted(numbers([twice], "tea", limit=2)) == [1, 2, 3]


@given(
    st.lists(st.sampled_from(["tea", "green tea", "Anna drinks tea", "box 4", "no"]), max_size=12), st.integers(1, 6)
)
@settings(max_examples=60, deadline=None)
def test_a_smaller_limit_gives_the_beginning_of_a_larger_one(texts: list[str], limit: int) -> None:
    assert (
        numbers([block(texts)], "does Anna drink tea", limit) == numbers([block(texts)], "does Anna drink tea")[:limit]
    )


def test_threads_are_followed_within_each_of_several_blocks() -> None:
    first = [
        row(1, "Did you enjoy the pottery workshop?", origin_thread="a"),
        row(2, "Yes, it was wonderful!", origin_thread="a"),
    ]
    second = [row(1, "It was raining", origin_thread="a"), row(2, "The pottery kiln broke", origin_thread="a")]
    blocks = [SignatureBlock.from_rows(first), SignatureBlock.from_rows(second)]
    found = rank(blocks, Question("How was the pottery workshop?", NOW), 4)
    told = {(record.block_index, record.number): record.signals["neighbours"] for record in found}
    assert told[0, 2] > told[1, 1] > 0
    assert next(iter(told)) == (0, 1)


def test_a_short_word_that_nobody_wrote_is_no_misspelling() -> None:
    """In four letters one error leaves nothing to tell by: `qwer` shares half its trigrams with `answer`."""
    texts = ["Answer in German", "Teapots are in the cupboard"]
    assert numbers([block(texts)], "qwer zxcv") == []
    assert numbers([block(texts)], "cupbord") == [1]


def test_who_lives_somewhere_is_found_by_where_they_live() -> None:
    """`lives` is a plural of another word as well, which must not take its place."""
    texts = ["Lives in Porto since March.", "Leaves the office at five", "The kettle is new"]
    assert numbers([block(texts)], "Where does Ann live?") == [0]
    assert numbers([block(texts)], "When does she leave?") == [1]
