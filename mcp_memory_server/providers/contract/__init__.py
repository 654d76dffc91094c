"""The checks that hold a provider to the seam (`mcp_memory_server.providers.base`), ours and anybody's.

Each is a sentence with a plain async function behind it: no test framework is needed. With pytest:

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
    async def test_contract(check: Check, tmp_path: Path) -> None:
        await check.run(Store(lambda: open_my_provider(f"mine://{tmp_path}")))

`Check.run` wants a fresh `Store` each time. Where a provider does not declare the groups that a check is about, the
check holds it to that: the calls are missing or raise `NotSupported`, and `run` answers "absent".
"""

from typing import Final

from . import (
    browsing,
    bulk,
    carrying,
    changing,
    embedded,
    entities,
    filtering,
    forgetting,
    history,
    journaling,
    kinds,
    lanes,
    lifecycle,
    listing,
    maintaining,
    options,
    restoring,
    reviewing,
    scopes,
    searching,
    searching_words,
    strings,
    surfacing,
    two_clocks,
    writing,
)
from .registry import Check, Outcome
from .store import OpenProvider, Store

__all__ = ["CHECKS", "Check", "OpenProvider", "Outcome", "Store"]

CHECKS: Final[tuple[Check, ...]] = tuple(
    value
    for module in (
        lifecycle,
        listing,
        scopes,
        writing,
        bulk,
        options,
        lanes,
        reviewing,
        strings,
        history,
        searching,
        searching_words,
        forgetting,
        journaling,
        browsing,
        changing,
        kinds,
        restoring,
        maintaining,
        filtering,
        two_clocks,
        embedded,
        entities,
        surfacing,
        carrying,
    )
    for value in vars(module).values()
    if isinstance(value, Check)
)
