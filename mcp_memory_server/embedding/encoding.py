"""What stores keep of an embedder's vectors, and what ranking reads of a question's."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from mcp_memory_server.ranking import QueryVectors, TokenSource, encode_tokens, encode_vector

from .base import Embedder, gives_tokens

# What an embedder is given of a question: models read a few hundred tokens, so the rest would be paid for in vain.
_MOST_QUERY_CHARS: Final = 2_000


class EncodedVectors(NamedTuple):
    """One record's vectors as bytes."""

    pooled: bytes
    tokens: bytes | None
    """Token vectors for late interaction, if the embedder gives any."""


def embedded_text(*, key: str, text: str, subject: str | None = None) -> str:
    """What an embedder is shown of a record: the text, and of its key and subject what the text does not say."""
    said = text.casefold()
    about = [
        " ".join(word for word in part.replace("-", " ").replace("_", " ").split() if _tells(word, said))
        for part in (subject or "", key)
    ]
    return ": ".join([*(part for part in about if part), text])


def encode_records(embedder: Embedder, texts: Sequence[str]) -> list[EncodedVectors]:
    """The vectors of these texts (`embedded_text`); EmbedderUnavailable when the embedder fails."""
    if gives_tokens(embedder):
        pooled, tokens = embedder.embed_both(texts, "passage")
        return [
            EncodedVectors(encode_vector(vector), encode_tokens(part.vectors))
            for vector, part in zip(pooled, tokens, strict=True)
        ]
    return [EncodedVectors(encode_vector(vector), None) for vector in embedder.embed(texts, "passage")]


def encode_question(embedder: Embedder, text: str, token_source: TokenSource | None = None) -> QueryVectors:
    """A question as ranking wants it; late interaction takes part if `token_source` reads token vectors."""
    texts = [text[:_MOST_QUERY_CHARS]]
    unrelated, deviation = embedder.relevance.unrelated, embedder.relevance.deviation
    if token_source is not None and gives_tokens(embedder):
        pooled, (tokens,) = embedder.embed_both(texts, "query")
        if len(tokens.vectors):
            return QueryVectors(pooled[0], tokens.vectors, tokens.words, token_source, unrelated, deviation)
        return QueryVectors(pooled[0], unrelated=unrelated, deviation=deviation)
    return QueryVectors(embedder.embed(texts, "query")[0], unrelated=unrelated, deviation=deviation)


def _tells(word: str, said: str) -> bool:
    """Numbers and abbreviations in a key are handles more than words, and lead a model astray."""
    return len(word) > 2 and word.isalpha() and word.casefold() not in said
