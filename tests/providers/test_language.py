"""A store whose language is set: facts and questions are stemmed in it, whatever each seems to be written in."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.providers.base import Hit, MemoryProvider, SearchRequest, WriteRequest, can_search, can_write
from mcp_memory_server.providers.in_memory import open_in_memory
from mcp_memory_server.providers.sqlite import SqliteProvider, open_sqlite
from mcp_memory_server.records import MemoryOrigin

AT = "2026-01-01T00:00:00.000Z"
# No stop word tells the language, so both are taken for English.
FACT = "Gekaufte Häuser: Lyon, Brno"
QUESTION = "Haus?"


def opened(scheme: str, folder: Path, language: str | None) -> AbstractAsyncContextManager[MemoryProvider]:
    if scheme == "memory":
        return open_in_memory("memory://", language=language)
    return open_sqlite(f"sqlite:///{folder}/memory.db", language=language)


async def remember(provider: MemoryProvider) -> None:
    assert can_write(provider)
    await provider.write(WriteRequest("global", "property", FACT, MemoryOrigin(author="agent"), AT))


async def ask(provider: MemoryProvider) -> tuple[Hit, ...]:
    assert can_search(provider)
    return await provider.search(SearchRequest(("global",), QUESTION, 5, AT))


def by_words(hits: tuple[Hit, ...]) -> bool:
    return any(hit.signals["bm25"] > 0 for hit in hits)


@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
async def test_the_set_language_finds_forms_that_detection_misses(scheme: str, tmp_path: Path) -> None:
    async with opened(scheme, tmp_path / "detected", None) as provider:
        await remember(provider)
        assert not by_words(await ask(provider))
    async with opened(scheme, tmp_path / "set", "german") as provider:
        await remember(provider)
        assert by_words(await ask(provider))


@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
async def test_a_language_that_nobody_knows_is_refused_with_those_known(scheme: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no language 'klingon'\. Known: .*german"):
        async with opened(scheme, tmp_path, "klingon"):
            pass


async def test_examining_adapts_what_was_written_under_another_setting(tmp_path: Path) -> None:
    async with opened("sqlite", tmp_path, None) as provider:
        await remember(provider)
    async with opened("sqlite", tmp_path, "german") as provider:
        assert isinstance(provider, SqliteProvider)
        assert not by_words(await ask(provider))
        await provider.examine()
        assert by_words(await ask(provider))
