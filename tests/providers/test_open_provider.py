"""Choosing a store by its URL."""

from pathlib import Path

import pytest

from mcp_memory_server.errors import ConfigurationError
from mcp_memory_server.providers import open_provider, provider_schemes


async def test_the_scheme_picks_the_provider(tmp_path: Path) -> None:
    for url, name in (("memory://", "memory"), (f"sqlite:///{tmp_path}/memory.db", "sqlite")):
        async with open_provider(url) as provider:
            assert provider.capabilities.provider == name


@pytest.mark.parametrize("url", ["nosuch://host/name", "NOSUCH://host", "sqlite:memory.db", "memory.db", "", "://x"])
def test_a_url_that_nothing_answers_to_is_refused_with_what_is_known(url: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        open_provider(url)
    for scheme in provider_schemes():
        assert f"{scheme}://" in str(refused.value)


def test_a_refused_url_is_not_shown_because_it_may_hold_a_password() -> None:
    with pytest.raises(ConfigurationError) as refused:
        open_provider("postgress://ann:hunter2@host/memory")
    assert "hunter2" not in str(refused.value)
    assert "postgress" in str(refused.value)
