"""Every check of the contract suite against every provider."""

from pathlib import Path

import pytest

from mcp_memory_server.providers import provider_schemes
from mcp_memory_server.providers.contract import CHECKS, Check

from .matrix import STORES


@pytest.mark.parametrize("scheme", STORES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
async def test_contract(check: Check, scheme: str, tmp_path: Path) -> None:
    assert await check.run(STORES[scheme](tmp_path)) == "held"


def test_every_registered_provider_of_this_package_is_in_the_matrix() -> None:
    ours = {scheme for scheme, load in provider_schemes().items() if load().__module__.startswith("mcp_memory_server.")}
    assert ours == set(STORES)


def test_every_check_is_a_sentence_of_its_own() -> None:
    names = [check.name for check in CHECKS]
    assert len(names) == len(set(names))
    assert all(name.count("_") >= 2 for name in names)
