"""Words, stems and trigrams of any string at all."""

import time
import tracemalloc
import unicodedata
from collections.abc import Callable
from random import Random
from string import ascii_lowercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory_server.ranking import encode_signature, terms
from mcp_memory_server.ranking.languages import detect_language, stop_words
from mcp_memory_server.ranking.normalise import fold
from mcp_memory_server.ranking.signature import asked_trigrams, trigram_hashes
from mcp_memory_server.ranking.stop_words import STOP_WORDS
from mcp_memory_server.ranking.text import MAX_QUERY_WORDS, forms_of_word, read_query

from .asking import found


@given(st.text())
def test_any_string_is_a_text_and_a_query(text: str) -> None:
    terms(text)
    terms(text, query=True)
    encode_signature(key=text, text=text, tags=[text], subject=text)


@pytest.mark.parametrize("text", ["\ud800", "\x00", "\udfffabc", "", " ", "\u200d", "'", "''", "-", "a'", "\u0e31"])
def test_odd_strings_are_texts_too(text: str) -> None:
    assert all(isinstance(term, str) for term in terms(text) + terms(text, query=True))
    assert encode_signature(key="k", text=text)


@settings(max_examples=200)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Z", "Mn", "Mc", "Me"]), min_size=1))
def test_a_text_that_holds_the_query_verbatim_is_found(query: str) -> None:
    assert found(f"note {query} end", query)


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_normal_forms_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("left", "right"), [("Straße", "STRASSE"), ("İstanbul", "ISTANBUL"), ("ﬁne", "FINE"), ("Ångström", "angstrom")]
)
def test_spellings_of_one_word_fold_alike(left: str, right: str) -> None:
    assert fold(left) == fold(right)


def test_kana_voicing_is_kept_since_it_makes_another_word() -> None:
    assert fold("か") != fold("が")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parseHttpHeader", ["parse", "http", "header", "parsehttpheader"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("src/main.py", ["src", "main", "py", "srcmainpy"]),
        ("gpt-4o", ["gpt", "4", "4o", "gpt4o"]),
        ("Anna's", ["anna"]),
        ("don't", ["dont"]),
        ("使用Python3", ["使", "用", "使用", "python", "3", "python3"]),
    ],
)
def test_words_come_out_in_parts_and_whole(text: str, expected: list[str]) -> None:
    assert [term for term in terms(text) if term in expected] == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What did she say about the house?", "english"),
        ("Wann fährt der Zug nach Berlin ab und wo?", "german"),
        ("¿Dónde está la biblioteca de la ciudad?", "spanish"),
        ("Où est la clé de la voiture de mon père ?", "french"),
        ("Где находится ключ от машины?", "russian"),
        ("Що ти робиш це літо?", "ukrainian"),
        ("Πού είναι το κλειδί;", "greek"),
        ("deploy friday", "english"),
    ],
)
def test_the_language_is_told_by_script_and_stop_words(text: str, language: str) -> None:
    assert detect_language(text, [fold(word) for word in text.strip("¿?;").split()]) == language


def test_irregular_forms_share_the_stem_of_their_base() -> None:
    assert set(terms("went bought children")) >= {"go", "buy", "child"}


def test_stop_words_are_left_out_of_a_query_only() -> None:
    assert "the" in terms("the house")
    assert terms("where is the house", query=True) == ["house", "hous"]


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_every_list_of_stop_words_has_a_use(language: str) -> None:
    assert len(stop_words(language)) > 40


def test_work_on_a_long_text_and_a_long_query_is_bounded() -> None:
    megabyte = "".join(f"word{number} " for number in range(120_000))
    assert len(encode_signature(key="k", text=megabyte)) < 700_000
    assert len(read_query(megabyte[:10_000]).words) <= MAX_QUERY_WORDS


def test_a_hostile_run_of_joiners_takes_no_longer_than_its_length() -> None:
    started = time.process_time()
    for run in ("a-" * 50_000, "-" * 100_000, "aB" * 50_000, "\u0e31" * 100_000, "a'" * 50_000):
        encode_signature(key="k", text=run)
    # Quadratic work would take minutes: this bound tells the two apart on any machine.
    assert time.process_time() - started < 30


@given(st.text(max_size=200))
def test_trigrams_are_distinct_and_ascending(text: str) -> None:
    hashes = trigram_hashes(text).tolist()
    assert hashes == sorted(set(hashes))


@given(st.text(max_size=200))
def test_the_trigrams_of_a_question_are_those_of_a_text(text: str) -> None:
    for asked in (text, text * 20):
        assert sorted(asked_trigrams(asked)) == trigram_hashes(asked).tolist()


def _signed(word: str) -> object:
    return encode_signature(key="key", text=word, subject=word)


@pytest.mark.parametrize(
    ("read", "chars"),
    [(_signed, 4_000), (read_query, 4_000), (terms, 4_000), (forms_of_word, 4_000), (asked_trigrams, 499)],
)
@pytest.mark.parametrize("end", ["", "é"])
def test_nothing_is_kept_of_words_as_long_as_nobody_writes_them(
    read: Callable[[str], object], chars: int, end: str
) -> None:
    """What is kept of usual words is bounded by their number: a caller could make gigabytes of that."""
    chosen = Random(f"{read.__name__} {end}")

    def read_many() -> None:
        for _ in range(20):
            read("".join(chosen.choices(ascii_lowercase, k=chars - 1)) + end)

    tracemalloc.start()
    try:
        read_many()
        before, _ = tracemalloc.get_traced_memory()
        read_many()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 30_000
