"""Every adapter gives vectors that tell related texts from others, and fails with words that help."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest

from mcp_memory_server.embedding import gives_tokens, open_embedder
from mcp_memory_server.embedding.endpoint import EndpointEmbedder
from mcp_memory_server.errors import ConfigurationError, EmbedderUnavailable

from .bag_of_words import BagOfWords


@pytest.mark.parametrize(
    "setting", ["", "onnx", "onnx:", "minilm:/models", ":x", "openai:model", "openai:@http://x", "openai:m@ftp://x"]
)
def test_a_setting_of_another_form_is_refused_with_the_known_ones(setting: str) -> None:
    with pytest.raises(ConfigurationError, match=r"onnx:|openai:MODEL@BASE_URL"):
        open_embedder(setting)


def test_a_folder_without_a_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx"):
        open_embedder(f"onnx:{tmp_path}")


@pytest.mark.parametrize(("kind", "library"), [("model2vec", "model2vec"), ("fastembed", "fastembed")])
def test_an_adapter_without_its_library_names_the_extra(kind: str, library: str) -> None:
    program = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from mcp_memory_server.embedding import open_embedder\n"
        "from mcp_memory_server.errors import EmbedderUnavailable\n"
        f"try: open_embedder('{kind}:some-model')\n"
        "except EmbedderUnavailable as error: print(error)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "extra `embeddings`" in printed


def test_importing_the_package_loads_no_numpy_and_no_framework() -> None:
    program = (
        "import sys, mcp_memory_server.embedding\n"
        "print([name for name in ('numpy', 'onnxruntime', 'httpx2', 'tokenizers') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def endpoint(answer: httpx2.Response | None = None, key: str | None = None) -> EndpointEmbedder:
    """An embedder whose service is a bag of words; from the second request on it gives `answer` if there is one."""
    model = BagOfWords()
    requests = 0

    def serve(request: httpx2.Request) -> httpx2.Response:
        nonlocal requests
        requests += 1
        if answer is not None and requests > 1:
            return answer
        if key is not None and request.headers.get("authorization") != f"Bearer {key}":
            return httpx2.Response(401)
        body = json.loads(request.content)
        assert request.url.path == "/v1/embeddings"
        vectors = model.embed(body["input"], "passage").tolist()
        entries = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        return httpx2.Response(200, json={"data": entries[::-1]})

    return EndpointEmbedder("http://models.test/v1/", "bag", key, httpx2.MockTransport(serve))


def test_an_endpoint_gives_vectors_in_the_order_of_the_texts() -> None:
    texts = [f"text {number}" for number in range(150)]
    embedder = endpoint(key="secret")
    assert np.allclose(embedder.embed(texts, "passage"), BagOfWords().embed(texts, "passage"), atol=1e-6)
    assert embedder.dimension == 64
    assert embedder.id == "endpoint:models.test:bag"
    assert embedder.embed([], "query").shape == (0, 64)
    embedder.close()


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(500),
        httpx2.Response(200, text="no"),
        httpx2.Response(200, json={"data": []}),
        httpx2.Response(200, json={"data": [{"index": 0, "embedding": [None]}]}),
    ],
    ids=["error", "not JSON", "none", "not a number"],
)
def test_an_endpoint_that_fails_is_unavailable(answer: httpx2.Response) -> None:
    with pytest.raises(EmbedderUnavailable, match="endpoint:"):
        endpoint(answer).embed(["tea"], "query")


def test_a_folder_with_an_onnx_model_gives_pooled_and_token_vectors(minilm_folder: Path) -> None:
    embedder = open_embedder(f"onnx:{minilm_folder}")
    assert gives_tokens(embedder)
    assert embedder.dimension == 384
    texts = ["Anna has a cat", "The invoice is due in May", ""]
    pooled, tokens = embedder.embed_both(texts, "passage")
    question = embedder.embed(["Which pet does she keep?"], "query")[0]
    near, far, _ = pooled @ question
    assert near > embedder.relevance.unrelated + embedder.relevance.deviation
    assert near > far
    assert np.allclose(pooled, embedder.embed(texts, "passage"), atol=0.05)
    assert tokens[0].words == ("Anna", "has", "a", "cat")
    assert [part.vectors.shape[1] for part in tokens] == [128, 128, 128]
    assert len(tokens[2].vectors) == 0
    assert open_embedder(f"onnx:{minilm_folder}").id == embedder.id
    assert embedder.embed([], "query").shape == (0, 384)


def test_a_damaged_model_is_unavailable(minilm_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").symlink_to(minilm_folder / "tokenizer.json")
    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        open_embedder(f"onnx:{tmp_path}")


def test_a_text_longer_than_the_model_reads_is_cut_not_refused(minilm_folder: Path) -> None:
    embedder = open_embedder(f"onnx:{minilm_folder}")
    assert embedder.embed(["tea " * 20_000], "passage").shape == (1, 384)


# Before 0.10 model2vec leaves the closing of its files to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_a_static_model_is_read_from_its_folder(tmp_path: Path) -> None:
    library: Any = import_module("model2vec")
    tokenizers: Any = import_module("tokenizers")
    words = ["[UNK]", "tea", "green", "dog", "oslo", "my", "the", "a", "is", "was"]
    model = tokenizers.models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(0).normal(size=(len(words), 16)).astype(np.float32)
    library.StaticModel(vectors, tokenizer, {"normalize": True}).save_pretrained(str(tmp_path))
    embedder = open_embedder(f"model2vec:{tmp_path}")
    tea, more_tea, dog = embedder.embed(["green tea", "tea", "dog"], "passage")
    assert tea @ more_tea > tea @ dog
    assert embedder.dimension == 16
