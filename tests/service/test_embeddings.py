"""The embedder at work beside the questions: never in their way, and loaded once."""

import threading

import anyio

from mcp_memory_server.embedding import Embedder
from mcp_memory_server.providers.in_memory import open_in_memory
from mcp_memory_server.service.embeddings import Embeddings
from tests.embedding.bag_of_words import BagOfWords


async def test_an_embedder_that_loads_slowly_is_loaded_once_and_used_when_it_is_there() -> None:
    """On a busy machine a load outlasts the wait of a question; starting anew with each one would never end."""
    may_load = threading.Event()
    loads: list[BagOfWords] = []

    def load() -> Embedder:
        may_load.wait(60)
        loads.append(BagOfWords())
        return loads[-1]

    async with open_in_memory("memory://") as provider:
        embeddings = Embeddings(provider, load)
        assert await embeddings.question("tea") is None
        assert await embeddings.question("tea") is None
        may_load.set()
        with anyio.fail_after(30):
            while (asked := await embeddings.question("tea")) is None:
                await anyio.lowlevel.checkpoint()
    assert asked.embedder == loads[0].id
    assert len(loads) == 1
