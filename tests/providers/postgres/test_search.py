"""Searches over Postgres: the same with pgvector and without, and right when the database was put back."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np

from mcp_memory_server.providers.base import (
    EmbeddedQuery,
    Hit,
    RecordVectors,
    SearchRequest,
    VectorsWrite,
    VersionRef,
)
from mcp_memory_server.providers.contract.samples import ANN, minute, remember
from mcp_memory_server.providers.postgres import PostgresProvider, open_postgres
from mcp_memory_server.ranking import QueryVectors, encode_vector
from tests.providers.postgres_server import fetch, fresh_store, own_server, run

EMBEDDER = "toy:random"
HAS_VECTORS = "SELECT count(*) FROM pg_extension WHERE extname = 'vector'"


async def found(provider: PostgresProvider) -> tuple[Hit, ...]:
    rng = np.random.default_rng(7)
    vectors = QueryVectors(rng.standard_normal(16).astype(np.float32))
    asked = SearchRequest((ANN,), "Who keeps cats?", 10, minute(9), EmbeddedQuery(EMBEDDER, vectors), True)
    return await provider.search(asked)


async def test_answers_are_the_same_with_pgvector_and_without() -> None:
    store = fresh_store()
    rng = np.random.default_rng(3)
    async with open_postgres(store.url) as provider:
        records = [await remember(provider, f"key {number}", f"Keeps {number} cats") for number in range(30)]
        made = [
            RecordVectors(ANN, VersionRef(record.id, 1), encode_vector(rng.standard_normal(16).astype(np.float32)))
            for record in records
        ]
        assert await provider.put_vectors(VectorsWrite(EMBEDDER, tuple(made))) == 30
        assert fetch(store.admin_url, HAS_VECTORS)[0][0] == 0
        without = await found(provider)
    run(store.admin_url, "CREATE EXTENSION vector SCHEMA public")
    async with open_postgres(store.url) as provider:
        assert await found(provider) == without
    assert len({hit.score for hit in without}) > 5


async def test_signatures_of_another_form_are_read_all_the_same_and_written_anew_by_examining() -> None:
    store = fresh_store()
    asked = SearchRequest((ANN,), "Who keeps cats?", 10, minute(9))
    forms = "SELECT DISTINCT get_byte(lexical, 0) FROM mcp_memory.signature"
    async with open_postgres(store.url) as provider:
        for number in range(3):
            await remember(provider, f"key {number}", f"Keeps {number} cats")
        expected = await provider.search(asked)
    current = fetch(store.admin_url, forms)[0][0]
    run(store.admin_url, "UPDATE mcp_memory.signature SET lexical = set_byte(lexical, 0, 0)")
    async with open_postgres(store.url) as provider:
        assert await provider.search(asked) == expected
        await provider.examine()
        assert [tuple(row) for row in fetch(store.admin_url, forms)] == [(current,)]
        assert await provider.search(asked) == expected


def copy(source: Path, target: Path) -> None:
    """With their owner: where the tests run as root, the server does not."""
    subprocess.run(["cp", "-a", source, target], check=True)


async def test_what_is_held_in_memory_is_let_go_of_when_a_backup_is_put_back(tmp_path: Path) -> None:
    """The lost write and the one after the backup lead to the same generation."""
    asked = SearchRequest((ANN,), "Who keeps cats?", 10, minute(9))
    with own_server() as (server, alone):
        store = alone.fresh()
        async with open_postgres(store.url) as provider:
            await remember(provider, "kept", "Keeps two cats")
            server.stop()
            copy(server.data, tmp_path / "backup")
            server.start()
            await remember(provider, "lost", "Keeps three cats")
            assert {hit.record.key for hit in await provider.search(asked)} == {"kept", "lost"}
            server.stop()
            shutil.rmtree(server.data)
            copy(tmp_path / "backup", server.data)
            server.start()
            await remember(provider, "later", "Keeps four cats")
            assert {hit.record.key for hit in await provider.search(asked)} == {"kept", "later"}
