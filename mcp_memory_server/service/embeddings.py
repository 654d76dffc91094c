"""The operator's embedder at work: questions when they are asked, records in the background.

It is loaded at first use, in a worker thread, and never trusted to be there: while it loads, fails or hangs,
recall goes on by words.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Literal, TypeVar

import anyio

from mcp_memory_server.background import run_forsakable, running_beside
from mcp_memory_server.errors import EmbedderUnavailable, MemoryServerError, NotSupported, StoreError
from mcp_memory_server.providers.base import (
    EmbeddedQuery,
    MemoryProvider,
    RecordVectors,
    VectorCount,
    VectorProvider,
    VectorsWrite,
    VersionRef,
    holds_vectors,
)

if TYPE_CHECKING:
    from mcp_memory_server.embedding import Embedder
    from mcp_memory_server.records import MemoryRecord

logger = logging.getLogger(__name__)

T = TypeVar("T")
OpenEmbedder = Callable[[], "Embedder"]
EmbedderState = Literal["used", "unavailable"]

# A turn waits this long for the question's vectors, loading included, and then goes on by words.
_QUESTION_TIMEOUT_S: Final = 2.0
_RETRY_AFTER_S: Final = 60.0
# Few enough that a question does not wait long behind a batch of records.
_BATCH: Final = 16


class Embeddings:
    """One embedder over one provider. Without an embedder every call is a cheap no."""

    def __init__(self, provider: MemoryProvider, open_embedder: OpenEmbedder | None) -> None:
        self._provider: VectorProvider | None = provider if holds_vectors(provider) else None
        self._open = open_embedder if self._provider is not None else None
        self._embedder: Embedder | None = None
        self._loading = anyio.Lock()
        self._opening = False
        self._announced = False
        self._not_before = 0.0
        self._fault: str | None = None
        self._wanted = anyio.Event()

    @property
    def configured(self) -> bool:
        return self._open is not None

    async def question(self, query: str) -> EmbeddedQuery | None:
        """The question's vectors; None without an embedder, and when it is not there in time."""
        if not self.configured:
            return None
        from mcp_memory_server.embedding import encode_question  # noqa: PLC0415  # numpy, after the handshake

        with anyio.move_on_after(_QUESTION_TIMEOUT_S):
            embedder = await self._loaded()
            if embedder is not None:
                # The provider puts its own source of token vectors in place of this one.
                vectors = await self._run(lambda: encode_question(embedder, query, lambda asked: [None] * len(asked)))
                return vectors and EmbeddedQuery(embedder.id, vectors)
        return None

    def poke(self) -> None:
        """A record was written: it wants vectors."""
        self._wanted.set()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Embed what lacks vectors, now and after each `poke`, while the body runs."""
        if not self.configured:
            yield
            return
        async with running_beside(self._keep_embedding):
            yield

    async def _keep_embedding(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            try:
                while await self.embed_batch():
                    pass
            except StoreError as error:
                logger.warning("vectors cannot be stored (%s)", error.code)

    async def embed_batch(self) -> int:
        """Embed a few records that lack vectors; how many got them. 0: none lacks any, or there is no embedder."""
        provider = self._provider
        embedder = await self._loaded()
        if embedder is None or provider is None:
            return 0
        records = await provider.unembedded(embedder.id, _BATCH)
        vectors = await self._run(lambda: _encoded(embedder, records)) if records else None
        if not vectors:
            return 0
        return await provider.put_vectors(VectorsWrite(embedder.id, vectors))

    async def count(self) -> VectorCount:
        """How far embedding has come.

        Raises:
            NotSupported: no embedder is configured, or the provider holds no vectors.
            EmbedderUnavailable: it cannot be loaded, with the reason.
        """
        if self._provider is None or not self.configured:
            raise NotSupported(
                "the store", "hold vectors", "Configure an embedder (see docs/recall.md), or another store."
            )
        embedder = await self._loaded()
        if embedder is None:
            raise EmbedderUnavailable(self._fault or "The embedder is still loading. Try again in a moment.")
        return await self._provider.count_vectors(embedder.id)

    async def _loaded(self) -> Embedder | None:
        """The embedder. None while a load that somebody stopped waiting for still goes on: one is enough."""
        async with self._loading:
            if self._embedder is None and self._open is not None and not self._opening:
                await self._run(self._load)
            if self._embedder is not None and not self._announced:
                self._announced = True
                self._wanted.set()
            return self._embedder

    def _load(self) -> None:
        """In a worker thread: what it loads is kept even when nobody waits for it any more."""
        assert self._open is not None
        self._opening = True
        try:
            self._embedder = self._open()
        finally:
            self._opening = False

    async def _run(self, work: Callable[[], T]) -> T | None:
        """Run the embedder in a thread; None when it fails, and for a while nobody tries again."""
        if time.monotonic() < self._not_before:
            return None
        return await run_forsakable(lambda: self._attempt(work))

    def _attempt(self, work: Callable[[], T]) -> T | None:
        """In a worker thread, so that a failure counts even when nobody waits for it any more."""
        try:
            return work()
        except MemoryServerError as error:
            self._not_before = time.monotonic() + _RETRY_AFTER_S
            self._fault = str(error)
            logger.warning("the embedder is unavailable, recall goes on by words: %s", error)
            return None


def _encoded(embedder: Embedder, records: tuple[MemoryRecord, ...]) -> tuple[RecordVectors, ...]:
    from mcp_memory_server.embedding import embedded_text, encode_records  # noqa: PLC0415  # numpy

    texts = [embedded_text(key=record.key, text=record.text, subject=record.subject) for record in records]
    return tuple(
        RecordVectors(record.scope, VersionRef(record.id, record.version), vectors.pooled, vectors.tokens)
        for record, vectors in zip(records, encode_records(embedder, texts), strict=True)
    )
