"""From an embedder to a ranking and back."""

import numpy as np
import pytest

from mcp_memory_server.embedding import embedded_text, encode_question, encode_records, gives_tokens
from mcp_memory_server.embedding.calibration import relevance_of
from mcp_memory_server.embedding.projection import TokenProjection
from mcp_memory_server.embedding.sample import sample_frames, sample_sentences
from mcp_memory_server.ranking import Question, SignatureBlock, rank
from tests.ranking.asking import NOW, row

from .bag_of_words import BagOfTokens, BagOfWords

TEXTS = ["anna drinks green tea", "ben moved to oslo", "carla has a dog"]


@pytest.mark.parametrize("embedder", [BagOfWords(), BagOfTokens()], ids=["pooled", "tokens"])
def test_encoded_records_and_questions_meet_in_a_ranking(embedder: BagOfWords) -> None:
    encoded = encode_records(embedder, TEXTS)
    rows = [row(number, text, vector=encoded[number].pooled) for number, text in enumerate(TEXTS)]
    question = encode_question(embedder, "ben oslo", lambda wanted: [encoded[number].tokens for _, number in wanted])
    found = rank([SignatureBlock.from_rows(rows)], Question("ben oslo", NOW, question), 3)
    assert found[0].number == 1
    assert found[0].signals["vector"] > 0
    assert ("tokens" in found[0].signals) == gives_tokens(embedder)


def test_without_a_source_of_token_vectors_the_pooled_one_serves() -> None:
    assert encode_question(BagOfTokens(), "ben oslo").tokens is None


def test_a_question_without_words_is_embedded_too() -> None:
    assert encode_question(BagOfTokens(), "", lambda wanted: [None for _ in wanted]).tokens is None


def test_no_texts_make_no_vectors() -> None:
    assert encode_records(BagOfWords(), []) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"key": "fiscal-year", "text": "It starts in April"}, "fiscal year: It starts in April"),
        ({"key": "fiscal-year", "text": "The fiscal year starts in April"}, "The fiscal year starts in April"),
        ({"key": "f-101", "text": "I moved to Oslo", "subject": "Ben"}, "Ben: I moved to Oslo"),
        ({"key": "home", "text": "Ben moved to Oslo", "subject": "Ben"}, "home: Ben moved to Oslo"),
    ],
)
def test_an_embedder_is_told_what_the_text_leaves_to_key_and_subject(fields: dict[str, str], expected: str) -> None:
    assert embedded_text(**fields) == expected


def test_the_sample_is_the_same_every_time_and_varied() -> None:
    sentences = sample_sentences(240)
    assert sentences == sample_sentences(240)
    assert len(set(sentences)) > 230
    assert len(set(sample_frames(240))) > 10


def test_related_texts_lie_above_the_line_and_unrelated_ones_below() -> None:
    embedder = BagOfWords(256)
    line = relevance_of(embedder.embed(sample_sentences(120), "passage"))
    tea, more_tea, dog = embedder.embed(["green tea leaves", "green tea", "carla runs"], "passage")
    assert cosine(tea, more_tea) > line.unrelated + 3 * line.deviation
    assert cosine(tea, dog) < line.unrelated + 2 * line.deviation


def test_from_a_single_text_nothing_counts_as_unrelated() -> None:
    assert relevance_of(np.ones((1, 3), dtype=np.float32)).unrelated == 1


def test_a_projection_does_not_depend_on_signs_or_turns_of_the_axes() -> None:
    random = np.random.default_rng(5)
    vectors = (random.normal(size=(400, 24)) * np.linspace(3, 0.1, 24)).astype(np.float32)
    one = TokenProjection.fitted(vectors, 8)
    # A rounding of another machine: eigenvectors may flip, the projection may not.
    rounding = (random.normal(size=vectors.shape) * 1e-5).astype(np.float32)
    other = TokenProjection.fitted(vectors + rounding, 8)
    assert np.abs(one(vectors) - other(vectors)).max() < 1e-2
    assert np.allclose(one.basis.T @ one.basis, np.eye(8), atol=1e-5)


def test_a_projection_keeps_small_dimensions_whole() -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 6)).astype(np.float32)
    assert TokenProjection.fitted(vectors)(vectors).shape == (50, 6)


def cosine(
    left: np.ndarray[tuple[int, ...], np.dtype[np.float32]], right: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> float:
    return float(left @ right / (np.linalg.norm(left) * np.linalg.norm(right)))
