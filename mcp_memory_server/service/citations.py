"""What insights rest on, beside what was found."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory_server.providers.base import Filter, ListRequest, MemoryProvider
from mcp_memory_server.records import MemoryRecord


async def with_cited(
    provider: MemoryProvider, scopes: tuple[str, ...], seen: Filter, found: Sequence[MemoryRecord]
) -> Sequence[MemoryRecord]:
    """The records found, and behind them those that the insights among them cite, with all answers to their keys.

    So a digest that has no room for a fact has none for what was only inferred from it.
    """
    insights = [record.insight for record in found if record.insight]
    if not insights:
        return found
    there = {record.id for record in found}
    cited = tuple({id for insight in insights for id in insight.cites} - there)
    if not cited:
        return found
    keys = {record.key for record in (await provider.list(ListRequest(scopes, ids=cited, filter=seen))).records}
    answers = await provider.list(ListRequest(scopes, keys=tuple(sorted(keys)), filter=seen))
    return [*found, *(record for record in answers.records if record.id not in there)]
